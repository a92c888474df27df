// Pango and Cairo, which draw text. They are opened when larder first draws on a picture, not when the program starts.
#ifndef LARDER_CDRAWING_H
#define LARDER_CDRAWING_H

#include <cairo/cairo.h>

/// Opens the drawing libraries.
///
/// It is thread-safe, and repeated calls cost nothing.
///
/// Call it before any function of Pango, Cairo or GObject.
///
/// @return NULL on success, and otherwise the dynamic loader's message, which stays valid.
const char *cdrawing_open(void);

// Pango's own headers need include paths from pkg-config. If the package used pkg-config, SwiftPM would also link the
// libraries, and they would be loaded at every start. So the declarations that larder needs are copied here;
// script/lint compares them with the headers.

typedef struct _PangoContext PangoContext;
typedef struct _PangoFontDescription PangoFontDescription;
typedef struct _PangoFontFamily PangoFontFamily;
typedef struct _PangoFontMap PangoFontMap;
typedef struct _PangoLanguage PangoLanguage;
typedef struct _PangoLayout PangoLayout;
typedef struct _PangoLayoutIter PangoLayoutIter;

#ifndef __PANGO_H__
/// The number of Pango units in a pixel.
#define PANGO_SCALE 1024

typedef struct {
  int x;
  int y;
  int width;
  int height;
} PangoRectangle;

typedef enum { PANGO_WEIGHT_NORMAL = 400, PANGO_WEIGHT_BOLD = 700 } PangoWeight;
typedef enum { PANGO_ELLIPSIZE_END = 3 } PangoEllipsizeMode;
#endif

// Each line names a function of Pango or GObject, its result type, its parameters and its arguments.
#define CDRAWING_FUNCTIONS(F)                                                                       \
  F(g_free, void, (void *memory), (memory))                                                         \
  F(g_object_unref, void, (void *object), (object))                                                 \
  F(pango_cairo_font_map_get_default, PangoFontMap *, (void), ())                                   \
  F(pango_cairo_show_layout, void, (cairo_t * context, PangoLayout * layout), (context, layout))    \
  F(pango_font_map_list_families, void,                                                             \
    (PangoFontMap * map, PangoFontFamily * **families, int *count), (map, families, count))         \
  F(pango_font_family_get_name, const char *, (PangoFontFamily * family), (family))                 \
  F(pango_font_map_create_context, PangoContext *, (PangoFontMap * map), (map))                     \
  F(pango_language_from_string, PangoLanguage *, (const char *language), (language))                \
  F(pango_context_set_language, void,                                                               \
    (PangoContext * context, PangoLanguage * language), (context, language))                        \
  F(pango_context_set_round_glyph_positions, void,                                                  \
    (PangoContext * context, int round), (context, round))                                          \
  F(pango_font_description_from_string, PangoFontDescription *, (const char *text), (text))         \
  F(pango_font_description_set_absolute_size, void,                                                 \
    (PangoFontDescription * font, double size), (font, size))                                       \
  F(pango_font_description_set_weight, void,                                                        \
    (PangoFontDescription * font, PangoWeight weight), (font, weight))                              \
  F(pango_font_description_free, void, (PangoFontDescription * font), (font))                       \
  F(pango_layout_new, PangoLayout *, (PangoContext * context), (context))                           \
  F(pango_layout_set_font_description, void,                                                        \
    (PangoLayout * layout, const PangoFontDescription *font), (layout, font))                       \
  F(pango_layout_set_single_paragraph_mode, void,                                                   \
    (PangoLayout * layout, int single), (layout, single))                                           \
  F(pango_layout_set_text, void,                                                                    \
    (PangoLayout * layout, const char *text, int count), (layout, text, count))                     \
  F(pango_layout_set_width, void, (PangoLayout * layout, int width), (layout, width))               \
  F(pango_layout_set_ellipsize, void,                                                               \
    (PangoLayout * layout, PangoEllipsizeMode mode), (layout, mode))                                \
  F(pango_layout_get_unknown_glyphs_count, int, (PangoLayout * layout), (layout))                   \
  F(pango_layout_get_pixel_extents, void,                                                           \
    (PangoLayout * layout, PangoRectangle * ink, PangoRectangle * logical),                         \
    (layout, ink, logical))                                                                         \
  F(pango_layout_get_iter, PangoLayoutIter *, (PangoLayout * layout), (layout))                     \
  F(pango_layout_iter_get_index, int, (PangoLayoutIter * place), (place))                           \
  F(pango_layout_iter_next_cluster, int, (PangoLayoutIter * place), (place))                        \
  F(pango_layout_iter_get_cluster_extents, void,                                                    \
    (PangoLayoutIter * place, PangoRectangle * ink, PangoRectangle * logical),                      \
    (place, ink, logical))                                                                          \
  F(pango_layout_iter_free, void, (PangoLayoutIter * place), (place))

#define CDRAWING_DECLARE(name, result, parameters, arguments) result name parameters;
CDRAWING_FUNCTIONS(CDRAWING_DECLARE)

#endif
