#include <stdlib.h>
#include <string.h>

#include "reader.h"

struct cpng_rows {
  png_reader reader;
  failure failure;
  // The number of rows that have not been read by the caller yet.
  uint32_t left;
};

cpng_rows *cpng_rows_open(const cpng_source *source, cpng_shape *shape, cpng_outcome *outcome) {
  cpng_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) {
    memset(outcome, 0, sizeof *outcome);
    outcome->out_of_memory = true;
    return NULL;
  }
  failure_begin(&rows->failure, outcome, source->memory);
  rows->reader = (png_reader){.source = source, .failure = &rows->failure};
  rows->left = source->region.height;
  if (setjmp(rows->failure.escape)) {
    cpng_rows_close(rows);
    return NULL;
  }
  reader_open(&rows->reader, shape);
  return rows;
}

bool cpng_rows_next(cpng_rows *rows, uint8_t *pixels, uint32_t count) {
  if (setjmp(rows->failure.escape)) return false;
  png_reader *reader = &rows->reader;
  const size_t bytes = reader->source->region.width * reader->pixel;
  if (count > rows->left) png_error(reader->png, "there are no more rows");
  for (uint32_t y = 0; y < count; y++) memcpy(pixels + y * bytes, reader_row(reader), bytes);
  rows->left -= count;
  if (rows->left == 0 && count > 0) reader_finish(reader);
  return true;
}

void cpng_rows_close(cpng_rows *rows) {
  if (rows == NULL) return;
  reader_close(&rows->reader);
  free(rows);
}
