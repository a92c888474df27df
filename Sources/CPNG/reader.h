// Reads the rows of a region, one after the other. These functions may longjmp, so call them under a setjmp.
#ifndef LARDER_CPNG_READER_H
#define LARDER_CPNG_READER_H

#include "failure.h"

typedef struct {
  const cpng_source *source;
  failure *failure;
  png_structp png;
  png_infop info;
  size_t offset;
  int passes;
  size_t row_bytes, pixel;
  uint32_t height;
  // `next` is the next row of the picture to deliver. `line` is the next row to read in the last pass.
  uint32_t next, line;
  // A buffer for one row. If the picture is interlaced, it has space for one odd row, followed by the even rows among
  // the `held` rows that begin with row `first`.
  png_bytep rows;
  uint32_t first, held;
} png_reader;

// Reads the header and all chunks before the data. `shape` receives the layout of the rows.
void reader_open(png_reader *reader, cpng_shape *shape);

// Returns the next row of the region, beginning with the region's first pixel. It is valid until the next call.
const uint8_t *reader_row(png_reader *reader);

// Reads the file to its end, after all rows have been delivered.
void reader_finish(png_reader *reader);

void reader_close(png_reader *reader);

#endif
