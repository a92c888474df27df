// The planes that zimg scales.
#ifndef LARDER_CZIMG_SCALE_H
#define LARDER_CZIMG_SCALE_H

#include "CZimg.h"

// One channel, whose rows are aligned as zimg requires. `picture` points to the first sample of the picture, which may
// have a border around it.
typedef struct {
  char *samples, *picture;
  ptrdiff_t stride;
} plane;

// The widths of the border around a picture, in samples.
typedef struct {
  uint32_t left, top, right, bottom;
} border;

// The number of bytes of a pixel.
static inline size_t bytes_of_pixel(const czimg_picture *picture) {
  return (size_t)picture->channels * (picture->wide ? 2 : 1);
}

// The border that is needed to scale a part of `source` to the size of `target`.
border border_of(const czimg_picture *source, czimg_part part, const czimg_picture *target);

// Allocates a channel of a picture with its border. Returns false if there is not enough memory. The caller must free
// `samples` in either case.
bool plane_begin(plane *plane, const czimg_picture *picture, border around);

// Copies a channel of `row` to row `y` of a plane, and fills the border to the left and the right of that row. The
// samples of `row` are interleaved, in the layout of `shape`. If `multiplied` is set, the channel is multiplied by
// alpha.
void plane_take(const plane *plane, uint32_t y, const void *row, const czimg_picture *shape, int channel,
                bool multiplied, border around);

// Returns the plane of a channel, in which all rows are filled.
typedef const plane *channel_plane(void *context, int channel);

// Scales a part of the planes that `next` returns, and writes the samples of `target`. The samples of `source` are not
// used.
bool planes_scale(const czimg_picture *source, czimg_part part, border around, const czimg_picture *target,
                  int scaled, bool alpha, bool portable, channel_plane *next, void *context);

#endif
