#include "CZimg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <zimg.h>

void czimg_interface(int *built, int *found) {
  *built = ZIMG_API_VERSION;
  *found = (int)zimg_get_api_version(NULL, NULL);
}

// One channel, rows aligned as zimg wants them; `picture` is where the first sample of the picture lies, which may have
// more samples around it.
typedef struct {
  char *samples, *picture;
  ptrdiff_t stride;
} plane;

// Samples around a picture, as many as are in its way.
typedef struct {
  uint32_t left, top, right, bottom;
} border;

static size_t sample_bytes(const czimg_picture *picture) { return picture->wide ? 2 : 1; }

static bool plane_begin(plane *plane, const czimg_picture *picture, border around) {
  const size_t width = around.left + picture->width + around.right;
  const size_t height = around.top + picture->height + around.bottom;
  plane->stride = (ptrdiff_t)((width * sample_bytes(picture) + 63) / 64 * 64);
  plane->samples = aligned_alloc(64, (size_t)plane->stride * height);
  if (plane->samples == NULL) return false;
  plane->picture = plane->samples + around.top * plane->stride + around.left * sample_bytes(picture);
  return true;
}

// Beyond the border of a picture zimg takes it for mirrored there, which costs what is made of a few dozen pixels 2 dB.
// Elsewhere the outermost sample stands for all beyond it. The width of one pixel of the target has nearly all that the
// filter reaches for there; where that is very wide, a part of it has to do.
static uint32_t missing(double ratio, double there) {
  enum { most = 128 };
  const double wanted = fmin(fmax(ratio, 1), most);
  return there < wanted ? (uint32_t)ceil(wanted - there) : 0;
}

static border border_of(const czimg_picture *source, czimg_part part, const czimg_picture *target) {
  const double across = part.width / target->width, down = part.height / target->height;
  return (border){
      .left = missing(across, part.x),
      .top = missing(down, part.y),
      .right = missing(across, source->width - part.x - part.width),
      .bottom = missing(down, source->height - part.y - part.height),
  };
}

// Fills what is around a picture with its outermost samples.
static void plane_extend(const plane *plane, const czimg_picture *picture, border around) {
  const size_t bytes = sample_bytes(picture), row_bytes = picture->width * bytes;
  for (uint32_t y = 0; y < picture->height; y++) {
    char *row = plane->picture + plane->stride * y, *end = row + row_bytes;
    for (uint32_t x = 1; x <= around.left; x++) memcpy(row - x * bytes, row, bytes);
    for (uint32_t x = 0; x < around.right; x++) memcpy(end + x * bytes, end - bytes, bytes);
  }
  const char *first = plane->samples + around.top * plane->stride;
  const char *last = first + plane->stride * (picture->height - 1);
  const size_t whole = row_bytes + (around.left + around.right) * bytes;
  for (uint32_t y = 0; y < around.top; y++) memcpy(plane->samples + plane->stride * y, first, whole);
  for (uint32_t y = 1; y <= around.bottom; y++) memcpy((char *)last + plane->stride * y, last, whole);
}

static zimg_image_format format_of(const czimg_picture *picture) {
  zimg_image_format format;
  zimg_image_format_default(&format, ZIMG_API_VERSION);
  format.width = picture->width;
  format.height = picture->height;
  format.pixel_type = picture->wide ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE;
  format.depth = picture->wide ? 16 : 8;
  format.color_family = ZIMG_COLOR_GREY;
  format.pixel_range = ZIMG_RANGE_FULL;
  return format;
}

static zimg_filter_graph *graph_of(const czimg_picture *source, czimg_part part, border around,
                                   const czimg_picture *target, bool portable) {
  zimg_image_format from = format_of(source), to = format_of(target);
  from.width += around.left + around.right;
  from.height += around.top + around.bottom;
  from.active_region.left = part.x + around.left;
  from.active_region.top = part.y + around.top;
  from.active_region.width = part.width;
  from.active_region.height = part.height;
  zimg_graph_builder_params params;
  zimg_graph_builder_params_default(&params, ZIMG_API_VERSION);
  params.resample_filter = ZIMG_RESIZE_LANCZOS;
  params.dither_type = ZIMG_DITHER_NONE;
  // Never ZIMG_CPU_AUTO_64B: before 3.0.6, zimg's AVX-512 code reads wrong samples for every 16th column
  // where a picture becomes a little less than half as wide.
  params.cpu_type = portable ? ZIMG_CPU_NONE : ZIMG_CPU_AUTO;
  return zimg_filter_graph_build(&from, &to, &params);
}

// The loops, once for each width of a sample. Alpha rounds to nearest both ways.
#define LOOPS(NAME, SAMPLE, ONE)                                                                   \
  static void split_##NAME(const czimg_picture *from, int channel, bool multiplied, plane *to) {   \
    const int step = from->channels;                                                               \
    for (uint32_t y = 0; y < from->height; y++) {                                                  \
      const SAMPLE *row = (const SAMPLE *)from->samples + (size_t)y * from->width * step;          \
      SAMPLE *out = (SAMPLE *)(to->picture + to->stride * y);                                      \
      if (multiplied) {                                                                            \
        for (uint32_t x = 0; x < from->width; x++) {                                               \
          out[x] = (SAMPLE)(((uint64_t)row[x * step + channel] * row[x * step + step - 1] +        \
                             ONE / 2) / ONE);                                                      \
        }                                                                                          \
      } else {                                                                                     \
        for (uint32_t x = 0; x < from->width; x++) out[x] = row[x * step + channel];               \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void join_##NAME(const plane *from, const czimg_picture *to, int channel) {               \
    const int step = to->channels;                                                                 \
    for (uint32_t y = 0; y < to->height; y++) {                                                    \
      SAMPLE *row = (SAMPLE *)to->samples + (size_t)y * to->width * step;                          \
      const SAMPLE *in = (const SAMPLE *)(from->picture + from->stride * y);                       \
      for (uint32_t x = 0; x < to->width; x++) row[x * step + channel] = in[x];                    \
    }                                                                                              \
  }                                                                                                \
  static void divide_##NAME(const czimg_picture *to) {                                             \
    const int step = to->channels;                                                                 \
    SAMPLE *pixel = (SAMPLE *)to->samples;                                                         \
    for (size_t left = (size_t)to->width * to->height; left > 0; left--, pixel += step) {          \
      const uint64_t alpha = pixel[step - 1];                                                      \
      for (int channel = 0; channel < step - 1; channel++) {                                       \
        uint64_t light = alpha ? (pixel[channel] * (uint64_t)ONE + alpha / 2) / alpha : 0;         \
        pixel[channel] = (SAMPLE)(light > ONE ? ONE : light);                                      \
      }                                                                                            \
    }                                                                                              \
  }

LOOPS(bytes, uint8_t, 255)
LOOPS(words, uint16_t, 65535)

static bool scale(const czimg_picture *source, border around, const czimg_picture *target, int scaled,
                  bool alpha, const zimg_filter_graph *graph, plane *from, plane *to, void *scratch) {
  for (int channel = 0; channel < scaled; channel++) {
    const bool multiplied = alpha && channel < scaled - 1;
    (source->wide ? split_words : split_bytes)(source, channel, multiplied, from);
    plane_extend(from, source, around);
    zimg_image_buffer_const in = {ZIMG_API_VERSION};
    zimg_image_buffer out = {ZIMG_API_VERSION};
    in.plane[0].data = from->samples;
    in.plane[0].stride = from->stride;
    in.plane[0].mask = ZIMG_BUFFER_MAX;
    out.plane[0].data = to->samples;
    out.plane[0].stride = to->stride;
    out.plane[0].mask = ZIMG_BUFFER_MAX;
    if (zimg_filter_graph_process(graph, &in, &out, scratch, NULL, NULL, NULL, NULL)) return false;
    (target->wide ? join_words : join_bytes)(to, target, channel);
  }
  if (alpha) (target->wide ? divide_words : divide_bytes)(target);
  return true;
}

bool czimg_scale(const czimg_picture *source, czimg_part part, const czimg_picture *target, int scaled,
                 bool alpha, bool portable) {
  const border around = border_of(source, part, target);
  plane from = {.samples = NULL}, to = {.samples = NULL};
  void *scratch = NULL;
  bool done = false;
  size_t room = 0;
  if (scaled < target->channels) {
    memset(target->samples, 255,
           (size_t)target->width * target->height * target->channels * (target->wide ? 2 : 1));
  }
  zimg_filter_graph *graph = graph_of(source, part, around, target, portable);
  if (graph && !zimg_filter_graph_get_tmp_size(graph, &room) && plane_begin(&from, source, around) &&
      plane_begin(&to, target, (border){0}) && (scratch = aligned_alloc(64, (room + 64) / 64 * 64))) {
    done = scale(source, around, target, scaled, alpha, graph, &from, &to, scratch);
  }
  free(scratch);
  free(to.samples);
  free(from.samples);
  zimg_filter_graph_free(graph);
  return done;
}
