// zimg, which scales planes, each with one channel. The samples of larder's pictures are interleaved, so this code
// splits them into planes and joins the planes again, in loops that a compiler can vectorize.
#ifndef LARDER_CZIMG_H
#define LARDER_CZIMG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Interleaved samples, one directly after the other. A sample has one byte, or two if `wide` is set.
typedef struct {
  uint8_t *samples;
  uint32_t width, height;
  int channels;
  bool wide;
} czimg_picture;

// The part of the source to scale. Its edges may lie within pixels.
typedef struct {
  double x, y, width, height;
} czimg_part;

// A picture that is read row by row from the top. `next` writes the next `count` rows with interleaved samples, one
// directly after the other. If it returns false, scaling fails.
typedef struct {
  uint32_t width, height;
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
} czimg_rows;

// Opens `made`, which is a part of `source`, scaled to the size of `target` by a Lanczos filter. Its rows are scaled on
// demand. Returns false if there is not enough memory. Call `czimg_scaling_close` in either case.
//
// The first `scaled` channels are scaled, and the others are filled with ones. If `alpha` is set, the last channel is
// alpha, and colours are multiplied by alpha while they are scaled. Source and result have as many channels as
// `target`, and samples of the same size. The samples of `target` itself are not used.
//
// About `room` bytes of the source are in memory at a time, or the whole source if `room` is 0. If the filter needs
// more rows than fit, each square of pixels is replaced by its mean, and the means are scaled. There are then still
// four means for each pixel of the result. `portable` means that only zimg's portable code is used. Tests compare its
// results with those of the code for certain processors.
//
// If `colours` is not NULL, the rows of the source are palette indices. `colours` are the 256 colours in memory order:
// red, green, blue and alpha. If the target has three channels, their alpha is ignored. `colours` must stay valid until
// the scaling is closed.
bool czimg_scaling_open(const czimg_rows *source, czimg_part part, const uint32_t *colours, const czimg_picture *target,
                        int scaled, bool alpha, size_t room, bool portable, czimg_rows *made);

void czimg_scaling_close(czimg_rows *made);

#endif
