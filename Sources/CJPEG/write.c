#include <limits.h>

#include "like.h"
#include "output.h"
#include "packed.h"
#include "region.h"

bool cjpeg_recode(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region, cjpeg_form form,
                  uint8_t **out, size_t *out_count, cjpeg_outcome *outcome) {
  session session;
  scan_guard guard;
  region_reader reader;
  packed_coefficients read = {.requested = 0}, written = {.requested = 0};
  memory_output output = {.room = *out, .bytes = *out, .size = *out_count};
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  struct jpeg_compress_struct target = {.err = source.err};
  if (setjmp(session.escape)) {
    jpeg_destroy_compress(&target);
    jpeg_destroy_decompress(&source);
    packed_close(&read);
    packed_close(&written);
    output_abandon(&output);
    return false;
  }
  jpeg_create_decompress(&source);
  jpeg_create_compress(&target);
  session_limit(&source, &guard, limits);
  session_open(&source, bytes, count);
  // The colours are not converted: the components of the file are decoded, and encoded again.
  source.out_color_space = source.jpeg_color_space;
  if (jpeg_has_multiple_scans(&source)) packed_open((j_common_ptr)&source, &read, limits.memory);
  region_start(&source, region, &reader);
  like_start(&source, &target);
  clamp_tables(&target);
  like_chroma(&target, form.chroma);
  like_quality(&target, form.quality);
  if (form.progressive || source.progressive_mode) {
    jpeg_simple_progression(&target);
    packed_open((j_common_ptr)&target, &written, limits.memory);
  }
  target.image_width = region.width;
  target.image_height = region.height;
  output_open(&output, &target);
  jpeg_start_compress(&target, TRUE);
  for (uint32_t y = 0; y < region.height; y++) {
    JSAMPROW row = (JSAMPROW)region_read(&source, &reader);
    jpeg_write_scanlines(&target, &row, 1);
  }
  region_finish(&source, &reader);
  jpeg_finish_compress(&target);
  jpeg_destroy_compress(&target);
  jpeg_destroy_decompress(&source);
  packed_close(&read);
  packed_close(&written);
  output_end(&output, out, out_count);
  return true;
}

// Swaps the axes of the sampling factors and of the quantization tables, because the axes of the picture are swapped.
static void transpose(j_compress_ptr target) {
  for (int i = 0; i < target->num_components; i++) {
    int across = target->comp_info[i].h_samp_factor;
    target->comp_info[i].h_samp_factor = target->comp_info[i].v_samp_factor;
    target->comp_info[i].v_samp_factor = across;
  }
  for (int i = 0; i < NUM_QUANT_TBLS; i++) {
    JQUANT_TBL *table = target->quant_tbl_ptrs[i];
    if (table == NULL) continue;
    for (int y = 0; y < DCTSIZE; y++) {
      for (int x = 0; x < y; x++) {
        UINT16 value = table->quantval[y * DCTSIZE + x];
        table->quantval[y * DCTSIZE + x] = table->quantval[x * DCTSIZE + y];
        table->quantval[x * DCTSIZE + y] = value;
      }
    }
  }
}

bool cjpeg_encode(const cjpeg_encoding *encoding, uint8_t **out, size_t *out_count,
                  cjpeg_outcome *outcome) {
  session session;
  packed_coefficients written = {.requested = 0};
  memory_output output = {.room = *out, .bytes = *out, .size = *out_count};
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  struct jpeg_compress_struct target = {.err = source.err};
  if (setjmp(session.escape)) {
    jpeg_destroy_compress(&target);
    jpeg_destroy_decompress(&source);
    packed_close(&written);
    output_abandon(&output);
    return false;
  }
  jpeg_create_compress(&target);
  if (encoding->like) {
    jpeg_create_decompress(&source);
    session_open(&source, encoding->like, encoding->like_count);
    like_start(&source, &target);
    clamp_tables(&target);
    if (encoding->transposed) transpose(&target);
    raise_quality(&target, encoding->finer_than);
  }
  target.image_width = encoding->width;
  target.image_height = encoding->height;
  target.in_color_space = (J_COLOR_SPACE)encoding->color_space;
  target.input_components =
      encoding->color_space == JCS_GRAYSCALE ? 1 : encoding->color_space == JCS_RGB ? 3 : 4;
  if (!encoding->like) jpeg_set_defaults(&target);
  like_chroma(&target, encoding->form.chroma);
  like_quality(&target, encoding->form.quality);
  if (encoding->form.progressive || (encoding->like && source.progressive_mode)) {
    jpeg_simple_progression(&target);
    packed_open((j_common_ptr)&target, &written, LONG_MAX);
  }
  output_open(&output, &target);
  jpeg_start_compress(&target, TRUE);
  JSAMPARRAY row = target.mem->alloc_sarray((j_common_ptr)&target, JPOOL_IMAGE,
                                            encoding->width * (JDIMENSION)target.input_components, 1);
  for (uint32_t y = 0; y < encoding->height; y++) {
    if (!encoding->next(encoding->context, row[0], 1)) ERREXIT1(&target, JERR_OUT_OF_MEMORY, 0);
    jpeg_write_scanlines(&target, row, 1);
  }
  jpeg_finish_compress(&target);
  jpeg_destroy_compress(&target);
  jpeg_destroy_decompress(&source);
  packed_close(&written);
  output_end(&output, out, out_count);
  return true;
}
