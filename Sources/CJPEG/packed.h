// A compact replacement for libjpeg's virtual arrays of coefficients. A block has a bit for each group of four
// coefficients, then the groups that are not all zero: a quarter of the memory for most photos. These functions may
// longjmp: call them under a setjmp.
#ifndef LARDER_CJPEG_PACKED_H
#define LARDER_CJPEG_PACKED_H

#include "session.h"

// One component's blocks: a few rows unpacked for libjpeg, and all rows packed.
typedef struct {
  JBLOCK *blocks;
  JBLOCKROW *rows;
  // Blocks across and down, and the most rows at a time, as libjpeg requests them.
  JDIMENSION across, down, most;
  // The rows in `blocks` (none while `count` is 0), and whether they may have changed since they were unpacked.
  JDIMENSION first, count;
  bool is_changed;
  // For each row, its offset in `packed` plus 1 (0 if it was never written), and its size in bytes.
  size_t *places;
  uint32_t *sizes;
  // The first column and row of the blocks that are handed out, and the column before which they end.
  JDIMENSION left, top, end;
  // The memory of the rows above this one has been freed.
  JDIMENSION given;
} packed_component;

// Replaces all arrays that libjpeg would request for one picture.
typedef struct {
  uint8_t *packed;
  // Bytes that are used, and the most that may be.
  size_t used, most;
  void *mapped;
  size_t length;
  // Whether each row is read only once, to make pixels, so that its memory can be freed after that.
  bool is_read_once;
  int requested;
  packed_component components[MAX_COMPONENTS];
} packed_coefficients;

// Makes a picture keep its coefficients here, in at most `most` bytes. Call it before reading or writing starts.
void packed_open(j_common_ptr picture, packed_coefficients *packed, long most);

// Makes `target` write the coefficients of a region of `source`, which starts on a block border.
void packed_lend(j_decompress_ptr source, packed_coefficients *packed, cjpeg_region region, j_compress_ptr target,
                 jvirt_barray_ptr *arrays);

void packed_close(packed_coefficients *packed);

#endif
