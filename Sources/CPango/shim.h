// The libraries that draw: Pango shapes text, Cairo paints it, pixman (which Cairo itself stands on)
// blends, littlecms converts ink to light.
#include <fontconfig/fontconfig.h>
#include <lcms2.h>
#include <pango/pangocairo.h>
#include <pango/pangofc-fontmap.h>
#include <pixman.h>

// Pixel formats, which are macros that Swift cannot read.
static const cmsUInt32Number cpango_ink = TYPE_CMYK_8;
static const cmsUInt32Number cpango_inverted_ink = TYPE_CMYK_8_REV;
static const cmsUInt32Number cpango_bgrx = TYPE_BGRA_8;
