// libwebp. Each function runs a whole sequence of calls, because libwebp's structs contain unions, which Swift can only
// read as copies.
#ifndef LARDER_CWEBP_H
#define LARDER_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the loaded library: eight bits for each number.
int cwebp_release(void);

typedef struct {
  int x, y, width, height;
} cwebp_region;

// The result of a call.
enum { cwebp_done = 0, cwebp_no_memory = 1, cwebp_cut = 2, cwebp_broken = 3, cwebp_refused = 4 };

// The input and output of a decoder: a region of an image, which must be `width` × `height` in size. The region is
// scaled while decoding to `across` × `down` pixels, each the mean of those that it covers, or is left at its own size.
typedef struct {
  int width, height;
  cwebp_region region;
  int across, down;
  bool has_alpha;
  uint8_t *pixels;
  size_t stride;
} cwebp_decoding;

// Decodes `bytes`: chunks of a WebP, starting with ALPH or the bitstream. Pixels are red, green, blue and alpha, or
// blue, green, red and 255.
int cwebp_decode(const uint8_t *bytes, size_t count, const cwebp_decoding *decoding);

// The order of a pixel's channels.
enum { cwebp_rgb = 0, cwebp_rgba = 1, cwebp_bgrx = 2 };

// A picture that is being encoded, in libwebp's form.
typedef struct cwebp_picture cwebp_picture;

// Starts a picture whose rows are added later, to be encoded with or without loss. Returns NULL if there is not enough
// memory. With loss, `has_alpha` says whether any pixel may be transparent.
cwebp_picture *cwebp_begin(int width, int height, bool lossless, bool has_alpha);

// Adds the next `rows` rows, an even number except at the end. Returns false if there is not enough memory.
bool cwebp_add(cwebp_picture *picture, const uint8_t *pixels, int stride, int order, int rows);

// Encodes a picture after all of its rows have been added. The file has no metadata, and is in memory that the caller
// must free. `quality` is 1 to 100, and is ignored without loss.
int cwebp_encode(cwebp_picture *picture, int quality, uint8_t **out, size_t *out_count);

void cwebp_close(cwebp_picture *picture);

#endif
