// libwebp and libwebpdemux, which read and write WebPs. Its structs contain unions, and Swift cannot point into a union. So each
// function here makes all the calls that share a struct.
#ifndef LARDER_CWEBP_H
#define LARDER_CWEBP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  int x, y, width, height;
} cwebp_region;

// The result of a call.
enum { cwebp_done = 0, cwebp_no_memory = 1, cwebp_cut = 2, cwebp_broken = 3, cwebp_refused = 4 };

// A part of a file.
typedef struct {
  size_t start, count;
} cwebp_range;

// The structure of a file: the size of its canvas; the still, or the first frame of an animation, with its place on the
// canvas and its alpha and image chunks; and the payloads of the chunks with tags, which are empty if there are none.
typedef struct {
  int width, height;
  cwebp_region frame;
  cwebp_range image;
  bool is_lossless, has_alpha;
  cwebp_range profile, exif, xmp;
} cwebp_header;

// Reads the structure of a whole file. Refuses a file with more chunks than libwebpdemux can hold in a few megabytes.
int cwebp_read(const uint8_t *bytes, size_t count, cwebp_header *header);

// The input and the output of a decoder. The image must have `width` × `height` pixels, of which a region is decoded.
// If `across` × `down` is not the size of the region, the region is scaled to that size. Each pixel is then the mean of
// the pixels that it covers.
typedef struct {
  int width, height;
  cwebp_region region;
  int across, down;
  bool has_alpha;
  uint8_t *pixels;
  size_t stride;
} cwebp_decoding;

// Decodes `bytes`, which are chunks of a WebP and begin with ALPH or the compressed pixels. Writes RGBA if `has_alpha`
// is set, and otherwise blue, green, red and 255.
int cwebp_decode(const uint8_t *bytes, size_t count, const cwebp_decoding *decoding);

// The order of a pixel's channels.
enum { cwebp_rgb = 0, cwebp_rgba = 1, cwebp_bgrx = 2 };

// A picture that is being encoded, in libwebp's form.
typedef struct cwebp_picture cwebp_picture;

// Starts a picture that will be encoded with or without loss. Its rows are added later. Returns NULL if there is not
// enough memory. If it is encoded with loss, `has_alpha` says whether any pixel may be transparent.
cwebp_picture *cwebp_begin(int width, int height, bool lossless, bool has_alpha);

// Adds the next `rows` rows. Their number must be even except at the end. Returns false if there is not enough memory.
bool cwebp_add(cwebp_picture *picture, const uint8_t *pixels, int stride, int order, int rows);

// Encodes a picture after all of its rows have been added. The file has no metadata, and is in memory that the caller
// must free. `quality` is from 1 to 100, and is ignored if the picture is encoded without loss.
int cwebp_encode(cwebp_picture *picture, int quality, uint8_t **out, size_t *out_count);

void cwebp_close(cwebp_picture *picture);

#endif
