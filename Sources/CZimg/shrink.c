#include <stdlib.h>
#include <string.h>

#include "shrink.h"

// The loops, once for each width of a sample. With alpha, colours count by it.
#define LOOPS(NAME, SAMPLE)                                                                        \
  static void add_##NAME(const shrinking *by, const SAMPLE *row) {                                 \
    const int step = by->channels, colours = by->alpha ? step - 1 : step;                          \
    const uint32_t width = by->source->width;                                                      \
    uint64_t *sums = by->sums;                                                                     \
    for (uint32_t start = 0; start < width; start += by->across, sums += step) {                   \
      const uint32_t end = width - start < by->across ? width : start + by->across;                \
      for (uint32_t x = start; x < end; x++, row += step) {                                        \
        const uint64_t weight = by->alpha ? row[step - 1] : 1;                                     \
        for (int channel = 0; channel < colours; channel++) sums[channel] += row[channel] * weight; \
        if (by->alpha) sums[step - 1] += weight;                                                   \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void mean_##NAME(const shrinking *by, uint32_t rows, SAMPLE *out) {                       \
    const int step = by->channels, colours = by->alpha ? step - 1 : step;                          \
    const uint32_t width = by->source->width;                                                      \
    const uint64_t *sums = by->sums;                                                               \
    for (uint32_t start = 0; start < width; start += by->across, sums += step, out += step) {      \
      const uint64_t count = (uint64_t)(width - start < by->across ? width - start : by->across) * rows; \
      const uint64_t weight = by->alpha ? sums[step - 1] : count;                                  \
      for (int channel = 0; channel < colours; channel++) {                                        \
        out[channel] = weight ? (SAMPLE)((sums[channel] + weight / 2) / weight) : 0;               \
      }                                                                                            \
      if (by->alpha) out[step - 1] = (SAMPLE)((weight + count / 2) / count);                       \
    }                                                                                              \
  }

LOOPS(bytes, uint8_t)
LOOPS(words, uint16_t)

static uint32_t parts(uint32_t length, uint32_t size) { return (length + size - 1) / size; }

static bool next(void *context, uint8_t *rows, uint32_t count) {
  shrinking *by = context;
  const size_t made = (size_t)parts(by->source->width, by->across) * by->channels;
  for (; count > 0; count--, rows += made * (by->wide ? 2 : 1)) {
    const uint32_t taken = by->left < by->down ? by->left : by->down;
    memset(by->sums, 0, made * sizeof *by->sums);
    for (uint32_t y = 0; y < taken; y++) {
      if (!by->source->next(by->source->context, by->row, 1)) return false;
      if (by->wide) {
        add_words(by, (const uint16_t *)by->row);
      } else {
        add_bytes(by, by->row);
      }
    }
    by->left -= taken;
    if (by->wide) {
      mean_words(by, taken, (uint16_t *)rows);
    } else {
      mean_bytes(by, taken, rows);
    }
  }
  return true;
}

bool shrink_begin(shrinking *by, czimg_rows *rows) {
  const uint32_t width = parts(by->source->width, by->across);
  by->left = by->source->height;
  by->row = malloc((size_t)by->source->width * by->channels * (by->wide ? 2 : 1));
  by->sums = malloc((size_t)width * by->channels * sizeof *by->sums);
  *rows = (czimg_rows){width, parts(by->source->height, by->down), next, by};
  return by->row != NULL && by->sums != NULL;
}

void shrink_end(shrinking *by) {
  free(by->row);
  free(by->sums);
}
