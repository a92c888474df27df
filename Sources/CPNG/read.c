#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>
#include <zlib.h>

#include "failure.h"

typedef struct {
  const uint8_t *bytes;
  size_t count, offset;
} memory_input;

static void pull(png_structp png, png_bytep target, size_t count) {
  memory_input *input = png_get_io_ptr(png);
  if (count > input->count - input->offset) png_error(png, "the file ends too early");
  memcpy(target, input->bytes + input->offset, count);
  input->offset += count;
}

static void describe(png_structp png, png_infop info, cpng_shape *shape) {
  memset(shape, 0, sizeof *shape);
  shape->width = png_get_image_width(png, info);
  shape->height = png_get_image_height(png, info);
  shape->depth = png_get_bit_depth(png, info);
  shape->color_type = png_get_color_type(png, info);
  shape->channels = png_get_channels(png, info);
  png_colorp palette = NULL;
  if (shape->color_type == PNG_COLOR_TYPE_PALETTE &&
      png_get_PLTE(png, info, &palette, &shape->palette_count)) {
    for (int i = 0; i < shape->palette_count; i++) {
      shape->palette[i * 3] = palette[i].red;
      shape->palette[i * 3 + 1] = palette[i].green;
      shape->palette[i * 3 + 2] = palette[i].blue;
    }
  }
  png_bytep alpha = NULL;
  png_color_16p clear = NULL;
  int count = 0;
  if (!png_get_tRNS(png, info, &alpha, &count, &clear)) return;
  if (shape->color_type == PNG_COLOR_TYPE_PALETTE) {
    shape->alpha_count = count;
    memcpy(shape->alpha, alpha, (size_t)count);
  } else if (!(shape->color_type & PNG_COLOR_MASK_ALPHA)) {
    shape->has_clear_color = true;
    shape->clear_grey = clear->gray;
    shape->clear_red = clear->red;
    shape->clear_green = clear->green;
    shape->clear_blue = clear->blue;
  }
}

static void set_form(png_structp png, png_infop info, int form) {
  if (form >= cpng_expanded) png_set_expand(png);
  if (form == cpng_coloured) png_set_gray_to_rgb(png);
  if (form == cpng_native) png_set_packing(png);
  if (png_get_bit_depth(png, info) == 16) png_set_swap(png);
}

// libpng reads the last row with all that is left of the data, which it would unpack, a thousand times
// as much, only to refuse it then. No encoder needs more than twice a row and this for it.
static void check_rest(png_structp png, size_t rest, size_t row_bytes) {
  if (rest > row_bytes * 2 + 16384) png_error(png, "its data go on behind the last row");
}

bool cpng_decode(const uint8_t *bytes, size_t count, size_t data_end, uint32_t side, int form,
                 cpng_region region, uint8_t *pixels, size_t stride, cpng_shape *shape,
                 cpng_outcome *outcome) {
  memory_input input = {bytes, count, 0};
  png_infop info = NULL;
  png_bytep volatile rows = NULL;
  memset(outcome, 0, sizeof *outcome);
  png_structp png =
      png_create_read_struct(PNG_LIBPNG_VER_STRING, outcome, failure_leave, failure_ignore);
  if (png == NULL) {
    outcome->out_of_memory = true;
    return false;
  }
  if (setjmp(png_jmpbuf(png))) {
    png_destroy_read_struct(&png, &info, NULL);
    free(rows);
    return false;
  }
  info = png_create_info_struct(png);
  if (info == NULL) png_error(png, "out of memory");
  png_set_benign_errors(png, 0);
  png_set_user_limits(png, side, side);
  png_set_chunk_malloc_max(png, 1 << 20);
  // Whatever is not needed to make pixels is carried over as it is by others, never unpacked here.
  static const png_byte aside[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0"
                                  "sCAL\0sPLT\0sRGB\0sTER\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, aside, (int)(sizeof aside / 5));
  png_set_read_fn(png, &input, pull);
  png_read_info(png, info);
  describe(png, info, shape);
  if (region.width == 0 || region.height == 0 || (uint64_t)region.x + region.width > shape->width ||
      (uint64_t)region.y + region.height > shape->height) {
    png_error(png, "the region is not inside the picture");
  }
  set_form(png, info, form);
  int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  size_t row_bytes = png_get_rowbytes(png, info);
  size_t pixel = row_bytes / shape->width;
  if (stride < region.width * pixel) png_error(png, "the rows are too short");
  rows = malloc(row_bytes * (passes > 1 ? shape->height : 1));
  if (rows == NULL) png_error(png, "out of memory");
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < shape->height; y++) {
      png_bytep row = passes > 1 ? rows + y * row_bytes : rows;
      if (pass == passes - 1 && y == shape->height - 1 && data_end > input.offset) {
        check_rest(png, data_end - input.offset, row_bytes);
      }
      png_read_row(png, row, NULL);
      if (pass == passes - 1 && y >= region.y && y - region.y < region.height) {
        memcpy(pixels + (y - region.y) * stride, row + region.x * pixel, region.width * pixel);
      }
    }
  }
  png_read_end(png, NULL);
  if (form != cpng_native) {
    shape->depth = png_get_bit_depth(png, info);
    shape->color_type = png_get_color_type(png, info);
    shape->channels = png_get_channels(png, info);
    shape->palette_count = shape->alpha_count = 0;
    shape->has_clear_color = false;
  }
  png_destroy_read_struct(&png, &info, NULL);
  free(rows);
  return true;
}

long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit) {
  uint8_t piece[16384];
  z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)count};
  if (inflateInit(&stream) != Z_OK) return -1;
  long total = 0;
  int status = Z_OK;
  while (status == Z_OK && total <= limit) {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    status = inflate(&stream, Z_NO_FLUSH);
    total += (long)(sizeof piece - stream.avail_out);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END || total > limit ? total : -1;
}

uint32_t cpng_crc(const uint8_t *bytes, size_t count) {
  return (uint32_t)crc32_z(0, bytes, count);
}
