// Functions of SQLite that Swift cannot call because they are variadic, or that do not belong to a connection of GRDB.
#ifndef LARDER_CSQLITE_H
#define LARDER_CSQLITE_H

/// Turns off SQLite's statistics of its memory; without effect once the process has opened a database.
/// (https://sqlite.org/c3ref/config.html)
void larder_sqlite_count_no_memory(void);

/// The release of the library that is loaded, such as 3.40.1.
const char *_Nonnull larder_sqlite_release(void);

struct sqlite3;

/// Turns one switch of a connection on or off, and writes its present state to `state`.
/// (https://sqlite.org/c3ref/db_config.html)
int larder_sqlite_config(struct sqlite3 *_Nonnull connection, int option, int on, int *_Nonnull state);

/// Opens a database file to read its header, without a lock; NULL when that cannot be done.
///
/// Read a header in no other way: closing another descriptor of the file drops every lock that SQLite holds on it for
/// this process. SQLite keeps its descriptors open until no connection holds a lock.
/// (https://sqlite.org/howtocorrupt.html, section 2.2)
struct sqlite3 *_Nullable larder_sqlite_open_header(const char *_Nonnull path);

/// Reads bytes of the file, as SQLite's own functions do. Returns 0 when all of them were there.
int larder_sqlite_read_header(
    struct sqlite3 *_Nonnull header, void *_Nonnull bytes, int count, long long offset);

/// Closes a connection of `larder_sqlite_open_header`.
void larder_sqlite_close_header(struct sqlite3 *_Nullable header);

#endif
