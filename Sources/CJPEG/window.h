// Replaces libjpeg's virtual arrays by ones that keep only the coefficients of a region. These functions may longjmp:
// call them under a setjmp.
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
  // The number of rows that fit in `kept`: all of the region or, with `streams`, only a few.
  JDIMENSION held;
  // Rows that libjpeg requests at a time.
  JDIMENSION step;
  // The rows in `read`; none while `count` is 0.
  JDIMENSION first, count;
  // The first row that has not been read yet.
  JDIMENSION next;
} window_component;

typedef struct {
  cjpeg_region region;
  j_decompress_ptr source;
  // Whether rows are read only when they are written, which requires a single scan both in the input and in the output.
  bool streams;
  int requested;
  window_component components[MAX_COMPONENTS];
} coefficient_window;

// Replaces libjpeg's own arrays, which hold all of the picture, by a window. `again` means that the rows will be
// written several times.
void window_open(j_decompress_ptr source, cjpeg_region region, bool again, coefficient_window *window);

// Fills `arrays`, which has room for all components, with the region's coefficients for `target` to write. Reads the
// whole picture first or, when `streams` is set, each row when `target` asks for it.
void window_read(j_decompress_ptr source, j_compress_ptr target, jvirt_barray_ptr *arrays);

void window_close(coefficient_window *window);

#endif
