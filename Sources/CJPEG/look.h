// A look at a picture before a part of it is taken, of which all is read once. These jump: call them under a setjmp.
#ifndef LARDER_CJPEG_LOOK_H
#define LARDER_CJPEG_LOOK_H

#include "session.h"

// One component's blocks: those of a few rows as libjpeg has them, of all the first coefficient, and what is not zero.
typedef struct {
  JBLOCK *blocks;
  JBLOCKROW rows[MAX_SAMP_FACTOR];
  // Blocks across and down, as libjpeg asks for them.
  JDIMENSION across, down;
  // Rows in `blocks` that are not packed yet; none while `count` is 0.
  JDIMENSION first, count;
  JCOEF *means;
  // Where each row is packed, counted from 1; 0 for one that never came.
  size_t *places;
  // Where the rows begin that are handed out.
  JDIMENSION left, top;
} held_component;

// The coefficients of a picture in one scan: for each block a bit for every four of them, and the fours that are not
// all zero. A crop of 12 megapixels without loss takes 20 ms of CPU time, and with a look 30 like this, 35 where the file
// is read twice, and 50 where libjpeg holds all, for the faults on that much memory.
typedef struct {
  uint8_t *packed;
  size_t used;
  void *mapped;
  size_t length;
  bool is_read;
  int requested;
  held_component components[MAX_COMPONENTS];
} held_coefficients;

// Reads all coefficients, in the place of jpeg_start_decompress; the pixels of any region can be had afterwards.
void look_hold(j_decompress_ptr source, held_coefficients *held);

// Asks for the region, once all are read.
cjpeg_region look_choose(j_decompress_ptr source, held_coefficients *held, const cjpeg_chooser *chooser);

// Lets `target` write the coefficients of a region, which begins between blocks.
void look_lend(j_decompress_ptr source, held_coefficients *held, cjpeg_region region, j_compress_ptr target,
               jvirt_barray_ptr *arrays);

void look_close(held_coefficients *held);

#endif
