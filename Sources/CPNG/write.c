#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

typedef struct {
  uint8_t *bytes;
  size_t count, room;
} memory_output;

static void push(png_structp png, png_bytep source, size_t count) {
  memory_output *output = png_get_io_ptr(png);
  if (count > output->room - output->count) {
    size_t room = (output->count + count) * 2 + 65536;
    uint8_t *bytes = realloc(output->bytes, room);
    if (bytes == NULL) png_error(png, "out of memory");
    output->bytes = bytes;
    output->room = room;
  }
  memcpy(output->bytes + output->count, source, count);
  output->count += count;
}

static void flush(png_structp png) { (void)png; }

static void put_palette(png_structp png, png_infop info, const cpng_shape *shape) {
  png_color palette[256];
  for (int i = 0; i < shape->palette_count && i < 256; i++) {
    palette[i].red = shape->palette[i * 3];
    palette[i].green = shape->palette[i * 3 + 1];
    palette[i].blue = shape->palette[i * 3 + 2];
  }
  if (shape->palette_count > 0) png_set_PLTE(png, info, palette, shape->palette_count);
  png_color_16 clear = {
      .red = shape->clear_red,
      .green = shape->clear_green,
      .blue = shape->clear_blue,
      .gray = shape->clear_grey,
  };
  if (shape->alpha_count > 0) png_set_tRNS(png, info, shape->alpha, shape->alpha_count, NULL);
  if (shape->has_clear_color) png_set_tRNS(png, info, NULL, 0, &clear);
}

bool cpng_encode(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                 bool interlaced, uint8_t **out, size_t *out_count, cpng_outcome *outcome) {
  memory_output output = {NULL, 0, 0};
  png_infop info = NULL;
  memset(outcome, 0, sizeof *outcome);
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, outcome, failure_leave, failure_ignore);
  if (png == NULL) {
    outcome->out_of_memory = true;
    return false;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_write_struct(&png, &info);
    free(output.bytes);
    return false;
  }
  info = png_create_info_struct(png);
  if (info == NULL) png_error(png, "out of memory");
  png_set_write_fn(png, &output, push, flush);
  png_set_compression_level(png, level);
  png_set_IHDR(png, info, shape->width, shape->height, shape->depth, shape->color_type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  put_palette(png, info, shape);
  png_write_info(png, info);
  if (shape->depth < 8) png_set_packing(png);
  if (shape->depth == 16) png_set_swap(png);
  int passes = png_set_interlace_handling(png);
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < shape->height; y++) png_write_row(png, pixels + y * stride);
  }
  png_write_end(png, NULL);
  png_destroy_write_struct(&png, &info);
  *out = output.bytes;
  *out_count = output.count;
  return true;
}
