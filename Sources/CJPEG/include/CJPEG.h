// libjpeg-turbo, which reads and writes JPEGs. It reports errors by longjmp, which must never cross a Swift frame. So
// each function here makes a whole sequence of calls that may jump, under a setjmp of its own, and returns an outcome.
#ifndef LARDER_CJPEG_H
#define LARDER_CJPEG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The outcome of a call. `message` is the reason why the call failed, or the first warning.
typedef struct {
  long warnings;
  bool failed, out_of_memory;
  char message[208];
} cjpeg_outcome;

// libjpeg's numbers of colour spaces (J_COLOR_SPACE). `cjpeg_stored` means the colour space of the file.
enum { cjpeg_stored = 0, cjpeg_grey = 1, cjpeg_rgb = 2, cjpeg_cmyk = 4, cjpeg_bgrx = 9 };

// A file, and two limits: the bytes of memory that libjpeg allocates, and the number of scans.
typedef struct {
  const uint8_t *bytes;
  size_t count;
  long memory;
  int scans;
} cjpeg_file;

// A part of the picture, in pixels of the size at which it is decoded.
typedef struct {
  uint32_t x, y, width, height;
} cjpeg_region;

// The rows of a region. The picture is reduced to `eighths` / 8 of its full size. A pixel has `channels` samples in
// `color_space`. For a preview of a progressive picture, only the first scans are read, which contain the mean of each
// block.
typedef struct {
  cjpeg_file file;
  cjpeg_region region;
  int eighths, color_space, channels;
  bool is_preview;
} cjpeg_request;

// Rows that are decoded on demand.
typedef struct cjpeg_rows cjpeg_rows;

// Opens rows, which must be closed even after a failure. The bytes of the file must stay valid until then.
cjpeg_rows *cjpeg_rows_open(const cjpeg_request *request, cjpeg_outcome *outcome);

// Decodes the next `count` rows into `pixels`, one directly after the other. After the last row of the region, the file
// is read to its end, so that a file whose end is missing causes a warning. A preview is not read to its end.
void cjpeg_rows_next(cjpeg_rows *rows, uint8_t *pixels, uint32_t count, cjpeg_outcome *outcome);

// Closes rows. Does nothing if `rows` is NULL.
void cjpeg_rows_close(cjpeg_rows *rows);

// Receives a new file, part by part.
typedef struct {
  void *context;
  void (*write)(void *context, const uint8_t *part, size_t count);
} cjpeg_sink;

// The quality of new pixels, at least. See `has_new_detail`.
enum { cjpeg_least_fine = 75 };

// The input of an encoder: rows of `channels` samples in `color_space`. `next` writes `count` rows. If it returns
// false, encoding fails.
//
// `like` is the source JPEG, or has no bytes. The colour space, the sampling and the quantization tables are taken from
// it, with swapped axes if `transposed` is set. If `has_new_detail` is set and any table is coarser than the
// JPEG standard's table at the quality `cjpeg_least_fine`, all tables are replaced by the standard's tables.
//
// `quality` is 0 for the tables of `like`, as far as an encoder can use them. `chroma` is 420, 422 or 444, or 0 for the
// sampling of `like`. The file is progressive if `progressive` is set or `like` is progressive. Its coefficients are
// then in memory, where `like.memory` limits them.
typedef struct {
  bool (*next)(void *context, uint8_t *rows, uint32_t count);
  void *context;
  uint32_t width, height;
  int color_space, channels;
  cjpeg_file like;
  bool transposed, has_new_detail;
  int quality, chroma;
  bool progressive;
  cjpeg_sink sink;
} cjpeg_encoding;

// Encodes pixels. (Every step of a compressor can jump.)
void cjpeg_encode(const cjpeg_encoding *encoding, cjpeg_outcome *outcome);

// A lossless crop. `operation` is the TJXOP that turns the picture upright. The region begins at a block of the upright
// picture.
typedef struct {
  cjpeg_file file;
  cjpeg_region region;
  int operation;
  bool progressive;
  cjpeg_sink sink;
} cjpeg_crop;

// Cuts an upright picture. Like TurboJPEG, it copies coefficients. But TurboJPEG holds two copies of the picture, and
// this function holds at most one. If the input and the output each have a single scan, it holds only two rows of
// blocks.
void cjpeg_cut(const cjpeg_crop *crop, cjpeg_outcome *outcome);

// Turns and cuts a picture by TurboJPEG's lossless transform.
void cjpeg_turn(const cjpeg_crop *crop, cjpeg_outcome *outcome);

#endif
