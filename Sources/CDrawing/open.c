// Pango loads about thirty libraries, including those of X11. Loading them took a third of larder's start-up time,
// although most runs draw nothing. So the functions that Imaging calls are defined here, where the libraries do not see
// them. Each function calls the library's function of the same name.
#pragma GCC visibility push(hidden)
#include "CDrawing.h"
#pragma GCC visibility pop

#include "COpening.h"

// Cairo draws text with pixman. Before 0.42.2, a shape could make pixman write beyond its buffer (CVE-2022-44638). The
// header of its version must not be included alone, unless this macro says that pixman.h includes it.
#define PIXMAN_H__
#include <pixman-1/pixman-version.h>
#if PIXMAN_VERSION < PIXMAN_VERSION_ENCODE(0, 42, 2)
#error "pixman 0.42.2 or later is needed"
#endif

// All functions below are in this library or in libraries that it needs, which are searched, too.
#define LIBRARY "libpangocairo-1.0.so.0"

// The functions that cairo.h declares, in the form of CDRAWING_FUNCTIONS.
#define LIBRARY_FUNCTIONS(F)                                                                        \
  F(cairo_image_surface_create, cairo_surface_t *,                                                  \
    (cairo_format_t format, int width, int height), (format, width, height))                        \
  F(cairo_image_surface_get_data, unsigned char *, (cairo_surface_t * surface), (surface))          \
  F(cairo_image_surface_get_stride, int, (cairo_surface_t * surface), (surface))                    \
  F(cairo_surface_status, cairo_status_t, (cairo_surface_t * surface), (surface))                   \
  F(cairo_surface_flush, void, (cairo_surface_t * surface), (surface))                              \
  F(cairo_surface_mark_dirty, void, (cairo_surface_t * surface), (surface))                         \
  F(cairo_surface_destroy, void, (cairo_surface_t * surface), (surface))                            \
  F(cairo_create, cairo_t *, (cairo_surface_t * target), (target))                                  \
  F(cairo_destroy, void, (cairo_t * context), (context))                                            \
  F(cairo_save, void, (cairo_t * context), (context))                                               \
  F(cairo_restore, void, (cairo_t * context), (context))                                            \
  F(cairo_scale, void, (cairo_t * context, double x, double y), (context, x, y))                    \
  F(cairo_move_to, void, (cairo_t * context, double x, double y), (context, x, y))                  \
  F(cairo_paint, void, (cairo_t * context), (context))                                              \
  F(cairo_mask_surface, void,                                                                       \
    (cairo_t * context, cairo_surface_t * surface, double x, double y), (context, surface, x, y))   \
  F(cairo_get_source, cairo_pattern_t *, (cairo_t * context), (context))                            \
  F(cairo_set_source_rgba, void,                                                                    \
    (cairo_t * context, double red, double green, double blue, double alpha),                       \
    (context, red, green, blue, alpha))                                                             \
  F(cairo_set_source_surface, void,                                                                 \
    (cairo_t * context, cairo_surface_t * surface, double x, double y), (context, surface, x, y))   \
  F(cairo_pattern_set_extend, void,                                                                 \
    (cairo_pattern_t * pattern, cairo_extend_t extend), (pattern, extend))                          \
  F(cairo_pattern_set_filter, void,                                                                 \
    (cairo_pattern_t * pattern, cairo_filter_t filter), (pattern, filter))

#define FUNCTIONS(F) LIBRARY_FUNCTIONS(F) CDRAWING_FUNCTIONS(F)

COPENING(cdrawing_open, LIBRARY, FUNCTIONS)

#define CALL(name, result, parameters, arguments)                                                   \
  result name parameters { return their_##name arguments; }
FUNCTIONS(CALL)

COPENING_NOTE("stamp", "recommended", "Writes on pictures", LIBRARY)
