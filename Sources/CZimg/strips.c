#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shrink.h"

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

// How a picture is cut into strips for the rows of its target.
typedef struct {
  // Rows of the source for one of the target, and the rows around them that the filter may take.
  double ratio;
  uint32_t margin;
  // Rows of the target that are made at a time, and those of the source that are held for them.
  uint32_t step;
  size_t rows;
} plan;

static plan plan_strips(double height, size_t row_bytes, uint32_t target, size_t room) {
  plan plan = {.ratio = height / target};
  plan.margin = reach(plan.ratio);
  // The margins are scaled twice: rows for a few more than these are worth that.
  const double fit = ((double)room / (double)row_bytes - 2 * plan.margin) / plan.ratio;
  plan.step = fit < 8 ? 8 : fit > target ? target : (uint32_t)fit;
  const double most = ceil(plan.step * plan.ratio) + 2 * plan.margin + 2;
  plan.rows = most < height ? (size_t)most : (size_t)ceil(height);
  return plan;
}

// Where a picture becomes so small that the rows that the filter reaches for take more than twice the room, it is made
// smaller first, by means of squares. The filter keeps four pixels for each, so that this is hardly to be seen.
static void choose_squares(const czimg_rows *source, const czimg_picture *target, size_t pixel, size_t room,
                           shrinking *by) {
  by->across = by->down = 1;
  for (;;) {
    const size_t row_bytes = source->width / by->across * pixel;
    const plan plan = plan_strips((double)source->height / by->down, row_bytes, target->height, room);
    const bool across = source->width / by->across / 8 >= target->width;
    const bool down = by->down < most_rows && source->height / by->down / 8 >= target->height;
    if (plan.rows * row_bytes <= room * 2 || !(across || down)) return;
    if (across) by->across *= 2;
    if (down) by->down *= 2;
  }
}

// Scales rows, of which there are `height`, and `width` pixels in each: not whole ones where the last stand for less.
static bool scale_strips(const czimg_rows *source, double width, double height, const czimg_picture *target,
                         bool alpha, size_t room, bool portable) {
  const size_t pixel = (size_t)target->channels * (target->wide ? 2 : 1);
  strip held = {.row_bytes = source->width * pixel};
  const plan plan = plan_strips(height, held.row_bytes, target->height, room);
  held.samples = malloc(plan.rows * held.row_bytes);
  bool done = held.samples != NULL;
  for (uint32_t y = 0; done && y < target->height; y += plan.step) {
    const uint32_t count = target->height - y < plan.step ? target->height - y : plan.step;
    const double top = y * plan.ratio, part_height = count * plan.ratio;
    const double low = floor(top) - plan.margin, high = ceil(top + part_height) + plan.margin;
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
    const czimg_part part = {0, top - first, width, part_height};
    done = czimg_scale(&from, part, &to, target->channels, alpha, portable);
  }
  free(held.samples);
  return done;
}

bool czimg_scale_rows(const czimg_rows *source, const czimg_picture *target, bool alpha, size_t room,
                      bool portable) {
  const size_t pixel = (size_t)target->channels * (target->wide ? 2 : 1);
  shrinking by = {.source = source, .channels = target->channels, .wide = target->wide, .alpha = alpha};
  choose_squares(source, target, pixel, room, &by);
  if (by.across == 1 && by.down == 1) {
    return scale_strips(source, source->width, source->height, target, alpha, room, portable);
  }
  czimg_rows smaller;
  const bool done = shrink_begin(&by, &smaller) &&
                    scale_strips(&smaller, (double)source->width / by.across,
                                 (double)source->height / by.down, target, alpha, room, portable);
  shrink_end(&by);
  return done;
}
