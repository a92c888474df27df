// A compressor's output in memory, used by all functions that encode.
#ifndef LARDER_CJPEG_OUTPUT_H
#define LARDER_CJPEG_OUTPUT_H

#include "session.h"

// Our own destination manager: libjpeg's says where its bytes are only at the end, so those of a failed picture would
// leak.
typedef struct {
  struct jpeg_destination_mgr manager;
  uint8_t *room, *bytes;
  size_t size, count;
} memory_output;

// Makes `target` write to the caller's buffer, and to memory of its own once that is full.
void output_open(memory_output *output, j_compress_ptr target);

// Returns the address and the size of the file.
void output_end(memory_output *output, uint8_t **out, size_t *out_count);

void output_abandon(memory_output *output);

#endif
