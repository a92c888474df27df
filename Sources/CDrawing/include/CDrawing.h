// Pango and Cairo, which draw text. They are opened when larder first draws on a picture, not when the program starts.
#ifndef LARDER_CDRAWING_H
#define LARDER_CDRAWING_H

#include <cairo/cairo.h>
#include <fontconfig/fontconfig.h>

/// Opens the drawing libraries.
///
/// It is thread-safe, and repeated calls cost nothing.
///
/// Call it before any function of Pango, Cairo, fontconfig or GObject.
///
/// @return NULL on success, and otherwise the dynamic loader's message, which stays valid.
const char *cdrawing_open(void);

// Pango's own headers need include paths from pkg-config. If the package used pkg-config, SwiftPM would also link the
// libraries, and they would be loaded at every start. So the declarations that larder needs are copied here;
// script/lint compares them with the headers.

typedef struct _PangoContext PangoContext;
typedef struct _PangoFcFontMap PangoFcFontMap;
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

void g_free(void *memory);
#undef g_object_ref // GLib defines a macro of this name, which would hide the function.
void *g_object_ref(void *object);
void g_object_unref(void *object);

PangoFontMap *pango_cairo_font_map_get_default(void);
PangoFontMap *pango_cairo_font_map_new_for_font_type(cairo_font_type_t type);
void pango_cairo_show_layout(cairo_t *context, PangoLayout *layout);
void pango_fc_font_map_set_config(PangoFcFontMap *map, FcConfig *config);
void pango_font_map_list_families(PangoFontMap *map, PangoFontFamily ***families, int *count);
const char *pango_font_family_get_name(PangoFontFamily *family);
PangoContext *pango_font_map_create_context(PangoFontMap *map);
PangoLanguage *pango_language_from_string(const char *language);
void pango_context_set_language(PangoContext *context, PangoLanguage *language);
void pango_context_set_round_glyph_positions(PangoContext *context, int round);
PangoFontDescription *pango_font_description_from_string(const char *text);
void pango_font_description_set_absolute_size(PangoFontDescription *font, double size);
void pango_font_description_set_weight(PangoFontDescription *font, PangoWeight weight);
void pango_font_description_free(PangoFontDescription *font);
PangoLayout *pango_layout_new(PangoContext *context);
void pango_layout_set_font_description(PangoLayout *layout, const PangoFontDescription *font);
void pango_layout_set_single_paragraph_mode(PangoLayout *layout, int single);
void pango_layout_set_text(PangoLayout *layout, const char *text, int count);
void pango_layout_set_width(PangoLayout *layout, int width);
void pango_layout_set_ellipsize(PangoLayout *layout, PangoEllipsizeMode mode);
int pango_layout_get_unknown_glyphs_count(PangoLayout *layout);
void pango_layout_get_pixel_extents(PangoLayout *layout, PangoRectangle *ink,
                                    PangoRectangle *logical);
PangoLayoutIter *pango_layout_get_iter(PangoLayout *layout);
int pango_layout_iter_get_index(PangoLayoutIter *place);
int pango_layout_iter_next_cluster(PangoLayoutIter *place);
void pango_layout_iter_get_cluster_extents(PangoLayoutIter *place, PangoRectangle *ink,
                                           PangoRectangle *logical);
void pango_layout_iter_free(PangoLayoutIter *place);

#endif
