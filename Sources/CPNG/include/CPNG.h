// libpng reports errors by longjmp, which must never cross a Swift frame: each function here runs a
// whole sequence of calls that can jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CPNG_H
#define LARDER_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How samples leave the decoder. Samples below 8 bits take a byte each; 16-bit ones are in the
// machine's order.
enum {
  cpng_native = 0,   // as in the file: palette indices, grey of 1, 2 and 4 bits, no alpha for tRNS
  cpng_expanded = 1, // palettes as RGB, small greys as 8 bits, tRNS as alpha
  cpng_coloured = 2  // as expanded, and grey as RGB
};

enum { cpng_grey = 0, cpng_rgb = 2, cpng_palette = 3, cpng_grey_alpha = 4, cpng_rgb_alpha = 6 };

// A picture's shape. `palette` holds RGB triples, `alpha` the palette's tRNS.
typedef struct {
  uint32_t width, height;
  int depth, color_type, channels;
  int palette_count, alpha_count;
  uint8_t palette[768], alpha[256];
  bool has_clear_color;
  uint16_t clear_grey, clear_red, clear_green, clear_blue;
} cpng_shape;

typedef struct {
  uint32_t x, y, width, height;
} cpng_region;

// Why a sequence failed.
typedef struct {
  bool out_of_memory;
  char message[200];
} cpng_outcome;

// Decodes a region and reads the file to its end. The last data chunk ends at `data_end`. `pixels` has
// room for region.height rows of `stride` bytes; `shape` tells what was written there.
bool cpng_decode(const uint8_t *bytes, size_t count, size_t data_end, uint32_t side, int form,
                 cpng_region region, uint8_t *pixels, size_t stride, cpng_shape *shape,
                 cpng_outcome *outcome);

// Encodes rows of the given shape. The caller frees `*out`.
bool cpng_encode(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                 bool interlaced, uint8_t **out, size_t *out_count, cpng_outcome *outcome);

// How many bytes zlib makes of these, counted no further than to `limit` and a little; -1 when they
// are no whole zlib stream. Nothing is kept.
long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit);

// The CRC of a chunk's type and data, by zlib.
uint32_t cpng_crc(const uint8_t *bytes, size_t count);

#endif
