#include "reader.h"

#include <stdlib.h>
#include <string.h>

static void pull(png_structp png, png_bytep target, size_t count) {
  png_reader *reader = png_get_io_ptr(png);
  if (count > reader->source->count - reader->offset) png_error(png, "the file ends too early");
  memcpy(target, reader->source->bytes + reader->offset, count);
  reader->offset += count;
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

static void set_form(png_structp png, png_infop info, const cpng_source *source) {
  const int form = source->form;
  if (form == cpng_expanded) png_set_expand(png);
  if (form == cpng_native) png_set_packing(png);
  if (png_get_bit_depth(png, info) == 16) png_set_swap(png);
}

// When libpng reads the last row, it decompresses all remaining data, which may become a thousand times larger, and
// then rejects the file. So such a file is refused here, before libpng reads the last row. No encoder needs more than
// twice the bytes of a row plus 16 KiB for the last row.
static void check_rest(const png_reader *reader) {
  size_t end = reader->source->data_end;
  if (end > reader->offset && end - reader->offset > reader->row_bytes * 2 + 16384) {
    png_error(reader->png, "it has data after the last row");
  }
}

static void open_again(png_reader *reader, cpng_shape *shape) {
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  reader->offset = 0;
  reader->png =
      png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reader->failure, failure_leave,
                               failure_ignore, reader->failure, failure_allocate, failure_free);
  if (reader->png == NULL) {
    reader->failure->outcome->out_of_memory = true;
    longjmp(reader->failure->escape, 1);
  }
  png_structp png = reader->png;
  png_infop info = reader->info = png_create_info_struct(png);
  if (info == NULL) failure_no_memory(png);
  png_set_benign_errors(png, 0);
  png_set_user_limits(png, reader->source->side, reader->source->side);
  // Chunks of any length may be skipped. Chunks that are read have other limits.
  png_set_chunk_malloc_max(png, PNG_UINT_31_MAX);
  // Chunks that are not needed for pixels are never decompressed here. Other code copies them unchanged.
  static const png_byte aside[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0"
                                  "sCAL\0sPLT\0sRGB\0sTER\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, aside, (int)(sizeof aside / 5));
  png_set_read_fn(png, reader, pull);
  png_read_info(png, info);
  describe(png, info, shape);
  set_form(png, info, reader->source);
  reader->passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
}

void reader_open(png_reader *reader, cpng_shape *shape) {
  const cpng_region *region = &reader->source->region;
  open_again(reader, shape);
  png_structp png = reader->png;
  if (region->width == 0 || region->height == 0 ||
      (uint64_t)region->x + region->width > shape->width ||
      (uint64_t)region->y + region->height > shape->height) {
    png_error(png, "the region is not inside the picture");
  }
  reader->height = shape->height;
  reader->next = region->y;
  reader->row_bytes = png_get_rowbytes(png, reader->info);
  reader->pixel = reader->row_bytes / shape->width;
  if (reader->source->form != cpng_native) {
    shape->depth = png_get_bit_depth(png, reader->info);
    shape->color_type = png_get_color_type(png, reader->info);
    shape->channels = png_get_channels(png, reader->info);
    shape->palette_count = shape->alpha_count = 0;
    shape->has_clear_color = false;
  }
  // If libpng skips a chunk because its checksum is wrong, the shape may differ from the caller's. Such a file is
  // refused.
  if (shape->channels != reader->source->channels || shape->depth != reader->source->depth) {
    png_error(png, "its tRNS chunk does not match its header");
  }
}

static png_bytep room(png_reader *reader, size_t rows) {
  if (reader->rows == NULL) reader->rows = malloc(reader->row_bytes * rows);
  if (reader->rows == NULL) failure_no_memory(reader->png);
  return reader->rows;
}

static void read_row(png_reader *reader, png_bytep row) {
  png_read_row(reader->png, row, NULL);
}

// Reads rows of the last pass, which is the only pass if the picture is not interlaced. Stops before row `end`. `row`
// has the last row that was read.
static void read_until(png_reader *reader, uint32_t end, png_bytep row) {
  for (; reader->line < end; reader->line++) {
    if (reader->line == reader->height - 1) check_rest(reader);
    read_row(reader, reader->line == end - 1 ? row : NULL);
  }
}

// The address of an even row of an interlaced picture, in the buffer. The first row of the buffer is for an odd row.
static png_bytep even_row(const png_reader *reader, uint32_t y) {
  return reader->rows + (1 + y / 2 - (reader->first + 1) / 2) * reader->row_bytes;
}

// Reads all passes of an interlaced picture except the last one, whose odd rows are read one by one afterwards. Keeps
// as many even rows as `band` allows. For further even rows, the picture is decompressed again.
static void fill(png_reader *reader) {
  const cpng_region *region = &reader->source->region;
  const size_t fit = reader->source->band / reader->row_bytes;
  const size_t most = fit < 1 ? 2 : fit * 2;
  const uint32_t left = region->y + region->height - reader->next;
  const uint32_t band = most < region->height ? (uint32_t)most : region->height;
  room(reader, 2 + band / 2);
  if (reader->held > 0) {
    cpng_shape again;
    open_again(reader, &again);
  }
  reader->first = reader->next;
  reader->held = left < band ? left : band;
  const uint32_t end = reader->first + reader->held;
  for (int pass = 0; pass < reader->passes - 1; pass++) {
    for (uint32_t y = 0; y < reader->height; y++) {
      bool is_held = y % 2 == 0 && y >= reader->first && y < end;
      read_row(reader, is_held ? even_row(reader, y) : NULL);
    }
  }
  reader->line = 0;
}

const uint8_t *reader_row(png_reader *reader) {
  const cpng_region *region = &reader->source->region;
  const uint32_t y = reader->next;
  png_bytep row;
  if (reader->passes == 1) {
    row = room(reader, 1);
  } else {
    if (reader->held == 0 || y == reader->first + reader->held) fill(reader);
    row = y % 2 == 0 ? even_row(reader, y) : reader->rows;
  }
  if (reader->passes == 1 || y % 2 == 1) read_until(reader, y + 1, row);
  reader->next++;
  return row + region->x * reader->pixel;
}

void reader_finish(png_reader *reader) {
  read_until(reader, reader->height, reader->rows);
  png_read_end(reader->png, NULL);
}

void reader_close(png_reader *reader) {
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader->rows);
}
