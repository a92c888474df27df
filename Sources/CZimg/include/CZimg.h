// zimg, which scales planes, each with one channel. The samples of larder's pictures are interleaved, so this code
// splits them into planes and joins the planes again, in loops that a compiler can vectorize.
#ifndef LARDER_CZIMG_H
#define LARDER_CZIMG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A part of a picture, scaled by a Lanczos filter, a strip of rows at a time. The caller sets the fields of the first
// group and zeroes the others.
//
// Samples are interleaved, one directly after the other. A sample has one byte, or two if `wide` is set. The first
// `scaled` channels are scaled, and the others are filled with ones. If `alpha` is set, the last channel is alpha, and
// colours are multiplied by alpha while they are scaled. `portable` means that only zimg's portable code is used. Tests
// compare its results with those of the code for certain processors.
typedef struct {
  // The size of the whole picture, and the size of the result.
  uint32_t width, height, made_width, made_height;
  // The part to scale. Its edges may lie within pixels.
  double part_x, part_y, part_width, part_height;
  int channels, scaled;
  bool wide, alpha, portable;

  // The number of picture rows for each row of the result, and the number of further rows that the filter may use above
  // and below.
  double ratio;
  uint32_t margin;
  // The number of rows of the result in a strip, and the number of picture rows that are in memory for them.
  uint32_t step, held;
  // One plane for each scaled channel, with a border around the picture. `plane` is the number of bytes of a plane.
  char *planes;
  size_t stride, plane;
  uint32_t left, top, right;
  // The first picture row in the planes, the row after the last one, and the next row to read.
  uint32_t first, end, next;
  // The number of rows of the result that were made.
  uint32_t made;
} czimg_scaling;

// Allocates the planes. About `room` bytes of the picture are in memory at a time, or the whole picture if `room` is 0.
// Returns false if there is not enough memory. Call `czimg_close` in either case.
bool czimg_open(czimg_scaling *scaling, size_t room);

void czimg_close(czimg_scaling *scaling);

// Begins the next strip, which has `count` rows, at most `step`. Returns the number of picture rows to pass to
// `czimg_take`.
uint32_t czimg_begin(czimg_scaling *scaling, uint32_t count);

// Takes the next row of the picture.
void czimg_take(czimg_scaling *scaling, const void *row);

// Scales the strip, and writes its `count` rows. Returns false if there is not enough memory.
bool czimg_make(czimg_scaling *scaling, void *rows, uint32_t count);

#endif
