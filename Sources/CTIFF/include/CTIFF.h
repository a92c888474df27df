// libtiff, which reads TIFFs. It loads seven libraries, so it is opened when the first TIFF is read, not when the
// program starts. Its messages are not printed.
#ifndef LARDER_CTIFF_H
#define LARDER_CTIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library. It is thread-safe, and repeated calls cost nothing. Returns NULL on success, and otherwise the
// dynamic loader's message, which stays valid. Call it before any other function here.
const char *ctiff_open(void);

// The properties that the first directory of a file must have. `tile_width` is 0 if the file has strips. If
// `jpeg_colours` is set, libtiff converts JPEG-compressed YCbCr to RGB.
typedef struct {
  uint32_t width, height, tile_width, tile_height;
  uint16_t bits, samples;
  bool jpeg_colours;
  // The number of bytes of a row of the picture, and of a row of a tile.
  size_t row_bytes, tile_row_bytes;
} ctiff_form;

typedef struct ctiff_file ctiff_file;

// Opens a file. `bytes` must stay valid until the file is closed. Returns NULL if the file does not match `form`, or if
// libtiff refuses it. libtiff may not allocate more than `memory` bytes at once. A row of tiles is allocated, too; the
// caller must limit its size.
ctiff_file *ctiff_file_open(const uint8_t *bytes, size_t count, const ctiff_form *form, size_t memory);

// Writes `row_bytes` bytes with the samples of a row. Rows are read one after the other, beginning with row 0.
bool ctiff_row(ctiff_file *file, uint32_t y, uint8_t *row);

// The first error message of libtiff; empty if there was none.
const char *ctiff_words(const ctiff_file *file);

void ctiff_close(ctiff_file *file);

#endif
