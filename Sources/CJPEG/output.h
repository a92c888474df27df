// A compressor's output in memory, shared by those that encode.
#ifndef LARDER_CJPEG_OUTPUT_H
#define LARDER_CJPEG_OUTPUT_H

#include "session.h"

// A destination of our own: libjpeg's says where its bytes are only at the end, so that those of a
// picture that breaks off would be lost for good.
typedef struct {
  struct jpeg_destination_mgr manager;
  uint8_t *room, *bytes;
  size_t size, count;
} memory_output;

// Lets `target` write into the caller's room, and into memory of its own once that is full.
void output_open(memory_output *output, j_compress_ptr target);

// Hands the bytes over.
void output_end(memory_output *output, uint8_t **out, size_t *out_count);

void output_abandon(memory_output *output);

#endif
