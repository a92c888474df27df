// Coefficients in less memory than libjpeg's arrays take: for each block a bit for every four of them, and the fours
// that are not all zero, a quarter of the room in most photos. These jump: call them under a setjmp.
#ifndef LARDER_CJPEG_PACKED_H
#define LARDER_CJPEG_PACKED_H

#include "session.h"

// One component's blocks: those of a few rows as libjpeg has them, and all of them packed.
typedef struct {
  JBLOCK *blocks;
  JBLOCKROW *rows;
  // Blocks across and down, and rows at a time at most, as libjpeg asks for them.
  JDIMENSION across, down, most;
  // The rows in `blocks`, none while `count` is 0, and whether they may have changed since they were unpacked.
  JDIMENSION first, count;
  bool is_changed;
  // Where each row is packed, counted from 1; 0 for one that never came. And how many bytes it takes.
  size_t *places;
  uint32_t *sizes;
  // Where the blocks begin that are handed out, and before which column they end.
  JDIMENSION left, top, end;
  // The rows above it have given their memory back.
  JDIMENSION given;
} packed_component;

// In the place of the arrays that libjpeg would request for one picture.
typedef struct {
  uint8_t *packed;
  // Bytes that are taken, and that may be.
  size_t used, most;
  void *mapped;
  size_t length;
  // Whether each row is read only once, as when pixels are made of it: its memory is then given
  // back.
  bool is_read_once;
  int requested;
  packed_component components[MAX_COMPONENTS];
} packed_coefficients;

// Lets a picture that is to be read or written, before that is started, have its coefficients here; `most` bytes.
void packed_open(j_common_ptr picture, packed_coefficients *packed, long most);

// Lets `target` write the coefficients of a region of `source`, which begins between blocks.
void packed_lend(j_decompress_ptr source, packed_coefficients *packed, cjpeg_region region, j_compress_ptr target,
                 jvirt_barray_ptr *arrays);

void packed_close(packed_coefficients *packed);

#endif
