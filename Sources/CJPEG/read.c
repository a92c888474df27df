#include "session.h"

struct cjpeg_rows {
  session session;
  cjpeg_request request;
  // A row, and the region's first column in it.
  JSAMPARRAY row;
  JDIMENSION left;
  // The number of rows that have not been delivered yet.
  uint32_t rest;
};

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
static void skip(cjpeg_rows *rows, JDIMENSION count) {
  j_decompress_ptr source = &rows->session.source;
  if (source->max_v_samp_factor <= 2) {
    if (count > 0) jpeg_skip_scanlines(source, count);
    return;
  }
  for (; count > 0; count--) jpeg_read_scanlines(source, rows->row, 1);
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

// Starts decompression, skips to the region's first row, and decodes only the columns that are needed.
static void start(session *session, const void *order) {
  cjpeg_rows *rows = (void *)session;
  const cjpeg_request *request = order;
  const cjpeg_region region = request->region;
  j_decompress_ptr source = &session->source;
  session_open(session, request->file);
  if (jpeg_has_multiple_scans(source)) {
    coefficients_pack((j_common_ptr)source, &session->read, request->file.memory);
    source->buffered_image = request->is_preview;
  }
  source->scale_num = (unsigned)request->eighths;
  source->scale_denom = 8;
  source->out_color_space =
      request->color_space == cjpeg_stored ? source->jpeg_color_space : (J_COLOR_SPACE)request->color_space;
  source->do_fancy_upsampling = source->do_block_smoothing = !request->is_preview;
  jpeg_start_decompress(source);
  if (source->buffered_image) {
    int status = JPEG_SUSPENDED;
    do {
      status = jpeg_consume_input(source);
    } while (status != JPEG_REACHED_EOI && !(status == JPEG_SCAN_COMPLETED && has_means(source)));
    jpeg_start_output(source, source->input_scan_number);
  }
  // The buffer for the rows has as many bytes as Swift says.
  if (source->output_components != request->channels) ERREXIT(source, JERR_BAD_J_COLORSPACE);
  if (region.width == 0 || region.height == 0 || (uint64_t)region.x + region.width > source->output_width ||
      (uint64_t)region.y + region.height > source->output_height) {
    ERREXIT(source, JERR_BAD_CROP_SPEC);
  }
  rows->rest = region.height;
  rows->left = region.x;
  if (region.width < source->output_width && can_crop(source)) {
    // The region is widened by one iMCU on either side. Fancy upsampling uses neighbouring pixels, and the region's
    // pixels must be the same as in the whole picture.
    JDIMENSION margin = (JDIMENSION)source->max_h_samp_factor * DCTSIZE;
    JDIMENSION left = region.x > margin ? region.x - margin : 0;
    JDIMENSION right = region.x + region.width + margin;
    JDIMENSION width = (right < source->output_width ? right : source->output_width) - left;
    jpeg_crop_scanline(source, &left, &width);
    rows->left = region.x - left;
  }
  rows->row = source->mem->alloc_sarray((j_common_ptr)source, JPOOL_IMAGE,
                                        source->output_width * (JDIMENSION)source->output_components, 1);
  skip(rows, region.y);
}

cjpeg_rows *cjpeg_rows_open(const cjpeg_request *request, cjpeg_outcome *outcome) {
  cjpeg_rows *rows = calloc(1, sizeof *rows);
  if (rows == NULL) {
    *outcome = (cjpeg_outcome){.failed = true, .out_of_memory = true};
    return NULL;
  }
  rows->request = *request;
  session_run(&rows->session, start, request, outcome);
  return rows;
}

// The target of the next rows.
typedef struct {
  uint8_t *pixels;
  uint32_t count;
} strip;

static void read_strip(session *session, const void *order) {
  cjpeg_rows *rows = (void *)session;
  const strip *strip = order;
  j_decompress_ptr source = &session->source;
  const size_t pixel = (size_t)source->output_components, bytes = rows->request.region.width * pixel;
  if (strip->count > rows->rest) ERREXIT(source, JERR_TOO_LITTLE_DATA);
  for (uint32_t y = 0; y < strip->count; y++) {
    jpeg_read_scanlines(source, rows->row, 1);
    memcpy(strip->pixels + y * bytes, rows->row[0] + rows->left * pixel, bytes);
  }
  rows->rest -= strip->count;
  if (rows->rest > 0 || strip->count == 0 || rows->request.is_preview) return;
  // If all remaining rows were skipped, libjpeg would not read them. So the last row is read, because libjpeg must
  // decode the entropy-coded data of all rows above it for that.
  JDIMENSION rest = source->output_height - source->output_scanline;
  if (rest > 1) skip(rows, rest - 1);
  if (rest > 0) jpeg_read_scanlines(source, rows->row, 1);
  jpeg_finish_decompress(source);
}

void cjpeg_rows_next(cjpeg_rows *rows, uint8_t *pixels, uint32_t count, cjpeg_outcome *outcome) {
  const strip strip = {.pixels = pixels, .count = count};
  session_run(&rows->session, read_strip, &strip, outcome);
}

void cjpeg_rows_close(cjpeg_rows *rows) {
  if (rows == NULL) return;
  session_close(&rows->session);
  free(rows);
}
