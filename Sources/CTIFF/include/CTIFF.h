// libtiff, which reads TIFF. Because it loads seven libraries, it is opened when the first TIFF is read, not when the
// program starts. Its messages are not printed.
#ifndef LARDER_CTIFF_H
#define LARDER_CTIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library. Thread-safe; repeated calls cost nothing. Returns NULL on success, else the dynamic loader's
// message, which stays valid. Call it before any other function here.
const char *ctiff_open(void);

// The version of the loaded library; NULL if it cannot be opened.
const char *ctiff_release(void);

// The properties that a file's first directory must have. `block_width` is 0 for strips. With `jpeg_colours`, libtiff
// converts JPEG-compressed YCbCr to RGB.
typedef struct {
  uint32_t width, height, block_width, block_height;
  uint16_t bits, samples;
  bool is_separate, jpeg_colours;
  // The number of bytes of a row of samples, and of a block. If channels are stored separately, these are the bytes of
  // one channel.
  size_t row_bytes, block_bytes;
} ctiff_form;

typedef struct ctiff_file ctiff_file;

// Opens a file. `bytes` must stay valid until the file is closed. Returns NULL if the file does not match `form`, or
// libtiff refuses it. No single allocation of libtiff is larger than `memory`.
ctiff_file *ctiff_file_open(const uint8_t *bytes, size_t count, const ctiff_form *form, size_t memory);

// Reads one pixel row of a file in strips whose channels are interleaved. Rows must be read in order from the top.
bool ctiff_row(ctiff_file *file, uint32_t y, uint8_t *row);

// Reads the tile or strip that contains the pixel at `x`, `y`.
bool ctiff_block(ctiff_file *file, uint32_t x, uint32_t y, uint16_t plane, uint8_t *block);

// libtiff's first error message; empty if there was none.
const char *ctiff_words(const ctiff_file *file);

void ctiff_close(ctiff_file *file);

#endif
