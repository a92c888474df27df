#include "CTIFF.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

#include "COpening.h"

#if TIFFLIB_VERSION < 20221213
#error "libtiff 4.5 or later is needed"
#endif

#define LIBRARY "libtiff.so.6"
#define FUNCTIONS(F)                                                                                \
  F(TIFFClientOpenExt)                                                                              \
  F(TIFFClose)                                                                                      \
  F(TIFFGetField)                                                                                   \
  F(TIFFGetFieldDefaulted)                                                                          \
  F(TIFFIsTiled)                                                                                    \
  F(TIFFOpenOptionsAlloc)                                                                           \
  F(TIFFOpenOptionsFree)                                                                            \
  F(TIFFOpenOptionsSetErrorHandlerExtR)                                                             \
  F(TIFFOpenOptionsSetMaxSingleMemAlloc)                                                            \
  F(TIFFOpenOptionsSetWarningHandlerExtR)                                                           \
  F(TIFFReadScanline)                                                                               \
  F(TIFFReadTile)                                                                                   \
  F(TIFFScanlineSize)                                                                               \
  F(TIFFSetField)                                                                                   \
  F(TIFFTileSize)

COPENING(ctiff_open, LIBRARY, FUNCTIONS)
COPENING_NOTE("tiff", "recommended", "Reads TIFF", LIBRARY)

struct ctiff_file {
  const uint8_t *bytes;
  size_t count, offset;
  TIFF *tiff;
  ctiff_form form;
  // The row after the last one that was decoded to tiles.
  uint32_t reached;
  // The decoded tiles that contain the last row that was read, one after the other.
  uint8_t *tiles;
  char words[160];
};

static tmsize_t pull(thandle_t data, void *target, tmsize_t count) {
  ctiff_file *file = data;
  const size_t left = file->offset < file->count ? file->count - file->offset : 0;
  const size_t taken = (size_t)count < left ? (size_t)count : left;
  memcpy(target, file->bytes + (file->count - left), taken);
  file->offset += taken;
  return (tmsize_t)taken;
}

static tmsize_t push(thandle_t data, void *source, tmsize_t count) {
  (void)data, (void)source, (void)count;
  return -1;
}

static toff_t seek(thandle_t data, toff_t offset, int from) {
  ctiff_file *file = data;
  const toff_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? file->offset : file->count;
  file->offset = (size_t)(base + offset);
  return file->offset;
}

static int leave(thandle_t data) {
  (void)data;
  return 0;
}

static toff_t size(thandle_t data) { return ((ctiff_file *)data)->count; }

// Lets libtiff read strips directly from the caller's bytes, because it never writes to them.
static int map(thandle_t data, void **base, toff_t *count) {
  ctiff_file *file = data;
  *base = (void *)file->bytes;
  *count = file->count;
  return 1;
}

static void unmap(thandle_t data, void *base, toff_t count) { (void)data, (void)base, (void)count; }

static int hear_error(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)module;
  ctiff_file *file = data;
  if (file->words[0] == 0) vsnprintf(file->words, sizeof file->words, format, arguments);
  return 1;
}

static int hear_warning(TIFF *tiff, void *data, const char *module, const char *format, va_list arguments) {
  (void)tiff, (void)data, (void)module, (void)format, (void)arguments;
  return 1;
}

static size_t tile_bytes(const ctiff_form *form) { return form->tile_row_bytes * form->tile_height; }

static size_t tiles_across(const ctiff_form *form) { return (form->width - 1) / form->tile_width + 1; }

// Whether libtiff reads the same values from the directory as the caller has read. The sizes of all buffers depend on
// these values.
static bool is_as_said(ctiff_file *file) {
  TIFF *tiff = file->tiff;
  const ctiff_form *form = &file->form;
  uint32_t width = 0, height = 0, across = 0, down = 0;
  uint16_t bits = 0, samples = 0, planes = 0;
  their_TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  their_TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  their_TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  their_TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &samples);
  their_TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planes);
  if (width != form->width || height != form->height || bits != form->bits || samples != form->samples ||
      (planes == PLANARCONFIG_SEPARATE && samples > 1) ||
      (their_TIFFIsTiled(tiff) != 0) != (form->tile_width > 0)) {
    return false;
  }
  if (form->jpeg_colours) their_TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  if (form->tile_width == 0) {
    return their_TIFFScanlineSize(tiff) == (tmsize_t)form->row_bytes;
  }
  their_TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &across);
  their_TIFFGetField(tiff, TIFFTAG_TILELENGTH, &down);
  return across == form->tile_width && down == form->tile_height &&
         their_TIFFTileSize(tiff) == (tmsize_t)tile_bytes(form);
}

ctiff_file *ctiff_file_open(const uint8_t *bytes, size_t count, const ctiff_form *form, size_t memory) {
  ctiff_file *file = calloc(1, sizeof *file);
  TIFFOpenOptions *options = their_TIFFOpenOptionsAlloc();
  if (file == NULL || options == NULL) {
    free(file);
    if (options != NULL) their_TIFFOpenOptionsFree(options);
    return NULL;
  }
  file->bytes = bytes;
  file->count = count;
  file->form = *form;
  their_TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)memory);
  their_TIFFOpenOptionsSetErrorHandlerExtR(options, hear_error, file);
  their_TIFFOpenOptionsSetWarningHandlerExtR(options, hear_warning, file);
  // The mode "c" keeps strips as they are. Without it, libtiff splits a large strip.
  file->tiff = their_TIFFClientOpenExt("a TIFF", "rc", file, pull, push, seek, leave, size, map, unmap, options);
  their_TIFFOpenOptionsFree(options);
  const bool is_good = file->tiff != NULL && is_as_said(file);
  // libtiff also complains about tags that larder does not read, such as an orientation of 0. Damage is what it says about
  // the pixels.
  file->words[0] = 0;
  if (is_good && form->tile_width > 0) file->tiles = calloc(tiles_across(form), tile_bytes(form));
  if (is_good && (form->tile_width == 0 || file->tiles != NULL)) return file;
  ctiff_close(file);
  return NULL;
}

// Decodes the tiles that contain the row, if it is below the present tiles, and copies its samples from them.
static bool read_tiled_row(ctiff_file *file, uint32_t y, uint8_t *row) {
  const ctiff_form *form = &file->form;
  const size_t bytes = tile_bytes(form), across = tiles_across(form);
  const uint32_t line = y % form->tile_height;
  for (size_t tile = 0; tile < across && y >= file->reached; tile++) {
    const uint32_t x = (uint32_t)tile * form->tile_width;
    uint8_t *target = file->tiles + tile * bytes;
    if (their_TIFFReadTile(file->tiff, target, x, y, 0, 0) != (tmsize_t)bytes) return false;
  }
  if (y >= file->reached) file->reached = y - line + form->tile_height;
  for (size_t tile = 0; tile < across; tile++) {
    const size_t place = tile * form->tile_row_bytes;
    if (place >= form->row_bytes) break;
    const size_t left = form->row_bytes - place;
    memcpy(row + place, file->tiles + tile * bytes + line * form->tile_row_bytes,
           left < form->tile_row_bytes ? left : form->tile_row_bytes);
  }
  return true;
}

bool ctiff_row(ctiff_file *file, uint32_t y, uint8_t *row) {
  if (file->tiles != NULL) return read_tiled_row(file, y, row);
  return their_TIFFReadScanline(file->tiff, row, y, 0) == 1;
}

const char *ctiff_words(const ctiff_file *file) { return file->words; }

void ctiff_close(ctiff_file *file) {
  if (file == NULL) return;
  if (file->tiff != NULL) their_TIFFClose(file->tiff);
  free(file->tiles);
  free(file);
}
