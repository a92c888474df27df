// libavif, which reads and writes AVIFs, and converts planes of luma and chroma to pixels. It loads four AV1 codecs, so
// it is opened when the first AVIF or HEIC is read or written, not when the program starts.
#ifndef LARDER_CAVIF_H
#define LARDER_CAVIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library. It is thread-safe, and repeated calls cost nothing. Returns NULL on success, and otherwise the
// dynamic loader's message, which stays valid. Call it before any other function here.
const char *cavif_open(void);

enum { cavif_done = 0, cavif_no_memory = 1, cavif_cut = 2, cavif_broken = 3, cavif_refused = 4 };

// The result of a call, as one of the numbers above. `message` is libavif's message, unless the result is `cavif_done`.
typedef struct {
  int status;
  char message[256];
} cavif_outcome;

typedef struct {
  size_t x, y, width, height;
} cavif_region;

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
// mirror nothing. The bytes belong to the decoder.
typedef struct {
  size_t width, height;
  cavif_region aperture;
  long depth, angle, mirror;
  bool has_alpha;
  cavif_colour colour;
  cavif_bytes profile, exif, xmp;
} cavif_header;

// Reads the boxes without decoding any pixel. `pixels` is the maximum number of pixels of a frame, and `side` the maximum
// along one side. The bytes must stay valid while the decoder is used. Returns NULL on failure.
struct avifDecoder *cavif_parse(const uint8_t *bytes, size_t count, uint32_t pixels, uint32_t side,
                                cavif_header *header, cavif_outcome *outcome);

// Decodes the still picture, or the first frame of a sequence, and copies the planes of a region. So the decoder, which
// holds several times as much memory, can be freed. Returns NULL on failure.
struct avifImage *cavif_decode(struct avifDecoder *decoder, cavif_region region, cavif_outcome *outcome);

void cavif_decoder_free(struct avifDecoder *decoder);

// Allocates planes for the decoder of another format. Samples of more than 8 bits take two bytes, in the machine's byte
// order. Returns NULL if there is not enough memory.
struct avifImage *cavif_image(size_t width, size_t height, long depth, int chroma, bool has_alpha);

// Sets how the samples of the planes are to be understood.
void cavif_describe(struct avifImage *image, cavif_colour colour, bool full_range, bool premultiplied);

typedef struct {
  uint8_t *bytes;
  size_t stride;
} cavif_plane;

// One of the planes: luma, two planes of chroma, and alpha. Its bytes are NULL if the picture does not have it.
cavif_plane cavif_plane_of(const struct avifImage *image, int plane);

// Copies `count` rows, beginning with `first`, to the top of the planes.
void cavif_move(struct avifImage *image, size_t first, size_t count);

// The order of a pixel's channels. The fourth channel of `cavif_bgrx` has no meaning, and is 255 in converted pixels.
enum { cavif_rgb = 0, cavif_rgba = 1, cavif_bgrx = 2 };

// Rows of pixels. `depth` is the number of bits of a sample: 8, or 16 in the machine's byte order.
typedef struct {
  uint8_t *bytes;
  size_t stride;
  int order;
  long depth;
} cavif_pixels;

// Converts a region of planes to pixels. `pixels` must have 16 bits if the planes have more than 8 bits, and otherwise 8
// bits. If chroma is subsampled or missing, x and y must be even.
void cavif_convert(const struct avifImage *image, cavif_region region, cavif_pixels pixels, cavif_outcome *outcome);

void cavif_image_free(struct avifImage *image);

typedef struct {
  // Writes the next `count` rows to `target`. Returns false if it cannot.
  bool (*next)(void *context, uint8_t *target, uint32_t count);
  void *context;
  size_t width, height;
  // The form of the rows; its bytes are ignored.
  cavif_pixels rows;
  // The number of bits of a sample in the file.
  long depth;
  // The quality, 1 to 100; ignored if `lossless`.
  long quality;
  bool lossless;
  cavif_colour colour;
} cavif_encoding;

// Encodes a file with these tags, each of which can be empty. Free its bytes with `cavif_bytes_free`.
cavif_bytes cavif_encode(const cavif_encoding *encoding, const uint8_t *profile, size_t profile_count,
                         const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count,
                         cavif_outcome *outcome);

void cavif_bytes_free(cavif_bytes bytes);

#endif
