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

// Numbers are those of tags; `tile` and `strip` are a side and rows, 0 for none and one; `extra` is -1 for no tag. A date
// `taken` stands in a directory of its own.
typedef struct {
  int width, height, bits, samples, photometric, compression, tile, strip, orientation, extra;
  bool separate, big_endian, large;
  const char *date, *taken;
  const uint8_t *profile;
  size_t profile_count;
} fixture_tiff;

// Encodes rows of whole bytes as TIFF; where samples are separate, all rows of one kind and then of the next. The caller
// frees the result.
uint8_t *fixture_encode_tiff(const fixture_tiff *fixture, const uint8_t *samples, size_t *count);

// Loops over samples: without optimisation, as tests are built, Swift takes a hundred times as long for them.

// Smooth samples that no two places near each other share; `length` stretches the waves.
void fixture_wave(uint8_t *samples, int width, int height, int channels, double length);

// Samples of a fixed disorder: the lowest bits of each that `mask` has, or what is left of it by `limit`, if not 0.
void fixture_noise(uint8_t *samples, size_t count, uint8_t mask, int limit);

// The largest difference of two samples of one byte each, and of two.
int fixture_largest_difference_8(const void *one, const void *other, size_t count);
int fixture_largest_difference_16(const void *one, const void *other, size_t count);

// The sum of the squares of the differences of bytes, but for the last of each four if `skips_fourth`.
double fixture_squared_difference(const void *one, const void *other, size_t count,
                                  bool skips_fourth);

// Goes on with the CRC of a PNG's chunk. (ISO/IEC 15948, annex D)
uint32_t fixture_crc(uint32_t crc, const void *bytes, size_t count);

#endif
