// libjpeg-turbo, which reads and writes JPEGs. It reports errors by longjmp, which must never cross a Swift frame. So
// each function here makes a whole sequence of calls that may jump, under a setjmp of its own, and returns a status.
#ifndef LARDER_CJPEG_H
#define LARDER_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The outcome of a call. `message` is the reason why the call failed, or the first warning.
typedef struct {
  long warnings;
  bool out_of_memory;
  char message[208];
} cjpeg_outcome;

// The header of a file, as libjpeg reads it. The colour spaces are libjpeg's J_COLOR_SPACE numbers.
typedef struct {
  int width, height, components, color_space;
  bool progressive, adobe;
  int horizontal_sampling[4], vertical_sampling[4];
} cjpeg_header;

enum {
  cjpeg_unknown = 0, cjpeg_grey = 1, cjpeg_rgb = 2, cjpeg_ycc = 3, cjpeg_cmyk = 4, cjpeg_ycck = 5,
  cjpeg_bgrx = 9
};

// A part of the picture, in pixels of the size at which it is decoded.
typedef struct {
  uint32_t x, y, width, height;
} cjpeg_region;

// Limits that libjpeg enforces: the bytes of memory that libjpeg allocates, and the number of scans.
typedef struct {
  long memory;
  int scans;
} cjpeg_limits;

// Reads the header. (jpeg_read_header can jump.)
bool cjpeg_read_header(const uint8_t *bytes, size_t count, cjpeg_header *header,
                       cjpeg_outcome *outcome);

// A region of a picture, which is reduced to `eighths` / 8 of its full size. The rows are decoded on demand.
typedef struct cjpeg_rows cjpeg_rows;

// Opens a region. Returns NULL on failure. `bytes` and `outcome` must stay valid until the rows are closed.
cjpeg_rows *cjpeg_rows_open(const uint8_t *bytes, size_t count, cjpeg_limits limits, int eighths, cjpeg_region region,
                            int color_space, cjpeg_outcome *outcome);

// Decodes the next `count` rows into `pixels`, one directly after the other. After the last row of the region, the file
// is read to its end, so that a file whose end is missing causes a warning.
bool cjpeg_rows_next(cjpeg_rows *rows, uint8_t *pixels, uint32_t count);

// Closes rows. Does nothing if `rows` is NULL.
void cjpeg_rows_close(cjpeg_rows *rows);

// Decodes the whole picture at an eighth of its size, as a preview. If the picture is progressive, only its first scans
// are read, which contain the mean of each block.
bool cjpeg_glance(const uint8_t *bytes, size_t count, cjpeg_limits limits, int color_space,
                  uint8_t *pixels, size_t stride, cjpeg_outcome *outcome);

// For all functions below that make a file: the caller sets `*out` and `*out_count` to a buffer of at least one byte.
// If the file fits, it is written to that buffer, and otherwise to memory that the caller must free. The function sets
// `*out` and `*out_count` to the address and the size of the file.

// The options of an encoded file. If `quality` is 0, the quantization tables of the source are kept, as far as an
// encoder can. `chroma` is 420, 422 or 444, or 0 for the subsampling of the source. The file is progressive if
// `progressive` is set or the source is progressive.
typedef struct {
  int quality, chroma;
  bool progressive;
} cjpeg_form;

// Decodes a region and encodes it again, row by row, so that its pixels are never in memory as a whole.
bool cjpeg_recode(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region, cjpeg_form form,
                  uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// The input of an encoder: rows in `color_space`. `next` writes `count` rows. If it returns false, encoding fails.
// `like` is the source JPEG, or NULL. The colour space, the sampling and the quantization tables are taken from it,
// with swapped axes if `transposed` is set. `finer_than` is a quality or 0. If it is a quality and any table is coarser
// than the JPEG standard's table at that quality, all tables are replaced by the standard's tables.
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

// Encodes pixels. (Every step of a compressor can jump.)
bool cjpeg_encode(const cjpeg_encoding *encoding, uint8_t **out, size_t *out_count,
                  cjpeg_outcome *outcome);

// Cuts an upright picture along the borders of its blocks. Like TurboJPEG, it copies coefficients. But TurboJPEG holds
// two copies of the picture, and this function holds at most one. If the input and the output each have a single scan,
// it holds only a row of blocks at a time.
bool cjpeg_cut(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region, bool progressive,
               uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// Turns and crops by TurboJPEG's lossless transform. `operation` is a TJXOP.
bool cjpeg_transform(const uint8_t *bytes, size_t count, int operation, cjpeg_region region,
                     bool progressive, uint8_t **out, size_t *out_count, cjpeg_outcome *outcome);

// Copies the quantized coefficients of one component: 64 for each block, row by row. Tests use it to check that a
// transform is lossless. The caller must free `*out`.
bool cjpeg_coefficients(const uint8_t *bytes, size_t count, int component, int16_t **out,
                        uint32_t *across, uint32_t *down, cjpeg_outcome *outcome);

#endif
