#include "CGIF.h"

#include <stdlib.h>
#include <string.h>

#include <gif_lib.h>

#if GIFLIB_MAJOR < 5 || (GIFLIB_MAJOR == 5 && GIFLIB_MINOR < 1)
#error "giflib 5.1 or later is needed"
#endif

typedef struct {
  const uint8_t *bytes;
  size_t count, offset;
} source;

static int pull(GifFileType *gif, GifByteType *target, int count) {
  source *source = gif->UserData;
  size_t left = source->count - source->offset;
  size_t taken = (size_t)count < left ? (size_t)count : left;
  memcpy(target, source->bytes + source->offset, taken);
  source->offset += taken;
  return (int)taken;
}

static bool find_image(GifFileType *gif) {
  GifRecordType type;
  while (DGifGetRecordType(gif, &type) == GIF_OK) {
    if (type == IMAGE_DESC_RECORD_TYPE) return DGifGetImageDesc(gif) == GIF_OK;
    if (type != EXTENSION_RECORD_TYPE) return false;
    int code;
    GifByteType *block;
    if (DGifGetExtension(gif, &code, &block) != GIF_OK) return false;
    while (block != NULL) {
      if (DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
    }
  }
  return false;
}

struct cgif_rows {
  source source;
  GifFileType *gif;
  int width;
};

static int outcome_of(int error) {
  return error == D_GIF_ERR_NOT_ENOUGH_MEM ? cgif_no_memory : cgif_broken;
}

cgif_rows *cgif_rows_open(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                          int *outcome) {
  *outcome = cgif_no_memory;
  cgif_rows *rows = malloc(sizeof *rows);
  if (rows == NULL) return NULL;
  *rows = (cgif_rows){.source = {bytes, count, 0}, .width = width};
  int error = 0;
  rows->gif = DGifOpen(&rows->source, pull, &error);
  if (rows->gif == NULL) {
    *outcome = outcome_of(error);
    free(rows);
    return NULL;
  }
  *outcome = cgif_done;
  if (find_image(rows->gif) && rows->gif->Image.Width == width && rows->gif->Image.Height == height &&
      rows->gif->Image.Interlace == interlaced) {
    return rows;
  }
  *outcome = outcome_of(rows->gif->Error);
  cgif_rows_close(rows);
  return NULL;
}

int cgif_rows_next(cgif_rows *rows, uint8_t *indices) {
  if (DGifGetLine(rows->gif, indices, rows->width) == GIF_OK) return cgif_done;
  return outcome_of(rows->gif->Error);
}

// Decodes every `step`-th row, beginning with row `first`. `indices` has space for every `spacing`-th row only, so row
// y is stored as row y / spacing.
static int read_rows(cgif_rows *rows, int first, int step, int height, int spacing, uint8_t *indices) {
  for (int y = first; y < height; y += step) {
    int outcome = cgif_rows_next(rows, indices + (size_t)(y / spacing) * (size_t)rows->width);
    if (outcome != cgif_done) return outcome;
  }
  return cgif_done;
}

int cgif_rows_passes(cgif_rows *rows, int passes, int height, int spacing, uint8_t *indices) {
  // The first row of each of the four passes, and the distance between its rows. (GIF89a, appendix E)
  static const int firsts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  int outcome = cgif_done;
  for (int pass = 0; pass < passes && outcome == cgif_done; pass++) {
    outcome = read_rows(rows, firsts[pass], steps[pass], height, spacing, indices);
  }
  return outcome;
}

void cgif_rows_close(cgif_rows *rows) {
  if (rows == NULL) return;
  int error;
  DGifCloseFile(rows->gif, &error);
  free(rows);
}

int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices) {
  int outcome;
  cgif_rows *rows = cgif_rows_open(bytes, count, width, height, interlaced, &outcome);
  if (rows == NULL) return outcome;
  outcome = interlaced ? cgif_rows_passes(rows, 4, height, 1, indices)
                       : read_rows(rows, 0, 1, height, 1, indices);
  cgif_rows_close(rows);
  return outcome;
}
