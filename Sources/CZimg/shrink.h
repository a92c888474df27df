// Pictures whose rows are made of several rows of another, so that a filter that reaches far holds less.
#ifndef LARDER_CZIMG_SHRINK_H
#define LARDER_CZIMG_SHRINK_H

#include "CZimg.h"

// Rows of which a mean is made at most.
enum { most_rows = 1 << 16 };

// A picture of which a pixel is the mean of `across` × `down` pixels of `source`, or of as many as are left at the right
// and at the bottom; `down` is at most `most_rows`.
typedef struct {
  const czimg_rows *source;
  // The colours of the source's indices, four bytes each; NULL where it has samples. In colours
  // without alpha the fourth byte is ignored.
  const uint32_t *colours;
  uint32_t across, down;
  int channels;
  bool wide, alpha;
  // Rows of the source that were not asked for yet.
  uint32_t left;
  // A row of the source, and the sums of its columns.
  uint8_t *row;
  void *sums;
  // Of each index the numbers that are added up.
  void *numbers;
} shrinking;

// Opens it; `rows` are then its own. False when memory is short. It is closed in either case.
bool shrink_begin(shrinking *shrinking, czimg_rows *rows);

void shrink_end(shrinking *shrinking);

#endif
