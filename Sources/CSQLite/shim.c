#include "CSQLite.h"

#include <sqlite3.h>
#include <stddef.h>

void larder_sqlite_count_no_memory(void) { sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

int larder_sqlite_config(struct sqlite3 *connection, int option, int on, int *state) {
  return sqlite3_db_config(connection, option, on, state);
}

struct sqlite3 *larder_sqlite_open_header(const char *path) {
  sqlite3 *header = NULL;
  if (sqlite3_open_v2(path, &header, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) return header;
  sqlite3_close(header);
  return NULL;
}

int larder_sqlite_read_header(
    struct sqlite3 *header, void *bytes, int count, long long offset) {
  sqlite3_file *file = NULL;
  int code = sqlite3_file_control(header, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (code != SQLITE_OK) return code;
  if (file == NULL || file->pMethods == NULL) return SQLITE_CANTOPEN;
  return file->pMethods->xRead(file, bytes, count, offset);
}

void larder_sqlite_close_header(struct sqlite3 *header) { sqlite3_close(header); }
