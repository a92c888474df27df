// The libraries that compute with pixels: pixman (which Cairo itself stands on) blends, littlecms
// converts ink to light, and colours to sRGB.
#include <lcms2.h>
#include <pixman.h>

// Pixel formats, which are macros that Swift cannot read.
static const cmsUInt32Number cpixman_ink = TYPE_CMYK_8;
static const cmsUInt32Number cpixman_inverted_ink = TYPE_CMYK_8_REV;
static const cmsUInt32Number cpixman_bgrx = TYPE_BGRA_8;
static const cmsUInt32Number cpixman_rgb = TYPE_RGB_8;
static const cmsUInt32Number cpixman_rgba = TYPE_RGBA_8;
static const cmsUInt32Number cpixman_wide_grey = TYPE_GRAY_16;
static const cmsUInt32Number cpixman_wide_rgb = TYPE_RGB_16;
static const cmsUInt32Number cpixman_wide_rgba = TYPE_RGBA_16;
