// The output of a compressor in memory. All functions that encode use it.
#ifndef LARDER_CJPEG_OUTPUT_H
#define LARDER_CJPEG_OUTPUT_H

#include "session.h"

// A destination manager that replaces libjpeg's. libjpeg's manager tells the address of its memory only at the end, so
// the memory would leak if a picture fails.
typedef struct {
  struct jpeg_destination_mgr manager;
  uint8_t *room, *bytes;
  size_t size, count;
} memory_output;

// Makes `target` write to the caller's buffer. When the buffer is full, the output is moved to a larger block of
// memory.
void output_open(memory_output *output, j_compress_ptr target);

// Returns the address and the size of the file.
void output_end(memory_output *output, uint8_t **out, size_t *out_count);

void output_abandon(memory_output *output);

#endif
