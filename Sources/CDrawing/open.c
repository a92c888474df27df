// Pango brings some thirty libraries, X11's among them, and finding and binding them took a third of
// the time in which larder starts. Most runs draw nothing, and a machine that only syncs needs none of
// them. So what Imaging calls is defined here, hidden from the libraries themselves, and passes each
// call on to the function of the same name.
#pragma GCC visibility push(hidden)
#include "CDrawing.h"
#pragma GCC visibility pop

#include "COpening.h"

// Its dependencies, which are searched as well, hold all that is called here.
#define LIBRARY "libpangocairo-1.0.so.0"

// Result, name, parameters, arguments.
#define FUNCTIONS(F)                                                                                \
  F(FcConfig *, FcConfigCreate, (void), ())                                                         \
  F(void, FcConfigDestroy, (FcConfig * config), (config))                                           \
  F(FcBool, FcConfigBuildFonts, (FcConfig * config), (config))                                      \
  F(FcBool, FcConfigParseAndLoad, (FcConfig * config, const FcChar8 *file, FcBool complain),        \
    (config, file, complain))                                                                       \
  F(void, g_free, (void *memory), (memory))                                                         \
  F(void *, g_object_ref, (void *object), (object))                                                 \
  F(void, g_object_unref, (void *object), (object))                                                 \
  F(cairo_surface_t *, cairo_image_surface_create, (cairo_format_t format, int width, int height),  \
    (format, width, height))                                                                        \
  F(unsigned char *, cairo_image_surface_get_data, (cairo_surface_t * surface), (surface))          \
  F(int, cairo_image_surface_get_stride, (cairo_surface_t * surface), (surface))                    \
  F(cairo_status_t, cairo_surface_status, (cairo_surface_t * surface), (surface))                   \
  F(void, cairo_surface_flush, (cairo_surface_t * surface), (surface))                              \
  F(void, cairo_surface_mark_dirty, (cairo_surface_t * surface), (surface))                         \
  F(void, cairo_surface_destroy, (cairo_surface_t * surface), (surface))                            \
  F(cairo_t *, cairo_create, (cairo_surface_t * target), (target))                                  \
  F(void, cairo_destroy, (cairo_t * context), (context))                                            \
  F(void, cairo_save, (cairo_t * context), (context))                                               \
  F(void, cairo_restore, (cairo_t * context), (context))                                            \
  F(void, cairo_scale, (cairo_t * context, double x, double y), (context, x, y))                    \
  F(void, cairo_move_to, (cairo_t * context, double x, double y), (context, x, y))                  \
  F(void, cairo_paint, (cairo_t * context), (context))                                              \
  F(void, cairo_mask_surface, (cairo_t * context, cairo_surface_t * surface, double x, double y),   \
    (context, surface, x, y))                                                                       \
  F(cairo_pattern_t *, cairo_get_source, (cairo_t * context), (context))                            \
  F(void, cairo_set_source_rgba,                                                                    \
    (cairo_t * context, double red, double green, double blue, double alpha),                       \
    (context, red, green, blue, alpha))                                                             \
  F(void, cairo_set_source_surface,                                                                 \
    (cairo_t * context, cairo_surface_t * surface, double x, double y), (context, surface, x, y))   \
  F(void, cairo_pattern_set_extend, (cairo_pattern_t * pattern, cairo_extend_t extend),             \
    (pattern, extend))                                                                              \
  F(void, cairo_pattern_set_filter, (cairo_pattern_t * pattern, cairo_filter_t filter),             \
    (pattern, filter))                                                                              \
  F(PangoFontMap *, pango_cairo_font_map_get_default, (void), ())                                   \
  F(PangoFontMap *, pango_cairo_font_map_new_for_font_type, (cairo_font_type_t type), (type))       \
  F(void, pango_cairo_show_layout, (cairo_t * context, PangoLayout * layout), (context, layout))    \
  F(void, pango_fc_font_map_set_config, (PangoFcFontMap * map, FcConfig * config), (map, config))   \
  F(void, pango_font_map_list_families,                                                             \
    (PangoFontMap * map, PangoFontFamily * **families, int *count), (map, families, count))         \
  F(const char *, pango_font_family_get_name, (PangoFontFamily * family), (family))                 \
  F(PangoContext *, pango_font_map_create_context, (PangoFontMap * map), (map))                     \
  F(PangoLanguage *, pango_language_from_string, (const char *language), (language))                \
  F(void, pango_context_set_language, (PangoContext * context, PangoLanguage * language),           \
    (context, language))                                                                            \
  F(void, pango_context_set_round_glyph_positions, (PangoContext * context, int round),             \
    (context, round))                                                                               \
  F(PangoFontDescription *, pango_font_description_from_string, (const char *text), (text))         \
  F(void, pango_font_description_set_absolute_size, (PangoFontDescription * font, double size),     \
    (font, size))                                                                                   \
  F(void, pango_font_description_set_weight, (PangoFontDescription * font, PangoWeight weight),     \
    (font, weight))                                                                                 \
  F(void, pango_font_description_free, (PangoFontDescription * font), (font))                       \
  F(PangoLayout *, pango_layout_new, (PangoContext * context), (context))                           \
  F(void, pango_layout_set_font_description,                                                        \
    (PangoLayout * layout, const PangoFontDescription *font), (layout, font))                       \
  F(void, pango_layout_set_single_paragraph_mode, (PangoLayout * layout, int single),               \
    (layout, single))                                                                               \
  F(void, pango_layout_set_text, (PangoLayout * layout, const char *text, int count),               \
    (layout, text, count))                                                                          \
  F(void, pango_layout_set_width, (PangoLayout * layout, int width), (layout, width))               \
  F(void, pango_layout_set_ellipsize, (PangoLayout * layout, PangoEllipsizeMode mode),              \
    (layout, mode))                                                                                 \
  F(int, pango_layout_get_unknown_glyphs_count, (PangoLayout * layout), (layout))                   \
  F(void, pango_layout_get_pixel_extents,                                                           \
    (PangoLayout * layout, PangoRectangle * ink, PangoRectangle * logical), (layout, ink, logical)) \
  F(PangoLayoutIter *, pango_layout_get_iter, (PangoLayout * layout), (layout))                     \
  F(int, pango_layout_iter_get_index, (PangoLayoutIter * place), (place))                           \
  F(int, pango_layout_iter_next_cluster, (PangoLayoutIter * place), (place))                        \
  F(void, pango_layout_iter_get_cluster_extents,                                                    \
    (PangoLayoutIter * place, PangoRectangle * ink, PangoRectangle * logical),                      \
    (place, ink, logical))                                                                          \
  F(void, pango_layout_iter_free, (PangoLayoutIter * place), (place))

COPENING_FORWARDED(FUNCTIONS)
COPENING_ONCE(cdrawing_open, LIBRARY, functions)

COPENING_NOTE("stamp", "recommended", "Writes on pictures", LIBRARY)
