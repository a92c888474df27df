// What SQLite offers through variadic functions only, which Swift cannot call.
#ifndef LARDER_CSQLITE_H
#define LARDER_CSQLITE_H

/// Lets SQLite allocate without counting what it holds; before the first database of the process is
/// opened, else nothing changes. (https://sqlite.org/c3ref/config.html)
void larder_sqlite_count_no_memory(void);

#endif
