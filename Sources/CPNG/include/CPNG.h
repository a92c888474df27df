// libpng, which reads and writes PNGs. It reports errors by longjmp, which must never cross a Swift frame. So each
// function here makes a whole sequence of calls that may jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CPNG_H
#define LARDER_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Swift calls zlib's `compress` and `uncompress` directly, because they never jump.
#include <zlib.h>

// The form of decoded samples. A sample of less than 8 bits takes a byte. Samples of 16 bits are in the machine's byte
// order.
enum {
  cpng_native = 0,   // as in the file: palette indices, grey of 1, 2 and 4 bits, no alpha for tRNS
  cpng_expanded = 1  // palettes as RGB, small greys as 8 bits, tRNS as alpha
};

enum { cpng_grey = 0, cpng_rgb = 2, cpng_palette = 3, cpng_grey_alpha = 4, cpng_rgb_alpha = 6 };

// The shape of a picture. `palette` has the red, green and blue of each colour. `alpha` has the alpha of the first
// colours (tRNS).
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

// The input of a reader. The rows must have `channels` and `depth`. The last chunk with pixels ends at `data_end`. No
// side of the picture may be longer than `side`. The even rows of an interlaced picture are complete only when nearly
// the whole picture is decompressed. So they are kept, up to `band` bytes of them at a time. libpng itself may allocate
// at most `memory` bytes.
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

// Opens a region of a source, and sets `shape` to the layout of its rows. Returns NULL on failure. `source` and
// `outcome` must stay valid until the rows are closed.
cpng_rows *cpng_rows_open(const cpng_source *source, cpng_shape *shape, cpng_outcome *outcome);

// Decodes the next `count` rows into `pixels`, one directly after the other. After the last row of the region, the file
// is read to its end.
bool cpng_rows_next(cpng_rows *rows, uint8_t *pixels, uint32_t count);

// Closes rows. Does nothing if `rows` is NULL.
void cpng_rows_close(cpng_rows *rows);

// The destination of a file, and further chunks to write to it. `room` is a buffer of `size` bytes, at least one. Set
// `bytes` to it, too. If `take` is set, it is called with the buffer each time the buffer is full, and the last `count`
// bytes of the file stay in the buffer. If `take` returns false, encoding fails. If `take` is NULL, the file is the
// `count` bytes at `bytes`. They are in the buffer or, if it was too small, in memory that the caller must free.
typedef struct {
  uint8_t *room, *bytes;
  size_t size, count;
  bool (*take)(void *taker, const uint8_t *bytes, size_t count);
  void *taker;
  // Whole chunks: `head` is written before the palette, `middle` between the palette and the data.
  const uint8_t *head, *middle;
  size_t head_count, middle_count;
} cpng_output;

// Encodes rows of the given shape as an interlaced file. All rows must be in memory.
bool cpng_encode_interlaced(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                            cpng_output *output, cpng_outcome *outcome);

// The input of the encoder. `next` writes the next `count` rows to `rows`, one directly after the other. If it returns
// false, encoding fails. `count` is `at_once`, or smaller at the end. `next` is never called from within libpng.
typedef struct {
  uint32_t at_once;
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
} cpng_coming;

// Encodes rows of the given shape as a file that is not interlaced. A few rows are requested at a time, so not all of
// them have to be in memory.
bool cpng_encode(const cpng_shape *shape, const cpng_coming *coming, int level, cpng_output *output,
                 cpng_outcome *outcome);

// Returns the decompressed size of a zlib stream. Counting stops a little beyond `limit`. `is_whole` is set if the
// stream is valid up to that point. The decompressed bytes are discarded. Swift uses this function to limit the
// compressed metadata of a PNG.
long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit, bool *is_whole);

// Returns the CRC of the type and the payload of a chunk.
uint32_t cpng_crc(const uint8_t *bytes, size_t count);

#endif
