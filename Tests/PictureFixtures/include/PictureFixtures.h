// Encoders for kinds of JPEG, AVIF and TIFF that cameras and programs write, but larder's own
// encoders do not.
#ifndef LARDER_PICTURE_FIXTURES_H
#define LARDER_PICTURE_FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `color_space` is libjpeg's number of the stored colour space: 1 grey, 2 RGB, 3 YCbCr, 4 CMYK, 5
// YCCK.
typedef struct {
  int width, height, color_space, across, down, restart_rows, quality;
  bool progressive, arithmetic;
} fixture_jpeg;

// Encodes a picture from these samples. The caller frees the result.
uint8_t *fixture_encode(const fixture_jpeg *fixture, const uint8_t *samples, size_t *count);

// Copies the quantized coefficients of one component of a JPEG: 64 for each block, row by row. Returns NULL if there is
// no such component. The caller frees the result.
int16_t *fixture_coefficients(const uint8_t *bytes, size_t count, int component, int *across, int *down);

// `chroma` is avifPixelFormat: 1 for 4:4:4, which is then lossless, 3 for 4:2:0, 4 for none.
// `angle` counts quarter turns to the left, and `mirror` is -1, 0 or 1. With a `shown_width` there
// is a clean aperture. `primaries` and `transfer` are numbers of ITU-T H.273, 0 for none.
typedef struct {
  int width, height, depth, chroma, angle, mirror, frames;
  int shown_x, shown_y, shown_width, shown_height;
  int primaries, transfer;
  bool alpha;
  const uint8_t *exif;
  size_t exif_count;
} fixture_avif;

// Encodes RGBA samples as AVIF. The caller frees the result.
uint8_t *fixture_encode_avif(const fixture_avif *fixture, const uint8_t *samples, size_t *count);

// Numbers are values of the tags. `tile` is the side of a tile, 0 for none; `strip` is the rows of
// a strip, 0 for one strip. `extra` is -1 for no tag. The date `taken` is in the Exif directory.
typedef struct {
  int width, height, bits, samples, photometric, compression, tile, strip, orientation, extra;
  bool separate, big_endian, large;
  const char *date, *taken;
  const uint8_t *profile;
  size_t profile_count;
} fixture_tiff;

// Encodes rows of whole bytes as TIFF. With separate planes, all rows of one component come before
// the next. The caller frees the result.
uint8_t *fixture_encode_tiff(const fixture_tiff *fixture, const uint8_t *samples, size_t *count);

// Loops over samples in C, because in a debug build Swift takes a hundred times as long.

// Smooth samples that differ between neighbouring places; `length` stretches the waves.
void fixture_wave(uint8_t *samples, int width, int height, int channels, double length);

// Repeatable noise: each sample keeps the bits of `mask`, or is a remainder by `limit` if that is not 0.
void fixture_noise(uint8_t *samples, size_t count, uint8_t mask, int limit);

// The largest difference between two arrays of samples, of one byte each and of two bytes each.
int fixture_largest_difference_8(const void *one, const void *other, size_t count);
int fixture_largest_difference_16(const void *one, const void *other, size_t count);

// The sum of the squared differences of bytes; `skips_fourth` omits every fourth byte.
double fixture_squared_difference(const void *one, const void *other, size_t count,
                                  bool skips_fourth);

// Continues the CRC of a PNG chunk. (ISO/IEC 15948, annex D)
uint32_t fixture_crc(uint32_t crc, const void *bytes, size_t count);

#endif
