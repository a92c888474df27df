// The planes that zimg scales.
#ifndef LARDER_CZIMG_SCALE_H
#define LARDER_CZIMG_SCALE_H

#include "CZimg.h"

// One channel, rows aligned as zimg wants them; `picture` is where the first sample of the picture lies, which may have
// more samples around it.
typedef struct {
  char *samples, *picture;
  ptrdiff_t stride;
} plane;

// Samples around a picture, as many as are in its way.
typedef struct {
  uint32_t left, top, right, bottom;
} border;

// Bytes of a pixel.
static inline size_t bytes_of_pixel(const czimg_picture *picture) {
  return (size_t)picture->channels * (picture->wide ? 2 : 1);
}

// The border that a part of `source` needs to be scaled to the size of `target`.
border border_of(const czimg_picture *source, czimg_part part, const czimg_picture *target);

// Allocates a channel of a picture with its border; false when memory is short. `samples` are
// freed in either case.
bool plane_begin(plane *plane, const czimg_picture *picture, border around);

// Takes a channel of a row of `shape`, whose samples lie side by side, as row `y` of a plane, and
// fills the border left and right of it; colours may be multiplied by alpha.
void plane_take(const plane *plane, uint32_t y, const void *row, const czimg_picture *shape, int channel,
                bool multiplied, border around);

// The plane of a channel, whose rows are filled.
typedef const plane *channel_plane(void *context, int channel);

// Scales planes of a part of `source`, of which the shape alone counts, to the samples of `target`.
bool planes_scale(const czimg_picture *source, czimg_part part, border around, const czimg_picture *target,
                  int scaled, bool alpha, bool portable, channel_plane *next, void *context);

#endif
