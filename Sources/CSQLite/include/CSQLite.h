// Functions of SQLite that Swift cannot call because they are variadic, or that need no connection of GRDB.
#ifndef LARDER_CSQLITE_H
#define LARDER_CSQLITE_H

/// Turns off SQLite's statistics about memory. It has no effect once the process has opened a database.
/// (https://sqlite.org/c3ref/config.html)
void larder_sqlite_count_no_memory(void);

/// The version of the loaded library, such as 3.40.1.
const char *_Nonnull larder_sqlite_release(void);

struct sqlite3;

/// Turns one switch of a connection on or off, and writes its resulting state to `state`.
/// (https://sqlite.org/c3ref/db_config.html)
int larder_sqlite_config(struct sqlite3 *_Nonnull connection, int option, int on, int *_Nonnull state);

/// Opens a database file for reading its header, without a lock; returns NULL on failure.
///
/// Read the header only by these functions. If any other descriptor of the file were closed, the system would drop
/// every lock that SQLite holds on the file for this process. SQLite keeps its descriptors open until no connection
/// holds a lock. (https://sqlite.org/howtocorrupt.html, section 2.2)
struct sqlite3 *_Nullable larder_sqlite_open_header(const char *_Nonnull path);

/// Reads bytes of the file with SQLite's own functions. Returns 0 if the file has all of them.
int larder_sqlite_read_header(
    struct sqlite3 *_Nonnull header, void *_Nonnull bytes, int count, long long offset);

/// Closes the file that `larder_sqlite_open_header` opened.
void larder_sqlite_close_header(struct sqlite3 *_Nullable header);

#endif
