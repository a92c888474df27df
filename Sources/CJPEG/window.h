// Replaces libjpeg's virtual arrays by arrays that keep only the coefficients of a region. These functions may longjmp:
// call them under a setjmp.
#ifndef LARDER_CJPEG_WINDOW_H
#define LARDER_CJPEG_WINDOW_H

#include "session.h"

// The blocks of one component: those inside the region (`kept`), and those of the rows that are being read (`read`).
typedef struct {
  JBLOCK *kept, *read;
  void *mapped;
  size_t length;
  JBLOCKROW rows[MAX_SAMP_FACTOR];
  JDIMENSION left, top, width, across;
  // The number of rows that fit in `kept`: all of the region or, with `streams`, only a few.
  JDIMENSION held;
  // The number of rows that libjpeg requests at a time.
  JDIMENSION step;
  // The rows in `read`: `count` rows from row `first` on.
  JDIMENSION first, count;
  // The first row that has not been read yet.
  JDIMENSION next;
} window_component;

typedef struct {
  cjpeg_region region;
  j_decompress_ptr source;
  // Whether a row is read only when the output needs it. This requires that the input and the output each have a single
  // scan.
  bool streams;
  int requested;
  window_component components[MAX_COMPONENTS];
} coefficient_window;

// Replaces libjpeg's own arrays, which hold the whole picture, by a window. `again` means that the output's encoder
// will read the rows several times.
void window_open(j_decompress_ptr source, cjpeg_region region, bool again, coefficient_window *window);

// Fills `arrays`, which has room for all components, with the region's coefficients for `target` to write. If `streams`
// is set, each row is read when `target` requests it; otherwise the whole picture is read first.
void window_read(j_decompress_ptr source, j_compress_ptr target, jvirt_barray_ptr *arrays);

void window_close(coefficient_window *window);

#endif
