// What Imaging calls is defined here, hidden from the library itself, and passes each call on to the function of the
// same name.
#pragma GCC visibility push(hidden)
#include "CPixman.h"
#pragma GCC visibility pop

#include "COpening.h"

#define LIBRARY "libpixman-1.so.0"

// Result, name, parameters, arguments.
#define FUNCTIONS(F)                                                                                \
  F(void, pixman_image_composite32,                                                                 \
    (pixman_op_t op, pixman_image_t * source, pixman_image_t * mask, pixman_image_t * target,       \
     int32_t source_x, int32_t source_y, int32_t mask_x, int32_t mask_y, int32_t x, int32_t y,      \
     int32_t width, int32_t height),                                                                \
    (op, source, mask, target, source_x, source_y, mask_x, mask_y, x, y, width, height))            \
  F(pixman_image_t *, pixman_image_create_bits,                                                     \
    (pixman_format_code_t format, int width, int height, uint32_t *bits, int stride),               \
    (format, width, height, bits, stride))                                                          \
  F(uint32_t *, pixman_image_get_data, (pixman_image_t * image), (image))                           \
  F(int, pixman_image_get_stride, (pixman_image_t * image), (image))                                \
  F(pixman_bool_t, pixman_image_unref, (pixman_image_t * image), (image))                           \
  F(int, pixman_version, (void), ())

COPENING_FORWARDED(FUNCTIONS)
COPENING_ONCE(cpixman_open, LIBRARY, functions)

COPENING_NOTE("blending", "recommended", "Lays stamps over pictures", LIBRARY)
