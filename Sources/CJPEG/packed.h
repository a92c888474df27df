// A compact replacement for libjpeg's virtual arrays of coefficients. A packed block begins with a bit for each group
// of four coefficients. It is followed by the groups that are not all zero. For most photos, this takes a quarter of
// the memory. These functions may longjmp, so call them under a setjmp.
#ifndef LARDER_CJPEG_PACKED_H
#define LARDER_CJPEG_PACKED_H

#include "session.h"

// The blocks of one component: a few unpacked rows for libjpeg, and all rows in packed form.
typedef struct {
  JBLOCK *blocks;
  JBLOCKROW *rows;
  // The number of blocks across and down, and the largest number of rows that libjpeg requests at a time.
  JDIMENSION across, down, most;
  // `blocks` has `count` unpacked rows, beginning with row `first`. If `is_changed` is set, they may have changed since
  // they were unpacked.
  JDIMENSION first, count;
  bool is_changed;
  // For each row: its offset in `packed` plus 1, or 0 if the row was never written. Then its size in bytes.
  size_t *places;
  uint32_t *sizes;
  // The first column and row of the blocks that libjpeg receives, and the column after the last one.
  JDIMENSION left, top, end;
  // The memory of all rows above row `given` has been freed.
  JDIMENSION given;
} packed_component;

// Replaces all coefficient arrays that libjpeg would request for one picture.
typedef struct {
  uint8_t *packed;
  // The number of bytes that are used, and the most that may be used.
  size_t used, most;
  void *mapped;
  size_t length;
  // Whether each row is read only once, to make pixels. If so, its memory can be freed after that.
  bool is_read_once;
  int requested;
  packed_component components[MAX_COMPONENTS];
} packed_coefficients;

// Makes a compressor or decompressor keep its coefficients in `packed`, in at most `most` bytes. Call it before reading
// or writing starts.
void packed_open(j_common_ptr picture, packed_coefficients *packed, long most);

// Makes `target` write the coefficients of a region of `source`. The region must start on a block border.
void packed_lend(j_decompress_ptr source, packed_coefficients *packed, cjpeg_region region, j_compress_ptr target,
                 jvirt_barray_ptr *arrays);

void packed_close(packed_coefficients *packed);

#endif
