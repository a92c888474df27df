// Replaces libjpeg's virtual arrays of coefficients by arrays that take less memory. There are two kinds.
//
// Packed arrays have all rows. A packed block begins with a bit for each group of four coefficients. It is followed by
// the groups that are not all zero. For most photos, this takes a quarter of the memory.
//
// Streaming arrays have only the rows that the decompressor has read last. When the compressor asks for the next row,
// the decompressor reads it. This is possible if the input and the output each have a single scan.
//
// These functions may longjmp, so call them under a setjmp.
#ifndef LARDER_CJPEG_COEFFICIENTS_H
#define LARDER_CJPEG_COEFFICIENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "CJPEG.h"

#include <jpeglib.h>
#include <jerror.h>

// The blocks of one component.
typedef struct {
  // The unpacked rows that libjpeg works on, and pointers to the rows that it requested last.
  JBLOCK *blocks;
  JBLOCKROW *rows;
  // The number of blocks across and down, and the largest number of rows that libjpeg requests at a time.
  JDIMENSION across, down, most;
  // The first block of the region that the compressor writes.
  JDIMENSION left, top;
  // The first row after those that a streaming array has read.
  JDIMENSION next;
  // A packed array has `count` unpacked rows, beginning with row `first`. If `is_changed` is set, they may have changed
  // since they were unpacked.
  JDIMENSION first, count;
  bool is_changed;
  // The packed rows, each in a space of `stride` bytes, and the size of each. The size of a row without data is 0.
  uint8_t *packed;
  size_t stride;
  uint32_t *sizes;
  // The memory of all packed rows above row `given` has been freed.
  JDIMENSION given;
} component_rows;

// The coefficients of one picture.
typedef struct {
  // The source of a streaming array; NULL if the arrays are packed.
  j_decompress_ptr stream;
  // The number of bytes of all packed rows, and the most that may be used.
  size_t used, most;
  int requested;
  component_rows components[MAX_COMPONENTS];
} coefficients;

// Makes a compressor or decompressor keep its coefficients packed, in at most `most` bytes. Call it before reading or
// writing starts.
void coefficients_pack(j_common_ptr picture, coefficients *all, long most);

// Makes a decompressor stream its coefficients.
void coefficients_stream(j_decompress_ptr source, coefficients *all);

// Makes `target` write the coefficients of a region of `source`. The region must start on a block border.
void coefficients_lend(j_decompress_ptr source, coefficients *all, cjpeg_region region, j_compress_ptr target,
                       jvirt_barray_ptr *arrays);

void coefficients_close(coefficients *all);

#endif
