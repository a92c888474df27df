// libjpeg-turbo. It reports errors by longjmp, which must never cross a Swift frame: each function here runs a whole
// sequence of calls that can jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CJPEG_H
#define LARDER_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The outcome of a sequence. `message` is the reason of its failure, or the first warning.
typedef struct {
  long warnings;
  bool out_of_memory;
  char message[208];
} cjpeg_outcome;

// libjpeg's reading of a file's header; the colour spaces are libjpeg's J_COLOR_SPACE numbers.
typedef struct {
  int width, height, components, color_space;
  bool progressive, adobe;
  int horizontal_sampling[4], vertical_sampling[4];
} cjpeg_header;

enum {
  cjpeg_unknown = 0, cjpeg_grey = 1, cjpeg_rgb = 2, cjpeg_ycc = 3, cjpeg_cmyk = 4, cjpeg_ycck = 5,
  cjpeg_bgrx = 9
};

// A part of the picture, in pixels of the size that it is decoded at.
typedef struct {
  uint32_t x, y, width, height;
} cjpeg_region;

// Bounds that libjpeg itself keeps: bytes of its own memory, and scans.
typedef struct {
  long memory;
  int scans;
} cjpeg_limits;

// Reads the header, as jpeg_read_header can jump.
bool cjpeg_read_header(const uint8_t *bytes, size_t count, cjpeg_header *header,
                       cjpeg_outcome *outcome);

// A region of the picture at eighths/8 of its full size, whose rows are decoded as they are asked for.
typedef struct cjpeg_rows cjpeg_rows;

// Opens a region; NULL when that fails. Bytes and outcome have to stay where they are until the rows are closed.
cjpeg_rows *cjpeg_rows_open(const uint8_t *bytes, size_t count, cjpeg_limits limits, int eighths, cjpeg_region region,
                            int color_space, cjpeg_outcome *outcome);

// Decodes the next `count` rows, one behind the other. With the region's last one it reads the file to its end, so that a
// cut one raises a warning.
bool cjpeg_rows_next(cjpeg_rows *rows, uint8_t *pixels, uint32_t count);

// Closes rows; of NULL nothing.
void cjpeg_rows_close(cjpeg_rows *rows);

// Decodes the whole picture at an eighth of its size, for a first look: of a progressive one no more is read
// than its first scans, which hold the mean of each block.
bool cjpeg_glance(const uint8_t *bytes, size_t count, cjpeg_limits limits, int color_space,
                  uint8_t *pixels, size_t stride, cjpeg_outcome *outcome);

// Those that make a file take the caller's room, a byte at least, in `*out` and `*out_count`, and say there
// where the file is: in that room, or, where it was too small, in memory that the caller frees.

// The form of a written file. `quality` 0 keeps the quantization tables of the source, as far as
// an encoder can; `chroma` is 420, 422 or 444, and 0 for the source's; it is progressive where the
// source is, too.
typedef struct {
  int quality, chroma;
  bool progressive;
} cjpeg_form;

// Decodes a region and encodes it again row by row, so that neither picture is ever in memory.
bool cjpeg_recode(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region, cjpeg_form form,
                  uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// The input of an encoder: rows in `color_space`; `next` writes as many as it is asked for; false
// ends it. With `like`, its colour space, sampling and tables are taken from that JPEG file,
// turned by a quarter when `transposed`; tables that are coarser than those of quality
// `finer_than` are replaced by those, unless it is 0.
typedef struct {
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
  uint32_t width, height;
  int color_space;
  cjpeg_form form;
  int finer_than;
  const uint8_t *like;
  size_t like_count;
  bool transposed;
} cjpeg_encoding;

// Encodes pixels, as every step of a compressor can jump.
bool cjpeg_encode(const cjpeg_encoding *encoding, uint8_t **out, size_t *out_count,
                  cjpeg_outcome *outcome);

// Cuts an upright picture between its blocks, by TurboJPEG's own means (libjpeg's coefficients) but
// without its two copies of the picture: of one in a single scan, that becomes one too, a row of blocks is held at a
// time.
bool cjpeg_cut(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region, bool progressive,
               uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// Turns and crops by TurboJPEG's lossless transform; `operation` is a TJXOP.
bool cjpeg_transform(const uint8_t *bytes, size_t count, int operation, cjpeg_region region,
                     bool progressive, uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// Copies one component's quantized coefficients, a block of 64 after the other, row by row: how a
// transform is known to be lossless. The caller frees `*out`.
bool cjpeg_coefficients(const uint8_t *bytes, size_t count, int component, int16_t **out,
                        uint32_t *across, uint32_t *down, cjpeg_outcome *outcome);

#endif
