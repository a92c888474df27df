#include "CZimg.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <zimg.h>

#include "scale.h"

#define INLINED inline __attribute__((always_inline))

static size_t sample_bytes(const czimg_picture *picture) { return picture->wide ? 2 : 1; }

bool plane_begin(plane *plane, const czimg_picture *picture, border around) {
  const size_t width = around.left + picture->width + around.right;
  const size_t height = around.top + picture->height + around.bottom;
  plane->stride = (ptrdiff_t)((width * sample_bytes(picture) + 63) / 64 * 64);
  plane->samples = aligned_alloc(64, (size_t)plane->stride * height);
  if (plane->samples == NULL) return false;
  plane->picture = plane->samples + around.top * plane->stride + around.left * sample_bytes(picture);
  return true;
}

// Beyond the edge of a picture, zimg mirrors the picture, which makes a result of a few dozen pixels 2 dB worse. So the
// outermost samples are repeated in a border around the picture, as other programs do. A border that is as wide as one
// pixel of the target contains nearly all samples that the filter reaches. If such a pixel is wider than `most`
// samples, a border of `most` samples is enough.
static uint32_t missing(double ratio, double there) {
  enum { most = 128 };
  const double wanted = fmin(fmax(ratio, 1), most);
  return there < wanted ? (uint32_t)ceil(wanted - there) : 0;
}

border border_of(const czimg_picture *source, czimg_part part, const czimg_picture *target) {
  const double across = part.width / target->width, down = part.height / target->height;
  return (border){
      .left = missing(across, part.x),
      .top = missing(down, part.y),
      .right = missing(across, source->width - part.x - part.width),
      .bottom = missing(down, source->height - part.y - part.height),
  };
}

static void extend_row(char *row, const czimg_picture *picture, border around) {
  const size_t bytes = sample_bytes(picture);
  char *end = row + picture->width * bytes;
  for (uint32_t x = 1; x <= around.left; x++) memcpy(row - x * bytes, row, bytes);
  for (uint32_t x = 0; x < around.right; x++) memcpy(end + x * bytes, end - bytes, bytes);
}

// Fills the border above and below a picture with the picture's outermost samples.
static void extend_column(const plane *plane, const czimg_picture *picture, border around) {
  const char *first = plane->picture - around.left * sample_bytes(picture);
  const char *last = first + plane->stride * (picture->height - 1);
  const size_t whole = (around.left + picture->width + around.right) * sample_bytes(picture);
  for (uint32_t y = 1; y <= around.top; y++) memcpy((char *)first - plane->stride * y, first, whole);
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

// A filter graph of zimg, and the scaling for which it was built.
typedef struct {
  czimg_picture source, target;
  czimg_part part;
  border around;
  bool portable;
  zimg_filter_graph *graph;
} scaler;

// A cache of one scaler, the one that was used last. Most pictures of a batch are scaled in the same way, and building
// a filter graph takes as long as scaling a small picture. A thread that takes the scaler out of the cache owns it
// until it puts the scaler back.
static _Atomic(scaler *) last;

static bool is_shape(const czimg_picture *one, const czimg_picture *other) {
  return one->width == other->width && one->height == other->height && one->wide == other->wide;
}

static void scaler_free(scaler *scaler) {
  if (scaler == NULL) return;
  zimg_filter_graph_free(scaler->graph);
  free(scaler);
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
  // ZIMG_CPU_AUTO_64B is not used, because zimg's AVX-512 code reads wrong samples before 3.0.6. It does so for every
  // 16th column if a picture becomes a little less than half as wide.
  params.cpu_type = portable ? ZIMG_CPU_NONE : ZIMG_CPU_AUTO;
  return zimg_filter_graph_build(&from, &to, &params);
}

// Takes the scaler from the cache if it was built for the same scaling, and builds one otherwise. Returns NULL if there
// is not enough memory.
static scaler *scaler_take(const czimg_picture *source, czimg_part part, border around, const czimg_picture *target,
                           bool portable) {
  scaler *taken = atomic_exchange(&last, NULL);
  if (taken && is_shape(&taken->source, source) && is_shape(&taken->target, target) && taken->portable == portable &&
      taken->part.x == part.x && taken->part.y == part.y && taken->part.width == part.width &&
      taken->part.height == part.height && taken->around.left == around.left && taken->around.top == around.top &&
      taken->around.right == around.right && taken->around.bottom == around.bottom) {
    return taken;
  }
  scaler_free(taken);
  scaler *built = malloc(sizeof *built);
  if (built == NULL) return NULL;
  *built = (scaler){*source, *target, part, around, portable, graph_of(source, part, around, target, portable)};
  if (built->graph) return built;
  free(built);
  return NULL;
}

// These loops are defined once for each sample size. Multiplying and dividing by alpha rounds to the nearest number. If
// the number of channels is a constant, a compiler can process several pixels at a time.
#define LOOPS(NAME, SAMPLE, ONE)                                                                   \
  static INLINED void pick_##NAME(const SAMPLE *row, uint32_t width, const int step, int channel,  \
                                  SAMPLE *out) {                                                   \
    for (uint32_t x = 0; x < width; x++) out[x] = row[x * step + channel];                         \
  }                                                                                                \
  static void split_##NAME(const SAMPLE *row, uint32_t width, int step, int channel,               \
                           bool multiplied, SAMPLE *out) {                                         \
    if (multiplied) {                                                                              \
      for (uint32_t x = 0; x < width; x++) {                                                       \
        out[x] = (SAMPLE)(((uint64_t)row[x * step + channel] * row[x * step + step - 1] +          \
                           ONE / 2) / ONE);                                                        \
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

void plane_take(const plane *plane, uint32_t y, const void *row, const czimg_picture *shape, int channel,
                bool multiplied, border around) {
  char *out = plane->picture + plane->stride * y;
  if (shape->wide) {
    split_words(row, shape->width, shape->channels, channel, multiplied, (uint16_t *)out);
  } else {
    split_bytes(row, shape->width, shape->channels, channel, multiplied, (uint8_t *)out);
  }
  extend_row(out, shape, around);
}

static bool scale(const zimg_filter_graph *graph, const plane *from, const czimg_picture *source, border around,
                  plane *to, void *scratch) {
  zimg_image_buffer_const in = {ZIMG_API_VERSION};
  zimg_image_buffer out = {ZIMG_API_VERSION};
  in.plane[0].data = from->picture - around.top * from->stride - around.left * sample_bytes(source);
  in.plane[0].stride = from->stride;
  in.plane[0].mask = ZIMG_BUFFER_MAX;
  out.plane[0].data = to->samples;
  out.plane[0].stride = to->stride;
  out.plane[0].mask = ZIMG_BUFFER_MAX;
  return !zimg_filter_graph_process(graph, &in, &out, scratch, NULL, NULL, NULL, NULL);
}

bool planes_scale(const czimg_picture *source, czimg_part part, border around, const czimg_picture *target,
                  int scaled, bool alpha, bool portable, channel_plane *next, void *context) {
  plane to = {.samples = NULL};
  void *scratch = NULL;
  bool done = false;
  size_t room = 0;
  if (scaled < target->channels) {
    memset(target->samples, 255,
           (size_t)target->width * target->height * target->channels * (target->wide ? 2 : 1));
  }
  scaler *scaler = scaler_take(source, part, around, target, portable);
  if (scaler && !zimg_filter_graph_get_tmp_size(scaler->graph, &room) && plane_begin(&to, target, (border){0}) &&
      (scratch = aligned_alloc(64, (room + 64) / 64 * 64))) {
    done = true;
    for (int channel = 0; done && channel < scaled; channel++) {
      const plane *from = next(context, channel);
      extend_column(from, source, around);
      done = scale(scaler->graph, from, source, around, &to, scratch);
      if (done) (target->wide ? join_words : join_bytes)(&to, target, channel);
    }
    if (done && alpha) (target->wide ? divide_words : divide_bytes)(target);
  }
  free(scratch);
  free(to.samples);
  if (scaler) scaler_free(atomic_exchange(&last, scaler));
  return done;
}
