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

// A picture that is scaled as its rows are asked for.
typedef struct {
  // The picture, and what is scaled: the picture itself, or means of its squares.
  czimg_rows source, scaled;
  shrinking by;
  // Not whole pixels where the last stand for less than the others.
  double width, height;
  // The shape of what is made, whose samples are the caller's.
  czimg_picture target;
  int channels;
  bool alpha, portable;
  plan plan;
  strip held;
  uint32_t made;
} scaling;

// Makes the next rows, as many as are planned at most.
static bool make(scaling *by, uint8_t *rows, uint32_t count) {
  const double top = by->made * by->plan.ratio, height = count * by->plan.ratio;
  const double low = floor(top) - by->plan.margin, high = ceil(top + height) + by->plan.margin;
  const uint32_t first = low < 0 ? 0 : (uint32_t)low;
  const uint32_t end = high > by->scaled.height ? by->scaled.height : (uint32_t)high;
  if (!advance(&by->scaled, &by->held, first, end)) return false;
  const czimg_picture from = {
      .samples = by->held.samples,
      .width = by->scaled.width,
      .height = by->held.count,
      .channels = by->target.channels,
      .wide = by->target.wide,
  };
  czimg_picture to = by->target;
  to.samples = rows;
  to.height = count;
  by->made += count;
  const czimg_part part = {0, top - first, by->width, height};
  return czimg_scale(&from, part, &to, by->channels, by->alpha, by->portable);
}

static bool next(void *context, uint8_t *rows, uint32_t count) {
  scaling *by = context;
  const size_t row_bytes = (size_t)by->target.width * by->target.channels * (by->target.wide ? 2 : 1);
  if (count > by->target.height - by->made) return false;
  while (count > 0) {
    const uint32_t step = count < by->plan.step ? count : by->plan.step;
    if (!make(by, rows, step)) return false;
    rows += step * row_bytes;
    count -= step;
  }
  return true;
}

bool czimg_scaling_open(const czimg_rows *source, const czimg_picture *target, int scaled, bool alpha,
                        size_t room, bool portable, czimg_rows *made) {
  *made = (czimg_rows){target->width, target->height, next, NULL};
  scaling *by = calloc(1, sizeof *by);
  if (by == NULL) return false;
  made->context = by;
  by->source = by->scaled = *source;
  by->target = *target;
  by->channels = scaled;
  by->alpha = alpha;
  by->portable = portable;
  by->by = (shrinking){
      .source = &by->source, .channels = target->channels, .wide = target->wide, .alpha = alpha};
  const size_t pixel = (size_t)target->channels * (target->wide ? 2 : 1);
  choose_squares(source, target, pixel, room, &by->by);
  by->width = (double)source->width / by->by.across;
  by->height = (double)source->height / by->by.down;
  const bool is_shrunk = by->by.across > 1 || by->by.down > 1;
  if (is_shrunk && !shrink_begin(&by->by, &by->scaled)) return false;
  by->held.row_bytes = by->scaled.width * pixel;
  by->plan = plan_strips(by->height, by->held.row_bytes, target->height, room);
  by->held.samples = malloc(by->plan.rows * by->held.row_bytes);
  return by->held.samples != NULL;
}

void czimg_scaling_close(czimg_rows *made) {
  scaling *by = made->context;
  if (by == NULL) return;
  shrink_end(&by->by);
  free(by->held.samples);
  free(by);
  made->context = NULL;
}
