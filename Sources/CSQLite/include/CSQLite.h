// Functions of SQLite that Swift cannot call because they are variadic, or that must work without a connection of
// GRDB.
#ifndef LARDER_CSQLITE_H
#define LARDER_CSQLITE_H

/// Turns off SQLite's statistics about memory.
///
/// Call it before the process opens a database, because it has no effect afterwards.
/// (https://sqlite.org/c3ref/config.html)
void larder_sqlite_count_no_memory(void);

struct sqlite3;

/// Turns a switch of a connection on or off, such as SQLITE_DBCONFIG_DEFENSIVE, and writes the new state of the switch
/// to `state`. (https://sqlite.org/c3ref/db_config.html)
int larder_sqlite_config(struct sqlite3 *_Nonnull connection, int option, int on, int *_Nonnull state);

/// Opens a database file so that its header can be read.
///
/// Takes no lock, and returns NULL on failure.
///
/// Use only these functions to read the header. If the process closed a descriptor of its own for the file, the system
/// would release all locks that SQLite holds on the file for this process. SQLite itself keeps its descriptors open
/// until none of its connections holds a lock. (https://sqlite.org/howtocorrupt.html, section 2.2)
struct sqlite3 *_Nullable larder_sqlite_open_header(const char *_Nonnull path);

/// Reads `count` bytes of the file at `offset` with SQLite's own functions.
///
/// Returns 0 if all of them were read.
int larder_sqlite_read_header(
    struct sqlite3 *_Nonnull header, void *_Nonnull bytes, int count, long long offset);

/// Closes the file that `larder_sqlite_open_header` opened.
void larder_sqlite_close_header(struct sqlite3 *_Nullable header);

#endif
