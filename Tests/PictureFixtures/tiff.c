#include "PictureFixtures.h"

#include <stdlib.h>
#include <string.h>

#include <tiffio.h>

typedef struct {
  uint8_t *bytes;
  size_t count, room, offset;
} memory;

static tmsize_t pull(thandle_t data, void *target, tmsize_t count) {
  memory *file = data;
  size_t left = file->offset < file->count ? file->count - file->offset : 0;
  size_t taken = (size_t)count < left ? (size_t)count : left;
  memcpy(target, file->bytes + file->offset, taken);
  file->offset += taken;
  return (tmsize_t)taken;
}

static tmsize_t push(thandle_t data, void *source, tmsize_t count) {
  memory *file = data;
  const size_t end = file->offset + (size_t)count;
  if (end > file->room) {
    file->room = end * 2;
    file->bytes = realloc(file->bytes, file->room);
  }
  if (file->offset > file->count) memset(file->bytes + file->count, 0, file->offset - file->count);
  memcpy(file->bytes + file->offset, source, (size_t)count);
  file->offset = end;
  if (end > file->count) file->count = end;
  return count;
}

static toff_t seek(thandle_t data, toff_t offset, int from) {
  memory *file = data;
  file->offset = (from == SEEK_SET ? 0 : from == SEEK_CUR ? file->offset : file->count) + offset;
  return file->offset;
}

static int leave(thandle_t data) { return data == NULL; }

static toff_t size(thandle_t data) { return ((memory *)data)->count; }

uint8_t *fixture_encode_tiff(const fixture_tiff *fixture, const uint8_t *samples, size_t *count) {
  memory file = {NULL, 0, 0, 0};
  char mode[4] = {'w', fixture->big_endian ? 'b' : 'l', fixture->large ? '8' : 0, 0};
  TIFF *tiff = TIFFClientOpen("fixture", mode, &file, pull, push, seek, leave, size, NULL, NULL);
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, fixture->width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, fixture->height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, fixture->bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, fixture->samples);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, fixture->photometric);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, fixture->compression);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, fixture->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
  if (fixture->orientation > 0) TIFFSetField(tiff, TIFFTAG_ORIENTATION, fixture->orientation);
  if (fixture->extra >= 0) {
    const uint16_t extra = (uint16_t)fixture->extra;
    TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &extra);
  }
  if (fixture->date != NULL) TIFFSetField(tiff, TIFFTAG_DATETIME, fixture->date);
  if (fixture->profile_count > 0) {
    TIFFSetField(tiff, TIFFTAG_ICCPROFILE, (uint32_t)fixture->profile_count, fixture->profile);
  }
  if (fixture->photometric == PHOTOMETRIC_PALETTE) {
    uint16_t colours[3][256];
    for (int index = 0; index < 256; index++) {
      for (int channel = 0; channel < 3; channel++) {
        colours[channel][index] = (uint16_t)(index * (channel * 2 + 3) % 256 * 257);
      }
    }
    TIFFSetField(tiff, TIFFTAG_COLORMAP, colours[0], colours[1], colours[2]);
  }
  if (fixture->compression == COMPRESSION_JPEG) {
    TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
    if (fixture->photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  }
  const int planes = fixture->separate ? fixture->samples : 1;
  const int together = fixture->separate ? 1 : fixture->samples;
  // Samples in whole bytes, row by row; with separate planes, each plane in turn.
  const size_t row = ((size_t)fixture->width * (size_t)together * (size_t)fixture->bits + 7) / 8;
  const uint8_t *next = samples;
  if (fixture->tile > 0) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, fixture->tile);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, fixture->tile);
    const size_t tile_row = (size_t)fixture->tile * (size_t)together * (size_t)fixture->bits / 8;
    uint8_t *tile = calloc(tile_row, (size_t)fixture->tile);
    for (int plane = 0; plane < planes; plane++, next += row * (size_t)fixture->height) {
      for (int y = 0; y < fixture->height; y += fixture->tile) {
        for (int x = 0; x < fixture->width; x += fixture->tile) {
          const size_t left = (size_t)(x / fixture->tile) * tile_row;
          for (int line = 0; line < fixture->tile && y + line < fixture->height; line++) {
            const size_t bytes = row - left < tile_row ? row - left : tile_row;
            memcpy(tile + (size_t)line * tile_row, next + (size_t)(y + line) * row + left, bytes);
          }
          TIFFWriteTile(tiff, tile, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
        }
      }
    }
    free(tile);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, fixture->strip > 0 ? fixture->strip : fixture->height);
    for (int plane = 0; plane < planes; plane++) {
      for (int y = 0; y < fixture->height; y++, next += row) {
        uint8_t *line = malloc(row);
        memcpy(line, next, row);
        TIFFWriteScanline(tiff, line, (uint32_t)y, (uint16_t)plane);
        free(line);
      }
    }
  }
  if (fixture->taken != NULL) {
    // Writes the directory, then the Exif directory, then the first one again with the offset of
    // the other.
    TIFFSetField(tiff, TIFFTAG_EXIFIFD, (uint64_t)0);
    TIFFWriteDirectory(tiff);
    TIFFCreateEXIFDirectory(tiff);
    TIFFSetField(tiff, EXIFTAG_DATETIMEORIGINAL, fixture->taken);
    uint64_t place = 0;
    TIFFWriteCustomDirectory(tiff, &place);
    TIFFSetDirectory(tiff, 0);
    TIFFSetField(tiff, TIFFTAG_EXIFIFD, place);
    TIFFRewriteDirectory(tiff);
  }
  TIFFClose(tiff);
  *count = file.count;
  return file.bytes;
}
