// The coefficients of a region, kept while a whole picture is read. These jump: call them under a setjmp.
#ifndef LARDER_CJPEG_WINDOW_H
#define LARDER_CJPEG_WINDOW_H

#include "session.h"

// One component's blocks inside the region, and those of the rows that are being read.
typedef struct {
  JBLOCK *kept, *read;
  void *mapped;
  size_t length;
  JBLOCKROW rows[MAX_SAMP_FACTOR];
  JDIMENSION left, top, width, across;
  // Rows that `kept` has room for: all of the region, or the few that are on their way.
  JDIMENSION held;
  // Rows that libjpeg asks for at a time.
  JDIMENSION step;
  // The rows in `read`; none while `count` is 0.
  JDIMENSION first, count;
  // The first row that is not read yet.
  JDIMENSION next;
} window_component;

typedef struct {
  cjpeg_region region;
  j_decompress_ptr source;
  // Whether rows are read when they are to be written, as they can be when all lie in one scan, here and there.
  bool streams;
  int requested;
  window_component components[MAX_COMPONENTS];
} coefficient_window;

// Puts a window in the place of libjpeg's own arrays, which hold all of the picture.
// `again` says that the rows are to be written several times.
void window_open(j_decompress_ptr source, cjpeg_region region, bool again, coefficient_window *window);

// Fills `arrays`, which has room for all components, with the region's coefficients for `target` to write. Reads the
// whole picture first or, when `streams` is set, each row when `target` asks for it.
void window_read(j_decompress_ptr source, j_compress_ptr target, jvirt_barray_ptr *arrays);

void window_close(coefficient_window *window);

#endif
