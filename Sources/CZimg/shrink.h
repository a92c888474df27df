// A picture whose rows are means of several rows of another picture. A filter that needs many rows then takes less
// memory.
#ifndef LARDER_CZIMG_SHRINK_H
#define LARDER_CZIMG_SHRINK_H

#include "CZimg.h"

// The largest number of rows that one mean may combine.
enum { most_rows = 1 << 16 };

// A picture in which each pixel is the mean of `across` × `down` pixels of `source`, or of fewer at the right and the
// bottom edge. `down` is at most `most_rows`.
typedef struct {
  const czimg_rows *source;
  // The colours of the source's palette indices, four bytes each, or NULL if the source has no palette. Without alpha,
  // the fourth byte is ignored.
  const uint32_t *colours;
  uint32_t across, down;
  int channels;
  bool wide, alpha;
  // The number of source rows that have not been read yet.
  uint32_t left;
  // A row of the source, and the sums of its columns.
  uint8_t *row;
  void *sums;
  // For each palette index: the four numbers that are added to the sums.
  void *numbers;
} shrinking;

// Prepares the shrunken picture, and fills in `rows`, through which the caller reads it. Returns false if there is not
// enough memory. Call `shrink_end` in either case.
bool shrink_begin(shrinking *shrinking, czimg_rows *rows);

void shrink_end(shrinking *shrinking);

#endif
