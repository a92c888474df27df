// JPEGs and AVIFs of every kind that cameras and programs write, and that our own encoders never do.
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

// `chroma` is avifPixelFormat: 1 for 4:4:4 (which is then without loss), 3 for 4:2:0, 4 for none. `angle` counts
// quarters to the left, `mirror` is -1, 0 or 1; with a `shown_width`, only that part is to be shown. `primaries` and
// `transfer` are ITU-T H.273's numbers, 0 for none.
typedef struct {
  int width, height, depth, chroma, angle, mirror, frames;
  int shown_x, shown_y, shown_width, shown_height;
  int primaries, transfer;
  bool alpha;
  const uint8_t *exif;
  size_t exif_count;
} fixture_avif;

// Encodes red, green, blue and alpha as AVIF. The caller frees the result.
uint8_t *fixture_encode_avif(const fixture_avif *fixture, const uint8_t *samples, size_t *count);

#endif
