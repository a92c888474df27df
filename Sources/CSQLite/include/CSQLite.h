// What SQLite offers through variadic functions only, which Swift cannot call.
#ifndef LARDER_CSQLITE_H
#define LARDER_CSQLITE_H

/// Turns off SQLite's statistics of its memory; without effect once the process has opened a database.
/// (https://sqlite.org/c3ref/config.html)
void larder_sqlite_count_no_memory(void);

struct sqlite3;

/// Turns one switch of a connection on or off, and tells in `state` what it is now.
/// (https://sqlite.org/c3ref/db_config.html)
int larder_sqlite_config(struct sqlite3 *_Nonnull connection, int option, int on, int *_Nonnull state);

#endif
