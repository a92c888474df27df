#include "CSQLite.h"

#include <sqlite3.h>

void larder_sqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }
