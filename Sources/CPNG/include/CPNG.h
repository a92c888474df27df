// libpng. It reports errors by longjmp, which must never cross a Swift frame. So each function here runs a whole
// sequence of calls that may jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CPNG_H
#define LARDER_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// For `compress` and `uncompress`, which never jump.
#include <zlib.h>

// The version of the loaded library.
const char *cpng_release(void);

// The form of decoded samples. Samples of less than 8 bits take a byte each; 16-bit ones are in the machine's byte
// order.
enum {
  cpng_native = 0,   // as in the file: palette indices, grey of 1, 2 and 4 bits, no alpha for tRNS
  cpng_expanded = 1  // palettes as RGB, small greys as 8 bits, tRNS as alpha
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

// Why a call failed.
typedef struct {
  bool out_of_memory;
  char message[200];
} cpng_outcome;

// The input of a reader. `channels` and `depth` are those that the rows must have. The last data chunk ends at
// `data_end`. No side may be longer than `side`. The even rows of an interlaced picture are complete only when nearly
// all of it is decompressed. So up to `band` bytes of them are held at a time. At most `memory` bytes may be allocated
// by libpng itself.
typedef struct {
  const uint8_t *bytes;
  size_t count, data_end;
  uint32_t side;
  int form, channels, depth;
  cpng_region region;
  size_t band;
  long memory;
} cpng_source;

// A region whose rows are decoded on demand, so that not all of them are in memory.
typedef struct cpng_rows cpng_rows;

// Opens a region of a source, and sets `shape` to the layout of its rows; returns NULL on failure. `source` and
// `outcome` must stay valid until the rows are closed.
cpng_rows *cpng_rows_open(const cpng_source *source, cpng_shape *shape, cpng_outcome *outcome);

// Decodes the next `count` rows into `pixels`, without gaps. After the region's last row it reads the file to its end.
bool cpng_rows_next(cpng_rows *rows, uint8_t *pixels, uint32_t count);

// Closes rows; does nothing for NULL.
void cpng_rows_close(cpng_rows *rows);

// The destination of a file, and its chunks other than the picture. `room` is a buffer of `size` bytes, at least one,
// to which `bytes` must point at first. With `take`, the buffer is passed to that function each time it is full, and
// the last `count` bytes stay in it; if `take` returns false, encoding fails. Without `take`, the file is `count` bytes
// at `bytes`: in the buffer or, if that was too small, in memory that the caller must free.
typedef struct {
  uint8_t *room, *bytes;
  size_t size, count;
  bool (*take)(void *taker, const uint8_t *bytes, size_t count);
  void *taker;
  // Whole chunks to write before the palette, and before the data.
  const uint8_t *head, *middle;
  size_t head_count, middle_count;
} cpng_output;

// Encodes all rows of the given shape, interlaced.
bool cpng_encode_interlaced(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                            cpng_output *output, cpng_outcome *outcome);

// The input of the encoder: `next` writes the next `count` rows without gaps. `at_once` rows are requested at a time,
// fewer at the end. If `next` returns false, encoding fails. It is never called within a libpng call of the encoder.
typedef struct {
  uint32_t at_once;
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
} cpng_coming;

// Encodes rows of the given shape, not interlaced, without all of them in memory.
bool cpng_encode(const cpng_shape *shape, const cpng_coming *coming, int level, cpng_output *output,
                 cpng_outcome *outcome);

// The decompressed size of a zlib stream, counted to a little more than `limit` at most. Sets `is_whole` if the stream
// is valid as far as it was counted. The decompressed bytes are discarded.
long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit, bool *is_whole);

// The CRC of a chunk's type and data, by zlib.
uint32_t cpng_crc(const uint8_t *bytes, size_t count);

#endif
