// zimg. It scales planes; pictures here have their samples side by side. These few lines take the samples apart, plane
// by plane, and put them together again, in the loops that a compiler vectorizes.
#ifndef LARDER_CZIMG_H
#define LARDER_CZIMG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The release of the loaded library.
void czimg_release(unsigned *major, unsigned *minor, unsigned *patch);

// Samples side by side without padding: of one byte, or of two if `wide`.
typedef struct {
  uint8_t *samples;
  uint32_t width, height;
  int channels;
  bool wide;
} czimg_picture;

// The part of the source to scale, in pixels that need not be whole.
typedef struct {
  double x, y, width, height;
} czimg_part;

// A picture whose rows come one after the other, from the top: `next` writes the `count` that follow, side by
// side without padding; false ends it.
typedef struct {
  uint32_t width, height;
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
} czimg_rows;

// Makes the rows of `made` as they are asked for: a part of `source`, scaled to the size of `target` by a Lanczos filter.
// The first `scaled` channels are; the others are filled with ones. With `alpha`, the last channel is alpha, and colours are
// multiplied by it meanwhile. About `room` bytes of the source are held at a time, and all of it where the room
// is 0. Both have samples like the target's, of which only the shape counts. Where the filter would reach for more,
// means of squares are scaled, of which it still has four for each pixel. `portable` keeps to zimg's code in plain C, which
// its faster code for single processors is held against. False when memory is short. It is closed in either case.
//
// With `colours`, the rows of the source are indices instead, and these are the colours of 256 of
// them in memory order: red, green, blue and alpha; a target of three channels has no alpha. They
// stay where they are until it is closed.
bool czimg_scaling_open(const czimg_rows *source, czimg_part part, const uint32_t *colours, const czimg_picture *target,
                        int scaled, bool alpha, size_t room, bool portable, czimg_rows *made);

void czimg_scaling_close(czimg_rows *made);

#endif
