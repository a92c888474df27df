#include "CHEVC.h"

#include <string.h>

#include <libde265/de265.h>

#include "COpening.h"

#define LIBRARY "libde265.so.0"
#define FUNCTIONS(F)                                                                                \
  F(de265_decode)                                                                                   \
  F(de265_flush_data)                                                                               \
  F(de265_free_decoder)                                                                             \
  F(de265_get_bits_per_pixel)                                                                       \
  F(de265_get_chroma_format)                                                                        \
  F(de265_get_default_image_allocation_functions)                                                   \
  F(de265_get_error_text)                                                                           \
  F(de265_get_image_full_range_flag)                                                                \
  F(de265_get_image_height)                                                                         \
  F(de265_get_image_matrix_coefficients)                                                            \
  F(de265_get_image_plane)                                                                          \
  F(de265_get_image_width)                                                                          \
  F(de265_get_next_picture)                                                                         \
  F(de265_get_warning)                                                                              \
  F(de265_init)                                                                                     \
  F(de265_isOK)                                                                                     \
  F(de265_new_decoder)                                                                              \
  F(de265_push_NAL)                                                                                 \
  F(de265_set_image_allocation_functions)

COPENING(chevc_open, LIBRARY, FUNCTIONS)
COPENING_NOTE("heic", "recommended", "Reads HEIC", LIBRARY)

// Limits the buffers that a decoder may allocate: to two, each of the padded size of the picture. The second one is for
// the sample adaptive offset filter, which reads from a copy. `left` is the number of buffers that may still be
// allocated.
typedef struct {
  long width, height;
  int left;
  bool is_refused;
} budget;

static int get_buffer(de265_decoder_context *decoder, struct de265_image_spec *spec, struct de265_image *image,
                      void *data) {
  budget *budget = data;
  if (spec->width > budget->width || spec->height > budget->height || budget->left-- <= 0) {
    budget->is_refused = true;
    return 0;
  }
  return their_de265_get_default_image_allocation_functions()->get_buffer(decoder, spec, image, NULL);
}

static void release_buffer(de265_decoder_context *decoder, struct de265_image *image, void *data) {
  (void)data;
  their_de265_get_default_image_allocation_functions()->release_buffer(decoder, image, NULL);
}

// If the chroma is subsampled, the decoder may add one column to an odd width, and one row to an odd height.
static bool has_shape(const struct de265_image *image, chevc_shape shape) {
  const long across = their_de265_get_image_width(image, 0) - shape.width;
  const long down = their_de265_get_image_height(image, 0) - shape.height;
  if (across < 0 || across > 1 || down < 0 || down > 1 ||
      (long)their_de265_get_chroma_format(image) != shape.chroma) {
    return false;
  }
  for (int plane = 0; plane < (shape.chroma == 0 ? 1 : 3); plane++) {
    if (their_de265_get_bits_per_pixel(image, plane) != shape.depth) return false;
  }
  return true;
}

static void copy(const struct de265_image *image, chevc_shape shape, chevc_plane plane, int channel, chevc_place place) {
  const int across = channel > 0 && (shape.chroma == 1 || shape.chroma == 2);
  const int down = channel > 0 && shape.chroma == 1;
  const size_t sample = shape.depth > 8 ? 2 : 1;
  const long rows = (place.height + down) >> down;
  int stride = 0;
  const uint8_t *from = their_de265_get_image_plane(image, channel, &stride);
  uint8_t *to = plane.bytes + (size_t)(place.y >> down) * plane.stride + (size_t)(place.x >> across) * sample;
  for (long row = 0; row < rows; row++) {
    memcpy(to + (size_t)row * plane.stride, from + (ptrdiff_t)row * stride, (size_t)((place.width + across) >> across) * sample);
  }
}

// libde265 makes its tables for the first decoder, which takes 2 ms, and drops them with the last one. This keeps them.
static void keep_tables(void) { their_de265_init(); }

int chevc_decode(const uint8_t *bytes, const int *sizes, size_t count, chevc_shape shape, const chevc_plane *planes,
                 size_t plane_count, chevc_place place, chevc_light *light, const char **words) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, keep_tables);
  de265_decoder_context *decoder = their_de265_new_decoder();
  if (decoder == NULL) return chevc_no_memory;
  // The decoder pads a picture to whole blocks of up to 64 pixels.
  budget budget = {(shape.width + 63) / 64 * 64, (shape.height + 63) / 64 * 64, 2, false};
  struct de265_image_allocation functions = {get_buffer, release_buffer};
  their_de265_set_image_allocation_functions(decoder, &functions, &budget);
  de265_error error = DE265_OK;
  for (size_t unit = 0; unit < count && their_de265_isOK(error); unit++) {
    error = their_de265_push_NAL(decoder, bytes, sizes[unit], 0, NULL);
    bytes += sizes[unit];
  }
  if (their_de265_isOK(error)) error = their_de265_flush_data(decoder);
  const struct de265_image *image = NULL;
  for (int more = 1; more != 0 && image == NULL && their_de265_isOK(error);) {
    error = their_de265_decode(decoder, &more);
    if (their_de265_isOK(error)) image = their_de265_get_next_picture(decoder);
  }
  int result = chevc_broken;
  if (image != NULL && has_shape(image, shape)) {
    for (size_t channel = 0; channel < plane_count; channel++) {
      if (planes[channel].bytes != NULL) copy(image, shape, planes[channel], (int)channel, place);
    }
    light->full_range = their_de265_get_image_full_range_flag(image) != 0;
    light->matrix = their_de265_get_image_matrix_coefficients(image);
    light->is_damaged = their_de265_get_warning(decoder) != DE265_OK;
    result = chevc_done;
  } else if (image != NULL || budget.is_refused) {
    result = chevc_other;
  } else if (error == DE265_ERROR_OUT_OF_MEMORY) {
    result = chevc_no_memory;
  } else {
    *words = error == DE265_OK ? "there is no picture" : their_de265_get_error_text(error);
  }
  their_de265_free_decoder(decoder);
  return result;
}
