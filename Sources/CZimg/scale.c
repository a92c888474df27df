#include "CZimg.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <zimg.h>

#define INLINED inline __attribute__((always_inline))

static size_t sample_bytes(const czimg_scaling *by) { return by->wide ? 2 : 1; }

// These loops are defined once for each sample size. Multiplying and dividing by alpha rounds to the nearest number. If
// the number of channels is a constant, a compiler can process several pixels at a time.
#define LOOPS(NAME, SAMPLE, ONE)                                                                   \
  static INLINED void pick_##NAME(const SAMPLE *row, uint32_t width, const int step, int channel,  \
                                  SAMPLE *out) {                                                   \
    for (uint32_t x = 0; x < width; x++) out[x] = row[x * step + channel];                         \
  }                                                                                                \
  static void split_##NAME(const czimg_scaling *by, const void *from, int channel, void *to) {     \
    const SAMPLE *row = from;                                                                      \
    SAMPLE *out = to;                                                                              \
    const uint32_t width = by->width;                                                              \
    const int step = by->channels;                                                                 \
    if (by->alpha && channel < step - 1) {                                                         \
      for (uint32_t x = 0; x < width; x++, row += step) {                                          \
        out[x] = (SAMPLE)(((uint64_t)row[channel] * row[step - 1] + ONE / 2) / ONE);               \
      }                                                                                            \
      return;                                                                                      \
    }                                                                                              \
    switch (step) {                                                                                \
    case 1: return pick_##NAME(row, width, 1, channel, out);                                       \
    case 2: return pick_##NAME(row, width, 2, channel, out);                                       \
    case 3: return pick_##NAME(row, width, 3, channel, out);                                       \
    default: return pick_##NAME(row, width, 4, channel, out);                                      \
    }                                                                                              \
  }                                                                                                \
  static void join_##NAME(const czimg_scaling *by, const char *from, size_t stride,                \
                          uint32_t count, int channel, void *to) {                                 \
    const int step = by->channels;                                                                 \
    const uint32_t width = by->made_width;                                                         \
    SAMPLE *row = (SAMPLE *)to + channel;                                                          \
    for (uint32_t y = 0; y < count; y++, from += stride, row += (size_t)width * step) {            \
      for (uint32_t x = 0; x < width; x++) row[x * step] = ((const SAMPLE *)from)[x];              \
    }                                                                                              \
  }                                                                                                \
  static void divide_##NAME(const czimg_scaling *by, uint32_t count, void *rows) {                 \
    const int step = by->channels;                                                                 \
    SAMPLE *pixel = rows;                                                                          \
    for (size_t left = (size_t)by->made_width * count; left > 0; left--, pixel += step) {          \
      const uint64_t alpha = pixel[step - 1];                                                      \
      for (int channel = 0; channel < step - 1; channel++) {                                       \
        uint64_t light = alpha ? (pixel[channel] * (uint64_t)ONE + alpha / 2) / alpha : 0;         \
        pixel[channel] = (SAMPLE)(light > ONE ? ONE : light);                                      \
      }                                                                                            \
    }                                                                                              \
  }

LOOPS(bytes, uint8_t, 255)
LOOPS(words, uint16_t, 65535)

// A filter graph of zimg, and the arguments with which it was built. They have no unused bytes between them.
typedef struct {
  double x, y, part_width, part_height;
  uint32_t width, height, made_width, made_height, wide, portable;
} arguments;

typedef struct {
  arguments arguments;
  zimg_filter_graph *graph;
} scaler;

// A cache of one scaler, the one that was used last. Most pictures of a batch are scaled in the same way, and building
// a filter graph takes as long as scaling a small picture. A thread that takes the scaler out of the cache owns it
// until it puts the scaler back.
static _Atomic(scaler *) last;

static void scaler_free(scaler *scaler) {
  if (scaler) zimg_filter_graph_free(scaler->graph);
  free(scaler);
}

static zimg_filter_graph *build(const arguments *by) {
  zimg_image_format from, to;
  zimg_image_format_default(&from, ZIMG_API_VERSION);
  from.width = by->width;
  from.height = by->height;
  from.pixel_type = by->wide ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
  from.depth = by->wide ? 16 : 8;
  from.color_family = ZIMG_COLOR_GREY;
  from.pixel_range = ZIMG_RANGE_FULL;
  to = from;
  to.width = by->made_width;
  to.height = by->made_height;
  from.active_region.left = by->x;
  from.active_region.top = by->y;
  from.active_region.width = by->part_width;
  from.active_region.height = by->part_height;
  zimg_graph_builder_params params;
  zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
  params.resample_filter = ZIMG_RESIZE_LANCZOS;
  params.dither_type = ZIMG_DITHER_NONE;
  // ZIMG_CPU_AUTO_64B is not used, because zimg's AVX-512 code reads wrong samples before 3.0.6. It does so for every
  // 16th column if a picture becomes a little less than half as wide.
  params.cpu_type = by->portable ? ZIMG_CPU_NONE : ZIMG_CPU_AUTO;
  return zimg_filter_graph_build(&from, &to, &params);
}

// Takes the scaler from the cache if it was built with the same arguments, and builds one otherwise. Returns NULL if
// there is not enough memory.
static scaler *scaler_take(const arguments *arguments) {
  scaler *taken = atomic_exchange(&last, NULL);
  if (taken && memcmp(&taken->arguments, arguments, sizeof *arguments) == 0) return taken;
  scaler_free(taken);
  taken = malloc(sizeof *taken);
  if (taken == NULL) return NULL;
  *taken = (scaler){*arguments, build(arguments)};
  if (taken->graph) return taken;
  free(taken);
  return NULL;
}

// Beyond the edge of a picture, zimg mirrors the picture, which makes a result of a few dozen pixels 2 dB worse. So the
// outermost samples are repeated in a border around the picture, as other programs do. A border that is as wide as one
// pixel of the result contains nearly all samples that the filter reaches. If such a pixel is wider than `most`
// samples, a border of `most` samples is enough. This is the width of the border if there are `there` samples already.
static uint32_t missing(double ratio, double there) {
  enum { most = 128 };
  const double wanted = fmin(fmax(ratio, 1), most);
  return there < wanted ? (uint32_t)ceil(wanted - there) : 0;
}

bool czimg_open(czimg_scaling *by, size_t room) {
  const double across = by->part_width / by->made_width;
  by->ratio = by->part_height / by->made_height;
  // The filter uses the picture rows that three rows of the smaller picture cover, plus two for rounding.
  by->margin = (uint32_t)ceil(3 * fmax(by->ratio, 1)) + 2;
  by->step = by->made_height;
  by->held = by->height;
  if (room > 0) {
    // Each strip scales its margins again, which takes a tenth of the time when 7000 pixels become 257 or 1200. So a
    // strip makes at least eight rows, even if they need more memory.
    const double row_bytes = (double)by->width * by->channels * sample_bytes(by);
    const double fit = (room / row_bytes - 2 * by->margin) / by->ratio;
    by->step = fit < 8 ? 8 : fit > by->made_height ? by->made_height : (uint32_t)fit;
    by->held = (uint32_t)fmin(ceil(by->step * by->ratio) + 2 * by->margin + 2, by->height);
  }
  by->left = missing(across, by->part_x);
  by->right = missing(across, by->width - by->part_x - by->part_width);
  // The border is widest above the first row. Below the last row, it may be one row larger, because of rounding.
  by->top = missing(by->ratio, 0);
  by->stride = ((by->left + by->width + by->right) * sample_bytes(by) + 63) / 64 * 64;
  by->plane = by->stride * (2 * (size_t)by->top + by->held + 1);
  by->planes = aligned_alloc(64, by->plane * by->scaled);
  return by->planes != NULL;
}

void czimg_close(czimg_scaling *by) { free(by->planes); }

uint32_t czimg_begin(czimg_scaling *by, uint32_t count) {
  const double top = by->part_y + by->made * by->ratio, height = count * by->ratio;
  const double low = floor(top) - by->margin, high = ceil(top + height) + by->margin;
  const bool is_all = count == by->made_height && by->held >= by->height;
  const uint32_t first = low < 0 || is_all ? 0 : (uint32_t)low;
  const uint32_t kept = by->end > first ? by->end - first : 0;
  for (int channel = 0; channel < by->scaled && kept > 0; channel++) {
    char *start = by->planes + channel * by->plane + by->top * by->stride;
    memmove(start, start + (first - by->first) * by->stride, kept * by->stride);
  }
  by->first = first;
  const uint32_t end = high > by->height || is_all ? by->height : (uint32_t)high;
  if (end > by->end) by->end = end;
  return by->end - by->next;
}

void czimg_take(czimg_scaling *by, const void *row) {
  // The part to scale may start far below the first row.
  const uint32_t y = by->next++;
  if (y < by->first) return;
  const size_t bytes = sample_bytes(by);
  for (int channel = 0; channel < by->scaled; channel++) {
    char *start = by->planes + channel * by->plane + (by->top + y - by->first) * by->stride + by->left * bytes;
    char *end = start + by->width * bytes;
    (by->wide ? split_words : split_bytes)(by, row, channel, start);
    for (uint32_t x = 1; x <= by->left; x++) memcpy(start - x * bytes, start, bytes);
    for (uint32_t x = 0; x < by->right; x++) memcpy(end + x * bytes, end - bytes, bytes);
  }
}

// Scales a plane to `out`. The border above and below the picture is filled with the picture's outermost samples.
static bool scale(const czimg_scaling *by, const scaler *scaler, char *plane, uint32_t top, uint32_t bottom, char *out,
                  size_t stride, void *scratch) {
  char *first = plane + by->top * by->stride, *end = first + (by->end - by->first) * by->stride;
  for (uint32_t y = 1; y <= top; y++) memcpy(first - y * by->stride, first, by->stride);
  for (uint32_t y = 0; y < bottom; y++) memcpy(end + y * by->stride, end - by->stride, by->stride);
  const zimg_image_buffer_const from = {
      ZIMG_API_VERSION, {{first - top * by->stride, (ptrdiff_t)by->stride, ZIMG_BUFFER_MAX}}};
  const zimg_image_buffer to = {ZIMG_API_VERSION, {{out, (ptrdiff_t)stride, ZIMG_BUFFER_MAX}}};
  return !zimg_filter_graph_process(scaler->graph, &from, &to, scratch, NULL, NULL, NULL, NULL);
}

bool czimg_make(czimg_scaling *by, void *rows, uint32_t count) {
  const double y = by->part_y + by->made * by->ratio - by->first, height = count * by->ratio;
  const uint32_t held = by->end - by->first;
  const uint32_t top = missing(height / count, y), bottom = missing(height / count, held - y - height);
  scaler *scaler = scaler_take(&(arguments){
      .x = by->part_x + by->left,
      .y = y + top,
      .part_width = by->part_width,
      .part_height = height,
      .width = by->left + by->width + by->right,
      .height = top + held + bottom,
      .made_width = by->made_width,
      .made_height = count,
      .wide = by->wide,
      .portable = by->portable,
  });
  const size_t stride = (by->made_width * sample_bytes(by) + 63) / 64 * 64;
  char *out = aligned_alloc(64, stride * count), *scratch = NULL;
  size_t room = 0;
  bool done = out && scaler && !zimg_filter_graph_get_tmp_size(scaler->graph, &room) &&
              (scratch = aligned_alloc(64, (room + 64) / 64 * 64));
  if (by->scaled < by->channels) memset(rows, 255, (size_t)by->made_width * count * by->channels * sample_bytes(by));
  for (int channel = 0; done && channel < by->scaled; channel++) {
    done = scale(by, scaler, by->planes + channel * by->plane, top, bottom, out, stride, scratch);
    if (done) (by->wide ? join_words : join_bytes)(by, out, stride, count, channel, rows);
  }
  if (done && by->alpha) (by->wide ? divide_words : divide_bytes)(by, count, rows);
  free(scratch);
  free(out);
  if (scaler) scaler_free(atomic_exchange(&last, scaler));
  by->made += count;
  return done;
}
