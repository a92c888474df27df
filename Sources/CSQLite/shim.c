#include "CSQLite.h"

#include <sqlite3.h>

void larder_sqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int larder_sqlite_config(struct sqlite3 *connection, int option, int on, int *state) {
  return sqlite3_db_config(connection, option, on, state);
}
