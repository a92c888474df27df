// libpng. It reports errors by longjmp, which must never cross a Swift frame: each function here runs a whole sequence
// of calls that can jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CPNG_H
#define LARDER_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `compress` and `uncompress`, which jump nowhere.
#include <zlib.h>

// The release of the loaded library, as text.
const char *cpng_release(void);

// How samples leave the decoder. Samples below 8 bits take a byte each; 16-bit ones are in the
// machine's order.
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

// Why a sequence failed.
typedef struct {
  bool out_of_memory;
  char message[200];
} cpng_outcome;

// The input of a reader. `channels` and `depth` are those that the rows must have; the last data
// chunk ends at `data_end`; no side may be longer than `side`. The even rows of an interlaced
// picture are complete only when nearly all of it is unpacked, so up to `band` bytes of them are
// held at a time. libpng itself allocates `memory` bytes at most.
typedef struct {
  const uint8_t *bytes;
  size_t count, data_end;
  uint32_t side;
  int form, channels, depth;
  cpng_region region;
  size_t band;
  long memory;
} cpng_source;

// A region whose rows are decoded as they are asked for, so that no more of them are ever in memory.
typedef struct cpng_rows cpng_rows;

// Opens a region of a source, and writes the layout of its rows to `shape`; NULL when that fails.
// Source and outcome have to stay where they are until the rows are closed.
cpng_rows *cpng_rows_open(const cpng_source *source, cpng_shape *shape, cpng_outcome *outcome);

// Decodes the next `count` rows, one behind the other, and with the region's last one reads the file to its
// end.
bool cpng_rows_next(cpng_rows *rows, uint8_t *pixels, uint32_t count);

// Closes rows; of NULL nothing.
void cpng_rows_close(cpng_rows *rows);

// The destination of a file, and its chunks beside the picture. `room` has `size` bytes, one at
// least, and `bytes` is the room at first. With `take`, the full room is handed to it again and
// again, and the last `count` bytes stay in the room; `take` ends the file by false. Else the file
// is `count` bytes at `bytes`: in the room, or, where that was too small, in memory that the
// caller frees.
typedef struct {
  uint8_t *room, *bytes;
  size_t size, count;
  bool (*take)(void *taker, const uint8_t *bytes, size_t count);
  void *taker;
  // Whole chunks for before the palette, and for before the data.
  const uint8_t *head, *middle;
  size_t head_count, middle_count;
} cpng_output;

// Encodes all rows of the given shape, interlaced.
bool cpng_encode_interlaced(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                            cpng_output *output, cpng_outcome *outcome);

// Rows that are encoded as they come: `next` writes the `count` that follow, one behind the other; false ends it.
// `at_once` of them are asked for at a time, fewer at the end. No libpng call of the encoder is under way then.
typedef struct {
  uint32_t at_once;
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
} cpng_coming;

// Encodes rows of the given shape, not interlaced, so that never all of them are in memory.
bool cpng_encode(const cpng_shape *shape, const cpng_coming *coming, int level, cpng_output *output,
                 cpng_outcome *outcome);

// How many bytes zlib makes of these, counted no further than to `limit` and a little; `is_whole` says
// whether they are a whole zlib stream as far as that. Nothing is kept.
long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit, bool *is_whole);

// The CRC of a chunk's type and data, by zlib.
uint32_t cpng_crc(const uint8_t *bytes, size_t count);

#endif
