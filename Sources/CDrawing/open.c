// Pango loads about thirty libraries, including those of X11. Loading them took a third of larder's start-up time,
// although most runs draw nothing. So the functions that Imaging calls are defined here, where the libraries do not see
// them. Each function calls the library's function of the same name.
#pragma GCC visibility push(hidden)
#include "CDrawing.h"
#pragma GCC visibility pop

#include "COpening.h"

// All functions below are in this library or in libraries that it needs, which are searched, too.
#define LIBRARY "libpangocairo-1.0.so.0"

// Each line names a function, its result type, its parameters and its arguments.
#define FUNCTIONS(F)                                                                                \
  F(FcConfigCreate, FcConfig *, (void), ())                                                         \
  F(FcConfigDestroy, void, (FcConfig * config), (config))                                           \
  F(FcConfigBuildFonts, FcBool, (FcConfig * config), (config))                                      \
  F(FcConfigParseAndLoad, FcBool, (FcConfig * config, const FcChar8 *file, FcBool complain),        \
    (config, file, complain))                                                                       \
  F(g_free, void, (void *memory), (memory))                                                         \
  F(g_object_ref, void *, (void *object), (object))                                                 \
  F(g_object_unref, void, (void *object), (object))                                                 \
  F(cairo_image_surface_create, cairo_surface_t *, (cairo_format_t format, int width, int height),  \
    (format, width, height))                                                                        \
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
  F(cairo_mask_surface, void, (cairo_t * context, cairo_surface_t * surface, double x, double y),   \
    (context, surface, x, y))                                                                       \
  F(cairo_get_source, cairo_pattern_t *, (cairo_t * context), (context))                            \
  F(cairo_set_source_rgba, void,                                                                    \
    (cairo_t * context, double red, double green, double blue, double alpha),                       \
    (context, red, green, blue, alpha))                                                             \
  F(cairo_set_source_surface, void,                                                                 \
    (cairo_t * context, cairo_surface_t * surface, double x, double y), (context, surface, x, y))   \
  F(cairo_pattern_set_extend, void, (cairo_pattern_t * pattern, cairo_extend_t extend),             \
    (pattern, extend))                                                                              \
  F(cairo_pattern_set_filter, void, (cairo_pattern_t * pattern, cairo_filter_t filter),             \
    (pattern, filter))                                                                              \
  F(pango_cairo_font_map_get_default, PangoFontMap *, (void), ())                                   \
  F(pango_cairo_font_map_new_for_font_type, PangoFontMap *, (cairo_font_type_t type), (type))       \
  F(pango_cairo_show_layout, void, (cairo_t * context, PangoLayout * layout), (context, layout))    \
  F(pango_fc_font_map_set_config, void, (PangoFcFontMap * map, FcConfig * config), (map, config))   \
  F(pango_font_map_list_families, void,                                                             \
    (PangoFontMap * map, PangoFontFamily * **families, int *count), (map, families, count))         \
  F(pango_font_family_get_name, const char *, (PangoFontFamily * family), (family))                 \
  F(pango_font_map_create_context, PangoContext *, (PangoFontMap * map), (map))                     \
  F(pango_language_from_string, PangoLanguage *, (const char *language), (language))                \
  F(pango_context_set_language, void, (PangoContext * context, PangoLanguage * language),           \
    (context, language))                                                                            \
  F(pango_context_set_round_glyph_positions, void, (PangoContext * context, int round),             \
    (context, round))                                                                               \
  F(pango_font_description_from_string, PangoFontDescription *, (const char *text), (text))         \
  F(pango_font_description_set_absolute_size, void, (PangoFontDescription * font, double size),     \
    (font, size))                                                                                   \
  F(pango_font_description_set_weight, void, (PangoFontDescription * font, PangoWeight weight),     \
    (font, weight))                                                                                 \
  F(pango_font_description_free, void, (PangoFontDescription * font), (font))                       \
  F(pango_layout_new, PangoLayout *, (PangoContext * context), (context))                           \
  F(pango_layout_set_font_description, void,                                                        \
    (PangoLayout * layout, const PangoFontDescription *font), (layout, font))                       \
  F(pango_layout_set_single_paragraph_mode, void, (PangoLayout * layout, int single),               \
    (layout, single))                                                                               \
  F(pango_layout_set_text, void, (PangoLayout * layout, const char *text, int count),               \
    (layout, text, count))                                                                          \
  F(pango_layout_set_width, void, (PangoLayout * layout, int width), (layout, width))               \
  F(pango_layout_set_ellipsize, void, (PangoLayout * layout, PangoEllipsizeMode mode),              \
    (layout, mode))                                                                                 \
  F(pango_layout_get_unknown_glyphs_count, int, (PangoLayout * layout), (layout))                   \
  F(pango_layout_get_pixel_extents, void,                                                           \
    (PangoLayout * layout, PangoRectangle * ink, PangoRectangle * logical), (layout, ink, logical)) \
  F(pango_layout_get_iter, PangoLayoutIter *, (PangoLayout * layout), (layout))                     \
  F(pango_layout_iter_get_index, int, (PangoLayoutIter * place), (place))                           \
  F(pango_layout_iter_next_cluster, int, (PangoLayoutIter * place), (place))                        \
  F(pango_layout_iter_get_cluster_extents, void,                                                    \
    (PangoLayoutIter * place, PangoRectangle * ink, PangoRectangle * logical),                      \
    (place, ink, logical))                                                                          \
  F(pango_layout_iter_free, void, (PangoLayoutIter * place), (place))

COPENING(cdrawing_open, LIBRARY, FUNCTIONS)

#define CALL(name, result, parameters, arguments)                                                   \
  result name parameters { return their_##name arguments; }
FUNCTIONS(CALL)

COPENING_NOTE("stamp", "recommended", "Writes on pictures", LIBRARY)
