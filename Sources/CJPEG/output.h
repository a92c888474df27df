// A compressor's output in memory, shared by those that encode.
#ifndef LARDER_CJPEG_OUTPUT_H
#define LARDER_CJPEG_OUTPUT_H

#include "session.h"

// `first` is ours; libjpeg replaces it when it is too small.
typedef struct {
  uint8_t *first, *bytes;
  unsigned long count;
} memory_output;

void output_begin(memory_output *output, size_t guess);

// Hands the bytes over.
void output_end(memory_output *output, uint8_t **out, size_t *out_count);

void output_abandon(memory_output *output);

// Four-component files mean inverted ink when they carry Adobe's marker, and keep what they have.
void keep_adobe(j_compress_ptr target, j_decompress_ptr source);

#endif
