// libavif, which reads and writes AVIFs. It loads four AV1 codecs, so it is opened when the first AVIF is read or
// written, not when the program starts. Each function here makes a whole sequence of calls, because libavif allocates
// its structs itself.
#ifndef LARDER_CAVIF_H
#define LARDER_CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library. It is thread-safe, and repeated calls cost nothing. Returns NULL on success, and otherwise the
// dynamic loader's message, which stays valid. Call it before any other function here.
const char *cavif_open(void);

// The result of a call.
enum { cavif_done = 0, cavif_no_memory = 1, cavif_cut = 2, cavif_broken = 3, cavif_refused = 4 };

// libavif's message, unless the result is `cavif_done`.
typedef struct {
  char message[256];
} cavif_outcome;

typedef struct {
  uint32_t x, y, width, height;
} cavif_region;

// Bytes in memory that the caller must free.
typedef struct {
  uint8_t *bytes;
  size_t count;
} cavif_bytes;

// How colours are encoded. `chroma` is an avifPixelFormat. The other fields are numbers of ITU-T H.273.
typedef struct {
  int chroma, primaries, transfer, matrix;
} cavif_colour;

enum { cavif_444 = 1, cavif_422 = 2, cavif_420 = 3, cavif_400 = 4 };

// The fields of the boxes. `aperture` is the visible part. `angle` is the number of quarter turns to the left. The
// picture is mirrored after the turns: `mirror` is 0 to mirror top to bottom, 1 to mirror left to right, and -1 to
// mirror nothing.
typedef struct {
  uint32_t width, height, frames;
  cavif_region aperture;
  int depth, angle, mirror;
  bool has_alpha;
  cavif_colour colour;
  cavif_bytes profile, exif, xmp;
} cavif_header;

// The most pixels of a frame, the most pixels along a side, and the most frames of a file.
typedef struct {
  uint32_t pixels, side, frames;
} cavif_limits;

// Reads the boxes without decoding any pixel.
int cavif_read_header(const uint8_t *bytes, size_t count, cavif_limits limits, cavif_header *header,
                      cavif_outcome *outcome);

// Whether libavif was built with dav1d.
bool cavif_has_dav1d(void);

// Decodes a region of the still picture, or of the first frame of a sequence. The pixels are RGB or RGBA. With 8 bits
// and without alpha, they are blue, green, red and 255. Samples of more than 8 bits are scaled to 16 bits, in the
// machine's byte order. If `by_dav1d` is set, dav1d decodes the picture. Otherwise libavif chooses the decoder.
int cavif_decode(const uint8_t *bytes, size_t count, cavif_limits limits, bool by_dav1d, cavif_region region,
                 bool has_alpha, bool is_wide, uint8_t *pixels, size_t stride,
                 cavif_outcome *outcome);

// Planes from the decoder of another format: luma, two planes of chroma, and alpha. If there is no alpha, the plane of
// alpha is NULL. Samples of more than 8 bits take two bytes, in the machine's byte order.
typedef struct {
  const uint8_t *planes[4];
  size_t strides[4];
  uint32_t width, height;
  int depth;
  bool full_range, premultiplied;
  cavif_colour colour;
} cavif_planes;

// Converts planes to pixels, in the same layouts as `cavif_decode`.
int cavif_convert(const cavif_planes *planes, uint8_t *pixels, size_t stride, cavif_outcome *outcome);

// The order of a pixel's channels.
enum { cavif_rgb = 0, cavif_rgba = 1, cavif_bgrx = 2 };

typedef struct {
  const uint8_t *pixels;
  uint32_t stride, width, height;
  int order;
  // The number of bits of a sample in `pixels`, 8 or 16, and the number in the file.
  int depth, file_depth;
  // The quality, 1 to 100; ignored if `lossless`.
  int quality;
  bool lossless;
  cavif_colour colour;
  const uint8_t *profile, *exif, *xmp;
  size_t profile_count, exif_count, xmp_count;
} cavif_encoding;

// A picture that is being encoded.
typedef struct cavif_picture cavif_picture;

// Starts a picture, and copies the pixels and everything else in `encoding`. Returns NULL and sets `result` on failure.
cavif_picture *cavif_begin(const cavif_encoding *encoding, int *result, cavif_outcome *outcome);

// Encodes the file into memory that the caller must free.
int cavif_encode(cavif_picture *picture, cavif_bytes *out, cavif_outcome *outcome);

void cavif_close(cavif_picture *picture);

#endif
