// littlecms, which converts colours: CMYK to RGB, and other colours to sRGB.
#ifndef LARDER_CLCMS_H
#define LARDER_CLCMS_H

#include <lcms2.h>

// Pixel formats, which are macros that Swift cannot import.
static const cmsUInt32Number clcms_ink = TYPE_CMYK_8;
static const cmsUInt32Number clcms_inverted_ink = TYPE_CMYK_8_REV;
static const cmsUInt32Number clcms_bgrx = TYPE_BGRA_8;
static const cmsUInt32Number clcms_rgb = TYPE_RGB_8;
static const cmsUInt32Number clcms_rgba = TYPE_RGBA_8;
static const cmsUInt32Number clcms_wide_grey = TYPE_GRAY_16;
static const cmsUInt32Number clcms_wide_rgb = TYPE_RGB_16;
static const cmsUInt32Number clcms_wide_rgba = TYPE_RGBA_16;

#endif
