// libtiff, opened when the first TIFF is read rather than when the program starts: it brings seven libraries along.
// It prints nothing.
#ifndef LARDER_CTIFF_H
#define LARDER_CTIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library; safe from any thread; later calls cost nothing. NULL when it is there, else the
// dynamic loader's words, which stay valid. Before, no other function may be called.
const char *ctiff_open(void);

// The release of the loaded library, as text; NULL where it cannot be opened.
const char *ctiff_release(void);

// The properties that a file's first directory must have; `block_width` is 0 where it has strips. Strips of light and two colours in
// JPEG, `jpeg_colours`, become red, green and blue.
typedef struct {
  uint32_t width, height, block_width, block_height;
  uint16_t bits, samples;
  bool is_separate, jpeg_colours;
  // Bytes of a row of samples, and of a block; of one plane where samples are separate.
  size_t row_bytes, block_bytes;
} ctiff_form;

typedef struct ctiff_file ctiff_file;

// Opens a file, whose bytes stay where they are until it is closed; NULL where it is not of this form, or libtiff refuses
// it. No allocation of libtiff's is larger than `memory`.
ctiff_file *ctiff_file_open(const uint8_t *bytes, size_t count, const ctiff_form *form, size_t memory);

// Reads a row of strips that are not separate; rows come from the top.
bool ctiff_row(ctiff_file *file, uint32_t y, uint8_t *row);

// Reads the block that has a pixel.
bool ctiff_block(ctiff_file *file, uint32_t x, uint32_t y, uint16_t plane, uint8_t *block);

// libtiff's first words about something wrong; empty where nothing was.
const char *ctiff_words(const ctiff_file *file);

void ctiff_close(ctiff_file *file);

#endif
