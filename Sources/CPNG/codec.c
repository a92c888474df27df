#include "CPNG.h"

#include <limits.h>
#include <malloc.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

// Before 1.6.35, a header could make libpng divide by zero (CVE-2018-13785).
#if PNG_LIBPNG_VER < 10635
#error "libpng 1.6.35 or later is needed"
#endif

// The target to which libpng jumps when a call fails, and the number of bytes that libpng may still allocate.
typedef struct {
  jmp_buf escape;
  cpng_outcome *outcome;
  long memory;
} failure;

// libpng reports a lack of memory only in the text of its error. So its allocations go through these functions, which
// note a lack of memory in the outcome.
static png_voidp allocate(png_structp png, png_alloc_size_t size) {
  failure *failure = png_get_mem_ptr(png);
  bool is_allowed = failure->memory > 0 && size <= (png_alloc_size_t)failure->memory;
  void *block = is_allowed ? malloc(size) : NULL;
  if (block == NULL) {
    failure->outcome->out_of_memory = true;
  } else {
    failure->memory -= (long)malloc_usable_size(block);
  }
  return block;
}

static void release(png_structp png, png_voidp block) {
  failure *failure = png_get_mem_ptr(png);
  failure->memory += (long)malloc_usable_size(block);
  free(block);
}

static _Noreturn void leave(png_structp png, png_const_charp message) {
  failure *failure = png_get_error_ptr(png);
  strncpy(failure->outcome->message, message, sizeof failure->outcome->message - 1);
  longjmp(failure->escape, 1);
}

static void ignore(png_structp png, png_const_charp message) {
  (void)png;
  (void)message;
}

// Jumps out if there is not enough memory for `block`.
static void require(failure *failure, const void *block) {
  if (block != NULL) return;
  failure->outcome->out_of_memory = true;
  longjmp(failure->escape, 1);
}

struct cpng_reader {
  failure failure;
  cpng_source source;
  png_structp png;
  png_infop info;
  size_t offset;
  // The number of rows of all passes that have not been read yet.
  uint64_t left;
};

static void pull(png_structp png, png_bytep target, size_t count) {
  cpng_reader *reader = png_get_io_ptr(png);
  if (count > reader->source.count - reader->offset) png_error(png, "the file ends too early");
  memcpy(target, reader->source.bytes + reader->offset, count);
  reader->offset += count;
}

static void read_header(cpng_reader *reader) {
  const cpng_source *source = &reader->source;
  png_structp png = reader->png = png_create_read_struct_2(
      PNG_LIBPNG_VER_STRING, &reader->failure, leave, ignore, &reader->failure, allocate, release);
  require(&reader->failure, png);
  png_infop info = reader->info = png_create_info_struct(png);
  require(&reader->failure, info);
  png_set_benign_errors(png, 0);
  png_set_user_limits(png, source->side, source->side);
  // Chunks of any length may be skipped. Chunks that are read have other limits.
  png_set_chunk_malloc_max(png, PNG_UINT_31_MAX);
  // Chunks that are not needed for pixels are never decompressed here. Other code copies them unchanged.
  static const png_byte aside[] = "bKGD\0cHRM\0eXIf\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0"
                                  "sCAL\0sPLT\0sRGB\0sTER\0tEXt\0tIME\0zTXt";
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
  png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, aside, (int)(sizeof aside / 5));
  png_set_read_fn(png, reader, pull);
  png_read_info(png, info);
  if (source->expands) {
    png_set_expand(png);
  } else {
    png_set_packing(png);
  }
  if (png_get_bit_depth(png, info) == 16) png_set_swap(png);
  reader->left = (uint64_t)png_set_interlace_handling(png) * png_get_image_height(png, info);
  png_read_update_info(png, info);
  // If libpng skips a chunk because its checksum is wrong, the rows may differ from the caller's. Such a file is
  // refused.
  if (png_get_rowbytes(png, info) != source->row_bytes) {
    png_error(png, "its tRNS chunk does not match its header");
  }
}

cpng_reader *cpng_reader_open(const cpng_source *source, cpng_outcome *outcome) {
  cpng_reader *reader = calloc(1, sizeof *reader);
  *outcome = (cpng_outcome){.out_of_memory = reader == NULL};
  if (reader == NULL) return NULL;
  reader->source = *source;
  reader->failure.outcome = outcome;
  reader->failure.memory = source->memory;
  if (setjmp(reader->failure.escape)) {
    cpng_reader_close(reader);
    return NULL;
  }
  read_header(reader);
  return reader;
}

// When libpng reads the last row, it decompresses all remaining data, which may become a thousand times larger, and
// then rejects the file. So such a file is refused here, before libpng reads the last row. No encoder needs more than
// twice the bytes of a row plus 16 KiB for the last row.
static void check_rest(const cpng_reader *reader) {
  const cpng_source *source = &reader->source;
  if (source->data_end > reader->offset &&
      source->data_end - reader->offset > source->row_bytes * 2 + 16384) {
    png_error(reader->png, "it has data after the last row");
  }
}

bool cpng_reader_next(cpng_reader *reader, uint8_t *rows, uint32_t count, cpng_outcome *outcome) {
  *outcome = (cpng_outcome){.out_of_memory = false};
  reader->failure.outcome = outcome;
  if (setjmp(reader->failure.escape)) return false;
  if (count > reader->left) png_error(reader->png, "there are no more rows");
  for (uint32_t i = 0; i < count; i++) {
    if (reader->left == 1) check_rest(reader);
    png_read_row(reader->png, rows == NULL ? NULL : rows + i * reader->source.row_bytes, NULL);
    reader->left--;
  }
  if (reader->left == 0 && count > 0) png_read_end(reader->png, NULL);
  return true;
}

void cpng_reader_close(cpng_reader *reader) {
  if (reader == NULL) return;
  png_destroy_read_struct(&reader->png, &reader->info, NULL);
  free(reader);
}

struct cpng_writer {
  failure failure;
  cpng_target target;
  png_structp png;
  png_infop info;
  int passes;
  uint32_t left;
  // The filters to try for a row that differs from the previous row.
  int filters;
  // The previous row, if each row is compared with it to choose filters, and otherwise NULL.
  uint8_t *previous;
};

static void push(png_structp png, png_bytep bytes, size_t count) {
  const cpng_target *target = &((cpng_writer *)png_get_io_ptr(png))->target;
  if (!target->take(target->taker, bytes, count)) png_error(png, "it cannot be written");
}

static void flush(png_structp png) { (void)png; }

// At low compression levels, trying all five filters on a row takes as long as compressing it. At the lowest levels,
// even trying three does. Filters do not help with palette indices, or with samples that share a byte. (PNG, 12.7)
static int filters_for(const cpng_target *target) {
  if (target->color_type == PNG_COLOR_TYPE_PALETTE || target->depth < 8) return PNG_FILTER_NONE;
  if (target->level < 2) return PNG_FILTER_SUB;
  return target->level < 6 ? PNG_FILTER_SUB | PNG_FILTER_UP | PNG_FILTER_PAETH : PNG_ALL_FILTERS;
}

static void write_header(cpng_writer *writer, const uint8_t *palette, const uint8_t *alpha,
                         const uint16_t *clear, const uint8_t *chunks) {
  const cpng_target *target = &writer->target;
  png_structp png = writer->png = png_create_write_struct_2(
      PNG_LIBPNG_VER_STRING, &writer->failure, leave, ignore, &writer->failure, allocate, release);
  require(&writer->failure, png);
  png_infop info = writer->info = png_create_info_struct(png);
  require(&writer->failure, info);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_write_fn(png, writer, push, flush);
  png_set_compression_level(png, target->level);
  writer->filters = filters_for(target);
  if (target->level < 6) {
    png_set_filter(png, PNG_FILTER_TYPE_BASE, writer->filters);
    if (!target->interlaced) require(&writer->failure, writer->previous = malloc(target->row_bytes));
  }
  png_set_IHDR(png, info, target->width, target->height, target->depth, target->color_type,
               target->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (target->palette_count > 0) png_set_PLTE(png, info, (png_const_colorp)palette, target->palette_count);
  if (target->alpha_count > 0) png_set_tRNS(png, info, alpha, target->alpha_count, NULL);
  if (target->clear_count > 0) {
    png_color_16 colour = {.gray = clear[0], .red = clear[0]};
    if (target->clear_count == 3) {
      colour.green = clear[1];
      colour.blue = clear[2];
    }
    png_set_tRNS(png, info, NULL, 0, &colour);
  }
  png_write_info_before_PLTE(png, info);
  push(png, (png_bytep)chunks, target->chunk_bytes);
  png_write_info(png, info);
  // A palette index for which there is no colour is accepted, because every decoder shows it as black.
  png_set_check_for_invalid_index(png, 0);
  if (target->depth < 8) png_set_packing(png);
  if (target->depth == 16) png_set_swap(png);
  writer->passes = png_set_interlace_handling(png);
}

cpng_writer *cpng_writer_open(const cpng_target *target, const uint8_t *palette, const uint8_t *alpha,
                              const uint16_t *clear, const uint8_t *chunks, cpng_outcome *outcome) {
  cpng_writer *writer = calloc(1, sizeof *writer);
  *outcome = (cpng_outcome){.out_of_memory = writer == NULL};
  if (writer == NULL) return NULL;
  writer->target = *target;
  writer->left = target->height;
  writer->failure.outcome = outcome;
  // The shape of the picture has been checked, and it bounds what libpng allocates.
  writer->failure.memory = LONG_MAX;
  if (setjmp(writer->failure.escape)) {
    cpng_writer_close(writer);
    return NULL;
  }
  write_header(writer, palette, alpha, clear, chunks);
  return writer;
}

// Chooses the filters of a row. If it is equal to the previous row, only the `up` filter is tried, which halves the
// time of a large picture with few details. The first row must allow this filter, too. Otherwise libpng does not keep
// the previous row, and ignores the filter.
static void choose_filters(cpng_writer *writer, const uint8_t *row, bool is_first) {
  const size_t bytes = writer->target.row_bytes;
  const bool is_same = !is_first && memcmp(writer->previous, row, bytes) == 0;
  const int filters = is_first ? writer->filters | PNG_FILTER_UP : is_same ? PNG_FILTER_UP : writer->filters;
  png_set_filter(writer->png, PNG_FILTER_TYPE_BASE, filters);
  if (!is_same) memcpy(writer->previous, row, bytes);
}

bool cpng_writer_next(cpng_writer *writer, const uint8_t *rows, uint32_t count, cpng_outcome *outcome) {
  *outcome = (cpng_outcome){.out_of_memory = false};
  writer->failure.outcome = outcome;
  if (setjmp(writer->failure.escape)) return false;
  for (int pass = 0; pass < writer->passes; pass++) {
    for (uint32_t y = 0; y < count; y++) {
      const uint8_t *row = rows + y * writer->target.row_bytes;
      const bool is_first = y == 0 && writer->left == writer->target.height;
      if (writer->previous) choose_filters(writer, row, is_first);
      png_write_row(writer->png, row);
    }
  }
  writer->left -= count;
  if (writer->left == 0) png_write_end(writer->png, NULL);
  return true;
}

void cpng_writer_close(cpng_writer *writer) {
  if (writer == NULL) return;
  png_destroy_write_struct(&writer->png, &writer->info);
  free(writer->previous);
  free(writer);
}
