// Reads one region of a picture, row by row. These functions may longjmp, so call them under a setjmp.
#ifndef LARDER_CJPEG_REGION_H
#define LARDER_CJPEG_REGION_H

#include "session.h"

typedef struct {
  cjpeg_region region;
  size_t pixel;
  JDIMENSION left;
  JSAMPARRAY row;
} region_reader;

// Starts decompression, skips to the region's first row, and decodes only the columns that are needed.
void region_start(j_decompress_ptr source, cjpeg_region region, region_reader *reader);

// Returns the region's next row, which is valid until the next call.
const uint8_t *region_read(j_decompress_ptr source, region_reader *reader);

// Reads the rest of the file without converting it to pixels.
void region_finish(j_decompress_ptr source, region_reader *reader);

#endif
