#include "packed.h"
#include "region.h"

bool cjpeg_read_header(const uint8_t *bytes, size_t count, cjpeg_header *header,
                       cjpeg_outcome *outcome) {
  session session;
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  if (setjmp(session.escape)) {
    jpeg_destroy_decompress(&source);
    return false;
  }
  jpeg_create_decompress(&source);
  session_open(&source, bytes, count);
  memset(header, 0, sizeof *header);
  header->width = (int)source.image_width;
  header->height = (int)source.image_height;
  header->components = source.num_components;
  header->color_space = source.jpeg_color_space;
  header->progressive = source.progressive_mode;
  header->adobe = source.saw_Adobe_marker;
  for (int i = 0; i < source.num_components && i < 4; i++) {
    header->horizontal_sampling[i] = source.comp_info[i].h_samp_factor;
    header->vertical_sampling[i] = source.comp_info[i].v_samp_factor;
  }
  jpeg_destroy_decompress(&source);
  return true;
}

#if JPEG_LIB_VERSION >= 70
#define LEAST_SIZE(source) ((source)->min_DCT_h_scaled_size)
#define SIZE(info) ((info)->DCT_h_scaled_size)
#else
#define LEAST_SIZE(source) ((source)->min_DCT_scaled_size)
#define SIZE(info) ((info)->DCT_scaled_size)
#endif

// Whether jpeg_crop_scanline may be used. If one component is reduced less than the others, this function of
// libjpeg-turbo 2.1 assumes half of the columns that the component has. The error is harmless if the component has as
// many columns as the picture.
static bool can_crop(j_decompress_ptr source) {
  const int least = LEAST_SIZE(source);
  for (int i = 0; i < source->num_components; i++) {
    const jpeg_component_info *info = &source->comp_info[i];
    const bool is_full = info->h_samp_factor * SIZE(info) == source->max_h_samp_factor * least &&
                         info->v_samp_factor * SIZE(info) == source->max_v_samp_factor * least;
    if (SIZE(info) != least && !is_full) return false;
  }
  return true;
}

// Skips rows. jpeg_skip_scanlines assumes row groups of at most two rows, even in libjpeg-turbo 2.1.5. But fancy
// upsampling may make groups of four. A skip that starts within the last three rows of such a group skips one row of
// blocks too many. In a picture of several scans, libjpeg then loops forever.
static void pass(j_decompress_ptr source, JDIMENSION rows, region_reader *reader) {
  if (source->max_v_samp_factor <= 2) {
    if (rows > 0) jpeg_skip_scanlines(source, rows);
    return;
  }
  for (; rows > 0; rows--) jpeg_read_scanlines(source, reader->row, 1);
}

void region_start(j_decompress_ptr source, cjpeg_region region, region_reader *reader) {
  jpeg_start_decompress(source);
  if (region.width == 0 || region.height == 0 ||
      (uint64_t)region.x + region.width > source->output_width ||
      (uint64_t)region.y + region.height > source->output_height) {
    ERREXIT(source, JERR_BAD_CROP_SPEC);
  }
  reader->region = region;
  reader->pixel = (size_t)source->output_components;
  reader->left = region.x;
  if (region.width < source->output_width && can_crop(source)) {
    // The region is widened by one iMCU on either side. Fancy upsampling uses neighbouring pixels, and the region's
    // pixels must be the same as in the whole picture.
    JDIMENSION margin = (JDIMENSION)source->max_h_samp_factor * DCTSIZE;
    JDIMENSION left = region.x > margin ? region.x - margin : 0;
    JDIMENSION right = region.x + region.width + margin;
    JDIMENSION width = (right < source->output_width ? right : source->output_width) - left;
    jpeg_crop_scanline(source, &left, &width);
    reader->left = region.x - left;
  }
  reader->row = (*source->mem->alloc_sarray)((j_common_ptr)source, JPOOL_IMAGE,
                                             source->output_width * (JDIMENSION)reader->pixel, 1);
  pass(source, region.y, reader);
}

const uint8_t *region_read(j_decompress_ptr source, region_reader *reader) {
  jpeg_read_scanlines(source, reader->row, 1);
  return reader->row[0] + reader->left * reader->pixel;
}

// Writes the region's next row to `pixels`. If libjpeg decodes only the region's columns, it decodes directly into
// `pixels`.
static void read_into(j_decompress_ptr source, region_reader *reader, uint8_t *pixels) {
  if (reader->region.width == source->output_width) {
    jpeg_read_scanlines(source, &pixels, 1);
  } else {
    memcpy(pixels, region_read(source, reader), reader->region.width * reader->pixel);
  }
}

void region_finish(j_decompress_ptr source, region_reader *reader) {
  // If all remaining rows were skipped, libjpeg would not read them. So the last row is read, because libjpeg must
  // decode the entropy-coded data of all rows above it for that.
  JDIMENSION rest = source->output_height - source->output_scanline;
  if (rest > 1) pass(source, rest - 1, reader);
  if (rest > 0) jpeg_read_scanlines(source, reader->row, 1);
  jpeg_finish_decompress(source);
}

struct cjpeg_rows {
  session session;
  scan_guard guard;
  packed_coefficients packed;
  region_reader reader;
  struct jpeg_decompress_struct source;
  // The number of rows that have not been delivered yet.
  uint32_t left;
};

cjpeg_rows *cjpeg_rows_open(const uint8_t *bytes, size_t count, cjpeg_limits limits, int eighths, cjpeg_region region,
                            int color_space, cjpeg_outcome *outcome) {
  cjpeg_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) {
    memset(outcome, 0, sizeof *outcome);
    outcome->out_of_memory = true;
    return NULL;
  }
  rows->packed.is_read_once = true;
  rows->left = region.height;
  j_decompress_ptr source = &rows->source;
  source->err = session_begin(&rows->session, outcome);
  if (setjmp(rows->session.escape)) {
    cjpeg_rows_close(rows);
    return NULL;
  }
  jpeg_create_decompress(source);
  session_limit(source, &rows->guard, limits);
  session_open(source, bytes, count);
  if (jpeg_has_multiple_scans(source)) packed_open((j_common_ptr)source, &rows->packed, limits.memory);
  source->scale_num = (unsigned)eighths;
  source->scale_denom = 8;
  source->out_color_space = (J_COLOR_SPACE)color_space;
  region_start(source, region, &rows->reader);
  return rows;
}

bool cjpeg_rows_next(cjpeg_rows *rows, uint8_t *pixels, uint32_t count) {
  if (setjmp(rows->session.escape)) return false;
  region_reader *reader = &rows->reader;
  const size_t bytes = reader->region.width * reader->pixel;
  if (count > rows->left) ERREXIT(&rows->source, JERR_TOO_LITTLE_DATA);
  for (uint32_t y = 0; y < count; y++) read_into(&rows->source, reader, pixels + y * bytes);
  rows->left -= count;
  if (rows->left == 0 && count > 0) region_finish(&rows->source, reader);
  return true;
}

void cjpeg_rows_close(cjpeg_rows *rows) {
  if (rows == NULL) return;
  jpeg_destroy_decompress(&rows->source);
  packed_close(&rows->packed);
  free(rows);
}

// Whether the scans that have been read contain the mean of every block.
static bool has_means(j_decompress_ptr source) {
  // A scan of a sequential picture has all data of its components, but it may lack some components.
  if (source->coef_bits == NULL) return false;
  for (int i = 0; i < source->num_components; i++) {
    if (source->coef_bits[i][0] < 0) return false;
  }
  return true;
}

bool cjpeg_glance(const uint8_t *bytes, size_t count, cjpeg_limits limits, int color_space,
                  uint8_t *pixels, size_t stride, cjpeg_outcome *outcome) {
  session session;
  scan_guard guard;
  packed_coefficients packed = {.requested = 0};
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  if (setjmp(session.escape)) {
    jpeg_destroy_decompress(&source);
    packed_close(&packed);
    return false;
  }
  jpeg_create_decompress(&source);
  session_limit(&source, &guard, limits);
  session_open(&source, bytes, count);
  if (jpeg_has_multiple_scans(&source)) packed_open((j_common_ptr)&source, &packed, limits.memory);
  source.scale_num = 1;
  source.scale_denom = 8;
  source.out_color_space = (J_COLOR_SPACE)color_space;
  source.do_fancy_upsampling = FALSE;
  source.do_block_smoothing = FALSE;
  source.buffered_image = jpeg_has_multiple_scans(&source);
  jpeg_start_decompress(&source);
  if (source.buffered_image) {
    int status = JPEG_SUSPENDED;
    do {
      status = jpeg_consume_input(&source);
    } while (status != JPEG_REACHED_EOI && !(status == JPEG_SCAN_COMPLETED && has_means(&source)));
    jpeg_start_output(&source, source.input_scan_number);
  }
  while (source.output_scanline < source.output_height) {
    JSAMPROW row = pixels + source.output_scanline * stride;
    jpeg_read_scanlines(&source, &row, 1);
  }
  jpeg_destroy_decompress(&source);
  packed_close(&packed);
  return true;
}

bool cjpeg_coefficients(const uint8_t *bytes, size_t count, int component, int16_t **out,
                        uint32_t *across, uint32_t *down, cjpeg_outcome *outcome) {
  session session;
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  *out = NULL;
  if (setjmp(session.escape)) {
    jpeg_destroy_decompress(&source);
    free(*out);
    *out = NULL;
    return false;
  }
  jpeg_create_decompress(&source);
  session_open(&source, bytes, count);
  jvirt_barray_ptr *arrays = jpeg_read_coefficients(&source);
  if (component < 0 || component >= source.num_components) {
    ERREXIT(&source, JERR_BAD_COMPONENT_ID);
  }
  jpeg_component_info *info = &source.comp_info[component];
  *across = info->width_in_blocks;
  *down = info->height_in_blocks;
  *out = malloc((size_t)*across * *down * sizeof(JBLOCK));
  if (*out == NULL) ERREXIT1(&source, JERR_OUT_OF_MEMORY, 0);
  for (uint32_t y = 0; y < *down; y++) {
    JBLOCKARRAY row = (*source.mem->access_virt_barray)((j_common_ptr)&source, arrays[component],
                                                        y, 1, FALSE);
    memcpy(*out + (size_t)y * *across * DCTSIZE2, row[0], *across * sizeof(JBLOCK));
  }
  jpeg_destroy_decompress(&source);
  return true;
}
