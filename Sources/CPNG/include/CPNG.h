// libpng, which reads and writes PNGs. It reports errors by longjmp, which must never cross a Swift frame. So each
// function here makes a whole sequence of calls that may jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CPNG_H
#define LARDER_CPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Swift calls zlib's functions directly, because they never jump.
#include <zlib.h>

// Why a call failed.
typedef struct {
  bool out_of_memory;
  char message[200];
} cpng_outcome;

// The input of a reader. The last chunk with pixels ends at `data_end`. No side of the picture may be longer than
// `side`. If `expands` is set, palettes become RGB, samples get at least 8 bits, and tRNS becomes alpha. Otherwise
// samples stay as in the file. Rows must have `row_bytes` bytes. A sample of less than 8 bits takes a byte. Samples of
// 16 bits are in the machine's byte order. libpng itself may allocate at most `memory` bytes.
typedef struct {
  const uint8_t *bytes;
  size_t count, data_end;
  uint32_t side;
  bool expands;
  size_t row_bytes;
  long memory;
} cpng_source;

typedef struct cpng_reader cpng_reader;

// Opens a source, whose bytes must stay valid until the reader is closed. Returns NULL on failure.
cpng_reader *cpng_reader_open(const cpng_source *source, cpng_outcome *outcome);

// Decodes the next `count` rows into `rows`, one directly after the other, or drops them if `rows` is NULL. After the
// last row, the file is read to its end. An interlaced picture has seven passes over all of its rows. A pass changes
// only those pixels of a row that it contains. Passes 1 to 6 complete the even rows, and pass 7 has the odd rows.
bool cpng_reader_next(cpng_reader *reader, uint8_t *rows, uint32_t count, cpng_outcome *outcome);

// Closes a reader. Does nothing if `reader` is NULL.
void cpng_reader_close(cpng_reader *reader);

// The shape of a picture to write, its compression level, and its destination. `take` gets the bytes of the file, one
// part after the other. If it returns false, encoding fails.
typedef struct {
  uint32_t width, height;
  int depth, color_type, level;
  bool interlaced;
  size_t row_bytes;
  // The number of colours of the palette, of alpha values (tRNS), and of samples of the transparent colour (tRNS).
  int palette_count, alpha_count, clear_count;
  size_t chunk_bytes;
  bool (*take)(void *taker, const uint8_t *bytes, size_t count);
  void *taker;
} cpng_target;

typedef struct cpng_writer cpng_writer;

// Writes everything that precedes the pixels. `palette` has the red, green and blue of each colour. `chunks` are whole
// chunks that are written before the palette. Returns NULL on failure.
cpng_writer *cpng_writer_open(const cpng_target *target, const uint8_t *palette, const uint8_t *alpha,
                              const uint16_t *clear, const uint8_t *chunks, cpng_outcome *outcome);

// Encodes the next `count` rows, one directly after the other. All rows of an interlaced picture must come at once.
bool cpng_writer_next(cpng_writer *writer, const uint8_t *rows, uint32_t count, cpng_outcome *outcome);

// Closes a writer. Does nothing if `writer` is NULL.
void cpng_writer_close(cpng_writer *writer);

#endif
