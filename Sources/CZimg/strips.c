#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "CZimg.h"

// Rows of the source that are held, and where the first of them lies in it.
typedef struct {
  uint8_t *samples;
  size_t row_bytes;
  uint32_t first, count;
} strip;

// Rows of the source above and below a row of the target that the filter may take: three of the smaller
// picture's, and two for rounding.
static uint32_t reach(double ratio) { return (uint32_t)ceil(3 * fmax(ratio, 1)) + 2; }

// Lets go of rows before `first`, none of which lies behind those that are held, and reads on until there are
// all before `end`.
static bool advance(const czimg_rows *source, strip *held, uint32_t first, uint32_t end) {
  const uint32_t gone = first - held->first;
  held->first = first;
  held->count -= gone;
  memmove(held->samples, held->samples + gone * held->row_bytes, held->count * held->row_bytes);
  const uint32_t wanted = end - first - held->count;
  uint8_t *room = held->samples + held->count * held->row_bytes;
  held->count += wanted;
  return wanted == 0 || source->next(source->context, room, wanted);
}

bool czimg_scale_rows(const czimg_rows *source, const czimg_picture *target, bool alpha, size_t room,
                      bool portable) {
  const size_t pixel = (size_t)target->channels * (target->wide ? 2 : 1);
  const double ratio = (double)source->height / target->height;
  const uint32_t margin = reach(ratio);
  strip held = {.row_bytes = source->width * pixel};
  // The margins are scaled twice: rows for a few more than these are worth that.
  const double fit = ((double)room / (double)held.row_bytes - 2 * margin) / ratio;
  const uint32_t step = fit < 8 ? 8 : fit > target->height ? target->height : (uint32_t)fit;
  const double most = ceil(step * ratio) + 2 * margin + 2;
  const size_t rows = most < source->height ? (size_t)most : source->height;
  held.samples = malloc(rows * held.row_bytes);
  bool done = held.samples != NULL;
  for (uint32_t y = 0; done && y < target->height; y += step) {
    const uint32_t count = target->height - y < step ? target->height - y : step;
    const double top = y * ratio, height = count * ratio;
    const double low = floor(top) - margin, high = ceil(top + height) + margin;
    const uint32_t first = low < 0 ? 0 : (uint32_t)low;
    const uint32_t end = high > source->height ? source->height : (uint32_t)high;
    done = advance(source, &held, first, end);
    if (!done) break;
    const czimg_picture from = {
        .samples = held.samples,
        .width = source->width,
        .height = held.count,
        .channels = target->channels,
        .wide = target->wide,
    };
    czimg_picture to = *target;
    to.samples += (size_t)y * target->width * pixel;
    to.height = count;
    const czimg_part part = {0, top - first, source->width, height};
    done = czimg_scale(&from, part, &to, target->channels, alpha, portable);
  }
  free(held.samples);
  return done;
}
