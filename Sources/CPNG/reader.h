// Reading the rows of a region, one after the other. These jump: call them under a setjmp.
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
  // The next row of the picture to be handed out, and the next to be read of the only pass or the last.
  uint32_t next, line;
  // A row; of an interlaced picture an odd one and the even ones of the `held` rows from `first` on.
  png_bytep rows;
  uint32_t first, held;
} png_reader;

// Reads the header and all chunks before the data. `shape` receives the layout of the rows.
void reader_open(png_reader *reader, cpng_shape *shape);

// The region's next row, from its first pixel on, good until the next call.
const uint8_t *reader_row(png_reader *reader);

// Reads the file to its end, once all rows were handed out.
void reader_finish(png_reader *reader);

void reader_close(png_reader *reader);

#endif
