// libwebp. Each function runs a whole sequence of calls, as libwebp's structures have unions, which Swift reads only by
// copies.
#ifndef LARDER_CWEBP_H
#define LARDER_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The release of the loaded library: eight bits a number.
int cwebp_release(void);

typedef struct {
  int x, y, width, height;
} cwebp_region;

// How a sequence ended.
enum { cwebp_done = 0, cwebp_no_memory = 1, cwebp_cut = 2, cwebp_broken = 3, cwebp_refused = 4 };

// The input and output of a decoder: a region of an image whose size has to be `width` × `height`,
// reduced while decoding to `across` × `down` pixels, each the mean of those that it covers, or of
// its own size.
typedef struct {
  int width, height;
  cwebp_region region;
  int across, down;
  bool has_alpha;
  uint8_t *pixels;
  size_t stride;
} cwebp_decoding;

// Decodes `bytes`, chunks of a WebP from ALPH or the bitstream on. Pixels are red, green, blue and alpha, or blue,
// green, red and 255.
int cwebp_decode(const uint8_t *bytes, size_t count, const cwebp_decoding *decoding);

// The layout of a pixel's bytes.
enum { cwebp_rgb = 0, cwebp_rgba = 1, cwebp_bgrx = 2 };

// A picture on its way to a file, in the form that libwebp's encoder takes it.
typedef struct cwebp_picture cwebp_picture;

// Begins a picture that is added row by row, to be encoded with or without loss; NULL when memory is short. With
// loss, `has_alpha` says whether anything may be clear.
cwebp_picture *cwebp_begin(int width, int height, bool lossless, bool has_alpha);

// Adds the `rows` rows that follow, an even number except for the last ones. False when memory is short.
bool cwebp_add(cwebp_picture *picture, const uint8_t *pixels, int stride, int order, int rows);

// Makes a file without metadata of a picture all of whose rows were added, in memory that the caller frees. `quality` is
// 1 to 100, and of no meaning without loss.
int cwebp_encode(cwebp_picture *picture, int quality, uint8_t **out, size_t *out_count);

void cwebp_close(cwebp_picture *picture);

#endif
