#include <stdlib.h>
#include <string.h>

#include "shrink.h"

#define INLINED inline __attribute__((always_inline))

// These loops are defined once for each sample size. They add up the rows, column by column, and then the columns of
// each square. If there is alpha, colours are weighted by it.
//
// If the number of channels is a constant, these loops are twice as fast. Most squares are 2, 4, … pixels wide and
// high, so that most means are shifts, which take a tenth of the time of a division.
#define LOOPS(NAME, SAMPLE, SUM)                                                                   \
  static INLINED void weigh_##NAME(SUM *sums, const SAMPLE *row, size_t count, const int step) {   \
    for (size_t i = 0; i < count; i += step) {                                                     \
      const SUM weight = row[i + step - 1];                                                        \
      for (int channel = 0; channel < step - 1; channel++) {                                       \
        sums[i + channel] += row[i + channel] * weight;                                            \
      }                                                                                            \
      sums[i + step - 1] += weight;                                                                \
    }                                                                                              \
  }                                                                                                \
  static void add_##NAME(const shrinking *by, const SAMPLE *row) {                                 \
    const size_t count = (size_t)by->source->width * by->channels;                                 \
    SUM *sums = by->sums;                                                                          \
    if (by->alpha) {                                                                               \
      return by->channels == 4 ? weigh_##NAME(sums, row, count, 4)                                 \
                               : weigh_##NAME(sums, row, count, 2);                                \
    }                                                                                              \
    for (size_t i = 0; i < count; i++) sums[i] += row[i];                                          \
  }                                                                                                \
  static INLINED void mean_##NAME##_of(const shrinking *by, uint32_t rows, SAMPLE *out,            \
                                       const int step, const bool alpha) {                         \
    const uint32_t width = by->source->width;                                                      \
    const uint64_t whole = (uint64_t)by->across * rows;                                            \
    const int shift = __builtin_ctzll(whole);                                                      \
    const bool shifts = !alpha && whole == (uint64_t)1 << shift;                                   \
    const SUM *sums = by->sums;                                                                    \
    for (uint32_t start = 0; start < width; start += by->across, out += step) {                    \
      const uint32_t across = width - start < by->across ? width - start : by->across;             \
      uint64_t square[4] = {0};                                                                    \
      for (uint32_t x = 0; x < across; x++, sums += step) {                                        \
        for (int channel = 0; channel < step; channel++) square[channel] += sums[channel];         \
      }                                                                                            \
      if (shifts && across == by->across) {                                                        \
        for (int channel = 0; channel < step; channel++) {                                         \
          out[channel] = (SAMPLE)((square[channel] + whole / 2) >> shift);                         \
        }                                                                                          \
        continue;                                                                                  \
      }                                                                                            \
      const uint64_t count = (uint64_t)across * rows;                                              \
      const uint64_t weight = alpha ? square[step - 1] : count;                                    \
      for (int channel = 0; channel < step - alpha; channel++) {                                   \
        out[channel] = weight ? (SAMPLE)((square[channel] + weight / 2) / weight) : 0;             \
      }                                                                                            \
      if (alpha) out[step - 1] = (SAMPLE)((weight + count / 2) / count);                           \
    }                                                                                              \
  }                                                                                                \
  static void mean_##NAME(const shrinking *by, uint32_t rows, SAMPLE *out) {                       \
    switch (by->channels) {                                                                        \
    case 1: return mean_##NAME##_of(by, rows, out, 1, false);                                      \
    case 2: return mean_##NAME##_of(by, rows, out, 2, by->alpha);                                  \
    case 3: return mean_##NAME##_of(by, rows, out, 3, false);                                      \
    default:                                                                                       \
      return by->alpha ? mean_##NAME##_of(by, rows, out, 4, true)                                  \
                       : mean_##NAME##_of(by, rows, out, 4, false);                                \
    }                                                                                              \
  }

// A sum of `most_rows` rows does not overflow: it is at most 255 × 255 × 65,536, or 65,535 × 65,535 × 65,536.
LOOPS(bytes, uint8_t, uint32_t)
LOOPS(words, uint16_t, uint64_t)

static uint32_t parts(uint32_t length, uint32_t size) { return (length + size - 1) / size; }

// If the squares consist of palette indices, the four channels of a colour are added at once, weighted by alpha if
// there is any. When 7000 pixels were scaled to 64, converting the indices to colours first made it a tenth slower.
typedef uint32_t numbers __attribute__((vector_size(16)));
typedef uint8_t colour __attribute__((vector_size(4)));

static INLINED void add_squares(const numbers *colours, numbers *sums, const uint8_t *row, uint32_t width,
                                const uint32_t across) {
  const uint32_t whole = width / across;
  for (uint32_t square = 0; square < whole; square++) {
    numbers sum = sums[square];
    for (uint32_t x = 0; x < across; x++) sum += colours[*row++];
    sums[square] = sum;
  }
  for (uint32_t x = whole * across; x < width; x++) sums[whole] += colours[*row++];
}

static void add_indices(const shrinking *by, const uint8_t *row) {
  const uint32_t width = by->source->width;
  switch (by->across) {
  case 1: return add_squares(by->numbers, by->sums, row, width, 1);
  case 2: return add_squares(by->numbers, by->sums, row, width, 2);
  default: return add_squares(by->numbers, by->sums, row, width, by->across);
  }
}

static void mean_indices(const shrinking *by, uint32_t rows, uint8_t *out) {
  const uint32_t width = by->source->width;
  const uint32_t whole = by->across * rows;
  const int shift = __builtin_ctz(whole);
  const bool shifts = !by->alpha && whole == (uint32_t)1 << shift;
  const numbers *sums = by->sums;
  for (uint32_t start = 0; start < width; start += by->across, sums++, out += 4) {
    const uint32_t across = width - start < by->across ? width - start : by->across;
    if (shifts && across == by->across) {
      const colour mean = __builtin_convertvector((*sums + whole / 2) >> shift, colour);
      memcpy(out, &mean, sizeof mean);
      continue;
    }
    const uint32_t count = across * rows;
    const uint32_t weight = by->alpha ? (*sums)[3] : count;
    for (int channel = 0; channel < 3; channel++) {
      out[channel] = weight ? (uint8_t)(((uint64_t)(*sums)[channel] + weight / 2) / weight) : 0;
    }
    out[3] = by->alpha ? (uint8_t)((weight + count / 2) / count) : 255;
  }
}

static void set_numbers(shrinking *by) {
  numbers *all = by->numbers;
  for (int index = 0; index < 256; index++) {
    uint8_t colour[4];
    memcpy(colour, &by->colours[index], 4);
    const uint32_t weight = by->alpha ? colour[3] : 1;
    all[index] = (numbers){colour[0] * weight, colour[1] * weight, colour[2] * weight, colour[3]};
  }
}

static size_t bytes_of_sums(const shrinking *by) {
  const uint32_t width = by->source->width;
  if (by->colours != NULL) return parts(width, by->across) * sizeof(numbers);
  return (size_t)width * by->channels * (by->wide ? sizeof(uint64_t) : sizeof(uint32_t));
}

static void add(const shrinking *by) {
  if (by->colours != NULL) {
    add_indices(by, by->row);
  } else if (by->wide) {
    add_words(by, (const uint16_t *)by->row);
  } else {
    add_bytes(by, by->row);
  }
}

static bool next(void *context, uint8_t *rows, uint32_t count) {
  shrinking *by = context;
  const size_t made = (size_t)parts(by->source->width, by->across) * by->channels;
  for (; count > 0; count--, rows += made * (by->wide ? 2 : 1)) {
    const uint32_t taken = by->left < by->down ? by->left : by->down;
    memset(by->sums, 0, bytes_of_sums(by));
    for (uint32_t y = 0; y < taken; y++) {
      if (!by->source->next(by->source->context, by->row, 1)) return false;
      add(by);
    }
    by->left -= taken;
    if (by->colours != NULL) {
      mean_indices(by, taken, rows);
    } else if (by->wide) {
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
  by->row = malloc((size_t)by->source->width * (by->colours ? 1 : by->channels * (by->wide ? 2 : 1)));
  by->sums = malloc(bytes_of_sums(by));
  if (by->colours != NULL) {
    by->numbers = malloc(256 * sizeof(numbers));
    if (by->numbers == NULL) return false;
    set_numbers(by);
  }
  *rows = (czimg_rows){width, parts(by->source->height, by->down), next, by};
  return by->row != NULL && by->sums != NULL;
}

void shrink_end(shrinking *by) {
  free(by->row);
  free(by->sums);
  free(by->numbers);
}
