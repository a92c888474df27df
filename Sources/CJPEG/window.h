// Replaces libjpeg's virtual arrays by arrays that keep only the coefficients of a region. These functions may longjmp,
// so call them under a setjmp.
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
  // The number of rows that fit in `kept`: all rows of the region or, if `streams` is set, only a few.
  JDIMENSION held;
  // The number of rows that libjpeg requests at a time.
  JDIMENSION step;
  // `read` has `count` rows, beginning with row `first`.
  JDIMENSION first, count;
  // The first row that has not been read yet.
  JDIMENSION next;
} window_component;

typedef struct {
  cjpeg_region region;
  j_decompress_ptr source;
  // Whether a row is read only when the output needs it. This is possible if the input and the output each have a
  // single scan.
  bool streams;
  int requested;
  window_component components[MAX_COMPONENTS];
} coefficient_window;

// Replaces libjpeg's own arrays, which have the whole picture, by a window. If `again` is set, the encoder of the
// output will read the rows several times.
void window_open(j_decompress_ptr source, cjpeg_region region, bool again, coefficient_window *window);

// Fills `arrays`, which has space for all components, with the coefficients of the region, for `target` to write. If
// `streams` is set, a row is read when `target` requests it. Otherwise the whole picture is read first.
void window_read(j_decompress_ptr source, j_compress_ptr target, jvirt_barray_ptr *arrays);

void window_close(coefficient_window *window);

#endif
