#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "scale.h"
#include "shrink.h"

// The source rows that are in memory: a plane for each scaled channel, the number of the first row, and the number of
// rows.
typedef struct {
  plane planes[4];
  uint32_t first, count;
} strip;

// The number of source rows, above and below a target row, that the filter may use. This is the number of rows that
// three rows of the smaller picture cover, plus two for rounding.
static uint32_t reach(double ratio) { return (uint32_t)ceil(3 * fmax(ratio, 1)) + 2; }

// How the source is divided into strips for the rows of the target.
typedef struct {
  // `ratio` is the number of source rows for each target row. `margin` is the number of further source rows, above and
  // below, that the filter may use.
  double ratio;
  uint32_t margin;
  // `step` is the number of target rows that are made at a time. `rows` is the number of source rows that are in memory
  // for them.
  uint32_t step;
  size_t rows;
} plan;

static plan plan_strips(double height, double part, size_t row_bytes, uint32_t target, size_t room) {
  plan plan = {.ratio = part / target};
  plan.margin = reach(plan.ratio);
  if (room == 0) {
    plan.step = target;
    plan.rows = (size_t)ceil(height);
    return plan;
  }
  // Each strip scales its margins again. So a strip makes at least eight rows, even if they need more memory.
  const double fit = ((double)room / (double)row_bytes - 2 * plan.margin) / plan.ratio;
  plan.step = fit < 8 ? 8 : fit > target ? target : (uint32_t)fit;
  const double most = ceil(plan.step * plan.ratio) + 2 * plan.margin + 2;
  plan.rows = most < height ? (size_t)most : (size_t)ceil(height);
  return plan;
}

// If a picture is scaled to a very small size, the filter needs many rows. If these rows take more than twice `room`
// bytes, the picture is reduced first: each square of pixels becomes its mean. The filter still has four means for each
// pixel of the result, so the difference is hardly visible.
static void choose_squares(const czimg_rows *source, czimg_part part, const czimg_picture *target, size_t pixel,
                           size_t room, shrinking *by) {
  by->across = by->down = 1;
  if (room == 0) return;
  for (;;) {
    const size_t row_bytes = source->width / by->across * pixel;
    const plan plan = plan_strips((double)source->height / by->down, part.height / by->down, row_bytes, target->height, room);
    const bool across = part.width / by->across / 8 >= target->width;
    const bool down = by->down < most_rows && part.height / by->down / 8 >= target->height;
    if (plan.rows * row_bytes <= room * 2 || !(across || down)) return;
    // The sums of a square must not overflow.
    if (by->colours != NULL && (uint64_t)by->across * by->down > most_rows / 4) return;
    if (across) by->across *= 2;
    if (down) by->down *= 2;
  }
}

// A picture that is scaled row by row, on demand.
typedef struct {
  // `source` is the picture. `scaled` is the input of the scaler: the picture itself, or the means of its squares.
  czimg_rows source, scaled;
  shrinking by;
  // The part to scale, and the height of the scaler's whole input. If the last row is the mean of fewer rows than the
  // others are, the height is not a whole number.
  czimg_part part;
  double height;
  // The shapes of the scaler's input and output; their samples are in the caller's memory.
  czimg_picture shape, target;
  int channels;
  bool alpha, portable;
  plan plan;
  strip held;
  // The widest border that a strip may have.
  border around;
  // `rows` is a buffer for up to `most` rows that will be split into planes. `coloured` is one row of colours, if the
  // source has palette indices.
  uint8_t *rows, *coloured;
  uint32_t most;
  const uint32_t *colours;
  uint32_t made;
} scaling;

// Splits the samples of a row into the planes.
static void take_row(scaling *by, uint32_t y, const uint8_t *row) {
  for (int channel = 0; channel < by->channels; channel++) {
    const bool multiplied = by->alpha && channel < by->channels - 1;
    plane_take(&by->held.planes[channel], y, row, &by->shape, channel, multiplied, by->around);
  }
}

// Replaces palette indices by their colours.
static void look_up(const uint32_t *colours, const uint8_t *indices, uint32_t count, uint32_t *out) {
  for (uint32_t x = 0; x < count; x++) out[x] = colours[indices[x]];
}

// Reads the next rows into the planes, where they begin at row `y`.
static bool take(scaling *by, uint32_t y, uint32_t count) {
  const bool looks = by->coloured != NULL;
  const size_t row_bytes = (size_t)by->shape.width * (looks ? 1 : bytes_of_pixel(&by->shape));
  while (count > 0) {
    const uint32_t taken = count < by->most ? count : by->most;
    if (!by->scaled.next(by->scaled.context, by->rows, taken)) return false;
    for (uint32_t row = 0; row < taken; row++, y++) {
      const uint8_t *samples = by->rows + row * row_bytes;
      if (looks) {
        look_up(by->colours, samples, by->shape.width, (uint32_t *)by->coloured);
        samples = by->coloured;
      }
      take_row(by, y, samples);
    }
    count -= taken;
  }
  return true;
}

// Reads and discards `count` rows that no row of the target needs.
static bool pass(scaling *by, uint32_t count) {
  while (count > 0) {
    const uint32_t taken = count < by->most ? count : by->most;
    if (!by->scaled.next(by->scaled.context, by->rows, taken)) return false;
    count -= taken;
  }
  return true;
}

// Drops the rows before `first`, and reads the rows before row `end`.
static bool advance(scaling *by, uint32_t first, uint32_t end) {
  strip *held = &by->held;
  const uint32_t reached = held->first + held->count;
  const uint32_t kept = reached > first ? reached - first : 0, gone = held->count - kept;
  for (int channel = 0; channel < by->channels && gone > 0 && kept > 0; channel++) {
    const plane *plane = &held->planes[channel];
    char *start = plane->samples + by->around.top * plane->stride;
    memmove(start, start + gone * plane->stride, kept * plane->stride);
  }
  // The part to scale may start far below the first row.
  if (first > reached && !pass(by, first - reached)) return false;
  held->first = first;
  held->count = end - first;
  return take(by, kept, end - first - kept);
}

static const plane *plane_of(void *context, int channel) {
  const scaling *by = context;
  return &by->held.planes[channel];
}

// Makes the next `count` rows of the target. `count` is at most `plan.step`.
static bool make(scaling *by, uint8_t *rows, uint32_t count) {
  const double top = by->part.y + by->made * by->plan.ratio, height = count * by->plan.ratio;
  const double low = floor(top) - by->plan.margin, high = ceil(top + height) + by->plan.margin;
  const bool is_all = count == by->target.height && by->plan.rows >= by->scaled.height;
  const uint32_t first = low < 0 || is_all ? 0 : (uint32_t)low;
  const uint32_t end = high > by->scaled.height || is_all ? by->scaled.height : (uint32_t)high;
  if (!advance(by, first, end)) return false;
  czimg_picture from = by->shape, to = by->target;
  from.height = by->held.count;
  to.samples = rows;
  to.height = count;
  by->made += count;
  const czimg_part part = {by->part.x, top - first, by->part.width, height};
  const border around = border_of(&from, part, &to);
  return planes_scale(&from, part, around, &to, by->channels, by->alpha, by->portable, plane_of, by);
}

static bool next(void *context, uint8_t *rows, uint32_t count) {
  scaling *by = context;
  const size_t row_bytes = by->target.width * bytes_of_pixel(&by->target);
  if (count > by->target.height - by->made) return false;
  while (count > 0) {
    const uint32_t step = count < by->plan.step ? count : by->plan.step;
    if (!make(by, rows, step)) return false;
    rows += step * row_bytes;
    count -= step;
  }
  return true;
}

// Allocates the planes, and a buffer for the rows that are read into them.
static bool make_room(scaling *by) {
  // The buffer is so small that its rows are still in the processor's cache when they are split.
  enum { on_their_way = 1 << 17 };
  const bool looks = by->colours != NULL && by->scaled.context != &by->by;
  const size_t row_bytes = (size_t)by->shape.width * (looks ? 1 : bytes_of_pixel(&by->shape));
  const size_t fit = on_their_way / row_bytes;
  by->most = fit < 1 ? 1 : (uint32_t)fit;
  by->rows = malloc(by->most * row_bytes);
  if (looks) by->coloured = malloc(by->shape.width * bytes_of_pixel(&by->shape));
  if (by->rows == NULL || (looks && by->coloured == NULL)) return false;
  czimg_picture room = by->shape, row = by->target;
  room.height = (uint32_t)by->plan.rows;
  row.height = 1;
  // The border is widest above the first row. Below the last row, it may be one row larger, because of rounding.
  by->around = border_of(&by->shape, (czimg_part){by->part.x, 0, by->part.width, by->plan.ratio}, &row);
  by->around.bottom = by->around.top + 1;
  for (int channel = 0; channel < by->channels; channel++) {
    if (!plane_begin(&by->held.planes[channel], &room, by->around)) return false;
  }
  return true;
}

bool czimg_scaling_open(const czimg_rows *source, czimg_part part, const uint32_t *colours, const czimg_picture *target,
                        int scaled, bool alpha, size_t room, bool portable, czimg_rows *made) {
  *made = (czimg_rows){target->width, target->height, next, NULL};
  scaling *by = calloc(1, sizeof *by);
  if (by == NULL) return false;
  made->context = by;
  by->source = by->scaled = *source;
  by->target = by->shape = *target;
  // Palette indices become colours of four bytes.
  if (colours != NULL) by->shape.channels = 4;
  by->colours = colours;
  by->channels = scaled;
  by->alpha = alpha;
  by->portable = portable;
  by->by = (shrinking){.source = &by->source,
                       .colours = colours,
                       .channels = by->shape.channels,
                       .wide = target->wide,
                       .alpha = alpha};
  const size_t pixel = bytes_of_pixel(target);
  choose_squares(source, part, target, pixel, room, &by->by);
  const double across = by->by.across, down = by->by.down;
  by->part = (czimg_part){part.x / across, part.y / down, part.width / across, part.height / down};
  by->height = source->height / down;
  const bool is_shrunk = by->by.across > 1 || by->by.down > 1;
  if (is_shrunk && !shrink_begin(&by->by, &by->scaled)) return false;
  by->shape.width = by->scaled.width;
  // Each strip scales the margins of its filter again, which takes a tenth of the time when 7000 pixels become 257 or
  // 1200. Palette indices need little other memory, so their strips may be twice as high. Still higher strips would
  // take memory that a large canvas needs.
  const size_t held = colours == NULL ? room : room * 2;
  by->plan = plan_strips(by->height, by->part.height, by->scaled.width * pixel, target->height, held);
  return make_room(by);
}

void czimg_scaling_close(czimg_rows *made) {
  scaling *by = made->context;
  if (by == NULL) return;
  shrink_end(&by->by);
  for (int channel = 0; channel < by->channels; channel++) free(by->held.planes[channel].samples);
  free(by->rows);
  free(by->coloured);
  free(by);
  made->context = NULL;
}
