// Pictures whose rows are means of several rows of another one, so that a filter with a long reach needs less memory.
#ifndef LARDER_CZIMG_SHRINK_H
#define LARDER_CZIMG_SHRINK_H

#include "CZimg.h"

// The most rows of which a mean is computed.
enum { most_rows = 1 << 16 };

// A picture in which each pixel is the mean of `across` × `down` pixels of `source`; at the right and the bottom, of
// those that are left. `down` is at most `most_rows`.
typedef struct {
  const czimg_rows *source;
  // The colours of the source's palette indices, four bytes each; NULL if it has samples. Without alpha, the fourth
  // byte is ignored.
  const uint32_t *colours;
  uint32_t across, down;
  int channels;
  bool wide, alpha;
  // Rows of the source that have not been read yet.
  uint32_t left;
  // A row of the source, and the sums of its columns.
  uint8_t *row;
  void *sums;
  // For each index, the four numbers that are added up.
  void *numbers;
} shrinking;

// Opens the picture, and sets `rows` to read it. Returns false if there is not enough memory. Call `shrink_end` in
// either case.
bool shrink_begin(shrinking *shrinking, czimg_rows *rows);

void shrink_end(shrinking *shrinking);

#endif
