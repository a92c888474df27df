// littlecms, which converts colours: CMYK to RGB, and other colours to sRGB.
#ifndef LARDER_CLCMS_H
#define LARDER_CLCMS_H

#include <lcms2.h>
#include <stdbool.h>

// Pixel formats, which are macros that Swift cannot import.
static const cmsUInt32Number clcms_ink = TYPE_CMYK_8;
static const cmsUInt32Number clcms_inverted_ink = TYPE_CMYK_8_REV;
static const cmsUInt32Number clcms_wide_grey = TYPE_GRAY_16;

// The format of red, green and blue, or of blue, green and red if `reversed` is set; with four channels, one more
// sample follows.
static inline cmsUInt32Number clcms_colours(int channels, bool wide, bool reversed) {
  return COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | EXTRA_SH(channels - 3) | BYTES_SH(wide ? 2 : 1) |
         DOSWAP_SH(reversed) | SWAPFIRST_SH(reversed);
}

#endif
