#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"

// Passes the bytes in the buffer to `take`, and empties the buffer.
static void hand_on(png_structp png, cpng_output *output) {
  if (!output->take(output->taker, output->bytes, output->count)) png_error(png, "it cannot be written");
  output->count = 0;
}

// Moves the output from the caller's buffer, or from an earlier block, to a larger block.
static void grow(png_structp png, cpng_output *output, size_t count) {
  const bool in_room = output->bytes == output->room;
  const size_t size = (output->count + count) * 2;
  uint8_t *bytes = realloc(in_room ? NULL : output->bytes, size);
  if (bytes == NULL) failure_no_memory(png);
  if (in_room) memcpy(bytes, output->room, output->count);
  output->bytes = bytes;
  output->size = size;
}

static void push(png_structp png, png_bytep source, size_t count) {
  cpng_output *output = png_get_io_ptr(png);
  if (output->take == NULL && count > output->size - output->count) grow(png, output, count);
  while (count > 0) {
    if (output->count == output->size) hand_on(png, output);
    const size_t left = output->size - output->count, part = count < left ? count : left;
    memcpy(output->bytes + output->count, source, part);
    output->count += part;
    source += part;
    count -= part;
  }
}

static void flush(png_structp png) { (void)png; }

static void output_abandon(cpng_output *output) {
  if (output->bytes != output->room) free(output->bytes);
}

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

typedef struct {
  png_structp png;
  png_infop info;
  // The previous row, if each row is compared with it to choose filters, and otherwise NULL.
  uint8_t *previous;
  size_t row_bytes;
  // The filters to try for a row that differs from the previous row.
  int filters;
} png_writer;

enum { few_filters = PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_PAETH };

// At low compression levels, trying all five filters on a row takes as long as compressing it. At the lowest levels,
// even trying three does. Filters do not help with palette indices, or with samples that share a byte. (PNG, 12.7)
static int filters_for(const cpng_shape *shape, int level) {
  if (shape->color_type == cpng_palette || shape->depth < 8) return PNG_FILTER_NONE;
  return level < 2 ? PNG_FILTER_SUB : level < 6 ? few_filters : PNG_ALL_FILTERS;
}

// Writes everything that precedes the rows, and returns the number of passes.
static int writer_open(png_writer *writer, failure *failure, cpng_output *output,
                       const cpng_shape *shape, int level, bool interlaced) {
  writer->png =
      png_create_write_struct_2(PNG_LIBPNG_VER_STRING, failure, failure_leave, failure_ignore,
                                failure, failure_allocate, failure_free);
  if (writer->png == NULL) {
    failure->outcome->out_of_memory = true;
    longjmp(failure->escape, 1);
  }
  png_structp png = writer->png;
  png_infop info = writer->info = png_create_info_struct(png);
  if (info == NULL) failure_no_memory(png);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_write_fn(png, output, push, flush);
  png_set_compression_level(png, level);
  if (level < 6) png_set_filter(png, PNG_FILTER_TYPE_BASE, filters_for(shape, level));
  png_set_IHDR(png, info, shape->width, shape->height, shape->depth, shape->color_type,
               interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  put_palette(png, info, shape);
  png_write_info_before_PLTE(png, info);
  push(png, (png_bytep)output->head, output->head_count);
  png_write_info(png, info);
  push(png, (png_bytep)output->middle, output->middle_count);
  // A palette index for which there is no colour is accepted, because every decoder shows it as black.
  png_set_check_for_invalid_index(png, 0);
  if (shape->depth < 8) png_set_packing(png);
  if (shape->depth == 16) png_set_swap(png);
  return png_set_interlace_handling(png);
}

static void writer_close(png_writer *writer) {
  png_destroy_write_struct(&writer->png, &writer->info);
  free(writer->previous);
}

// Prepares a writer that compares each row with the previous row.
static void writer_compare(png_writer *writer, const cpng_shape *shape, size_t row_bytes, int level) {
  writer->row_bytes = row_bytes;
  writer->filters = filters_for(shape, level);
  writer->previous = malloc(row_bytes);
  if (writer->previous == NULL) failure_no_memory(writer->png);
}

// Writes a row. If it is equal to the previous row, only the `up` filter is tried, which halves the time of a large
// picture with few details. The first row must allow this filter, too. Otherwise libpng does not keep the previous row,
// and ignores the filter.
static void writer_put(png_writer *writer, const uint8_t *row, bool is_first) {
  if (writer->previous) {
    bool is_same = !is_first && memcmp(writer->previous, row, writer->row_bytes) == 0;
    int filters = is_first ? writer->filters | PNG_FILTER_UP : is_same ? PNG_FILTER_UP : writer->filters;
    png_set_filter(writer->png, PNG_FILTER_TYPE_BASE, filters);
    if (!is_same) memcpy(writer->previous, row, writer->row_bytes);
  }
  png_write_row(writer->png, row);
}

bool cpng_encode_interlaced(const cpng_shape *shape, const uint8_t *pixels, size_t stride, int level,
                            cpng_output *output, cpng_outcome *outcome) {
  failure failure;
  png_writer writer = {.png = NULL};
  // The input is in memory already, and its size has been checked.
  failure_begin(&failure, outcome, LONG_MAX);
  if (setjmp(failure.escape)) {
    writer_close(&writer);
    output_abandon(output);
    return false;
  }
  int passes = writer_open(&writer, &failure, output, shape, level, true);
  for (int pass = 0; pass < passes; pass++) {
    for (uint32_t y = 0; y < shape->height; y++) png_write_row(writer.png, pixels + y * stride);
  }
  png_write_end(writer.png, NULL);
  writer_close(&writer);
  return true;
}

bool cpng_encode(const cpng_shape *shape, const cpng_coming *coming, int level, cpng_output *output,
                 cpng_outcome *outcome) {
  failure failure;
  png_writer writer = {.png = NULL};
  uint8_t *volatile strip = NULL;
  failure_begin(&failure, outcome, LONG_MAX);
  if (setjmp(failure.escape)) {
    writer_close(&writer);
    output_abandon(output);
    free(strip);
    return false;
  }
  writer_open(&writer, &failure, output, shape, level, false);
  const size_t row_bytes = (size_t)shape->width * shape->channels * (shape->depth == 16 ? 2 : 1);
  if (level < 6) writer_compare(&writer, shape, row_bytes, level);
  strip = malloc(row_bytes * coming->at_once);
  if (strip == NULL) failure_no_memory(writer.png);
  for (uint32_t y = 0, count; y < shape->height; y += count) {
    const uint32_t left = shape->height - y;
    count = left < coming->at_once ? left : coming->at_once;
    if (!coming->next(coming->context, strip, count)) failure_no_memory(writer.png);
    for (uint32_t i = 0; i < count; i++) writer_put(&writer, strip + i * row_bytes, y + i == 0);
  }
  png_write_end(writer.png, NULL);
  writer_close(&writer);
  free(strip);
  return true;
}
