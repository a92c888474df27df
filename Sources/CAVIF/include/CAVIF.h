// libavif, opened when the first AVIF is read or written rather than when the program starts: it brings four AV1
// codecs along. Each function runs a whole sequence of calls, as libavif's structures are its own to allocate.
#ifndef LARDER_CAVIF_H
#define LARDER_CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library; safe from any thread; later calls cost nothing. NULL when it is there, else the
// dynamic loader's words, which stay valid. Before, no other function may be called.
const char *cavif_open(void);

// The release of the loaded library, as text; NULL where it cannot be opened.
const char *cavif_release(void);

// How a sequence ended.
enum { cavif_done = 0, cavif_no_memory = 1, cavif_cut = 2, cavif_broken = 3, cavif_refused = 4 };

// Why it did not end well, in libavif's words.
typedef struct {
  char message[256];
} cavif_outcome;

typedef struct {
  uint32_t x, y, width, height;
} cavif_region;

// Bytes that the caller frees.
typedef struct {
  uint8_t *bytes;
  size_t count;
} cavif_bytes;

// How light is written: chroma as avifPixelFormat has it, the others as ITU-T H.273 numbers them.
typedef struct {
  int chroma, primaries, transfer, matrix;
} cavif_colour;

enum { cavif_444 = 1, cavif_422 = 2, cavif_420 = 3, cavif_400 = 4 };

// The fields of the boxes. `aperture` is the part that is to be shown; `angle` counts quarters to
// the left, `mirror` is -1 for none, 0 for top to bottom, 1 for left to right, after that.
typedef struct {
  uint32_t width, height, frames;
  cavif_region aperture;
  int depth, angle, mirror;
  bool has_alpha;
  cavif_colour colour;
  cavif_bytes profile, exif, xmp;
} cavif_header;

// The limits of a file.
typedef struct {
  uint32_t pixels, side, frames;
} cavif_limits;

// Reads the boxes without decoding any pixel.
int cavif_read_header(const uint8_t *bytes, size_t count, cavif_limits limits, cavif_header *header,
                      cavif_outcome *outcome);

// Whether libavif was built with dav1d.
bool cavif_has_dav1d(void);

// Decodes a region of the still, or of the first frame: red, green, blue (and alpha), or of 8 bits without alpha
// blue, green, red and 255. Samples of more than 8 bits are spread over 16, in the machine's order. dav1d decodes them,
// or whichever decoder libavif was built with.
int cavif_decode(const uint8_t *bytes, size_t count, cavif_limits limits, bool by_dav1d, cavif_region region,
                 bool has_alpha, bool is_wide, uint8_t *pixels, size_t stride,
                 cavif_outcome *outcome);

// Planes that a decoder of another format has made: light, two colours and alpha, the last NULL where there is none; of
// two bytes a sample, in the machine's order, where they have more than 8 bits.
typedef struct {
  const uint8_t *planes[4];
  size_t strides[4];
  uint32_t width, height;
  int depth;
  bool full_range, premultiplied;
  cavif_colour colour;
} cavif_planes;

// Converts planes to pixels as `cavif_decode` has them.
int cavif_convert(const cavif_planes *planes, uint8_t *pixels, size_t stride, cavif_outcome *outcome);

// The layout of a pixel's bytes.
enum { cavif_rgb = 0, cavif_rgba = 1, cavif_bgrx = 2 };

typedef struct {
  const uint8_t *pixels;
  uint32_t stride, width, height;
  int order;
  // Bits of a sample of `pixels`, 8 or 16, and of the file.
  int depth, file_depth;
  // 1 to 100; of no meaning without loss.
  int quality;
  bool lossless;
  cavif_colour colour;
  const uint8_t *profile, *exif, *xmp;
  size_t profile_count, exif_count, xmp_count;
} cavif_encoding;

// A picture on its way to a file, in the form that the encoder takes it.
typedef struct cavif_picture cavif_picture;

// Takes the pixels and all else of a picture, none of which is read again; NULL, with the result, when that fails.
cavif_picture *cavif_begin(const cavif_encoding *encoding, int *result, cavif_outcome *outcome);

// Makes a file, in memory that the caller frees.
int cavif_encode(cavif_picture *picture, cavif_bytes *out, cavif_outcome *outcome);

void cavif_close(cavif_picture *picture);

#endif
