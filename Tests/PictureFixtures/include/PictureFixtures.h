// JPEGs of every kind that cameras and programs write, and that our own encoder never does.
#ifndef LARDER_PICTURE_FIXTURES_H
#define LARDER_PICTURE_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `color_space` is libjpeg's number of what the file holds: 1 grey, 2 RGB, 3 YCbCr, 4 CMYK, 5 YCCK.
typedef struct {
  int width, height, color_space, across, down, restart_rows, quality;
  bool progressive, arithmetic;
} fixture_jpeg;

// Encodes a picture whose samples `pixel` gives. The caller frees the result.
uint8_t *fixture_encode(const fixture_jpeg *fixture, const uint8_t *samples, size_t *count);

#endif
