// littlecms, opened when the first colours are converted rather than when the program starts: ink to light, and other
// colours to sRGB.
#ifndef LARDER_CLCMS_H
#define LARDER_CLCMS_H

#include <lcms2.h>

/// Opens the library; safe from any thread; later calls cost nothing.
///
/// Before it has returned NULL once, no function of littlecms may be called.
///
/// @return NULL when it is there, else the dynamic loader's words, which stay valid.
const char *clcms_open(void);

// Pixel formats, which are macros that Swift cannot read.
static const cmsUInt32Number clcms_ink = TYPE_CMYK_8;
static const cmsUInt32Number clcms_inverted_ink = TYPE_CMYK_8_REV;
static const cmsUInt32Number clcms_bgrx = TYPE_BGRA_8;
static const cmsUInt32Number clcms_rgb = TYPE_RGB_8;
static const cmsUInt32Number clcms_rgba = TYPE_RGBA_8;
static const cmsUInt32Number clcms_wide_grey = TYPE_GRAY_16;
static const cmsUInt32Number clcms_wide_rgb = TYPE_RGB_16;
static const cmsUInt32Number clcms_wide_rgba = TYPE_RGBA_16;

#endif
