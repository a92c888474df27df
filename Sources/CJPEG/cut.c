#include "like.h"
#include "output.h"
#include "packed.h"
#include "window.h"

// If a picture has a single component, its sampling factors have no effect: blocks are 8 × 8 pixels. (ITU-T T.81,
// A.2.2)
static int factor(j_decompress_ptr source, int sampling) {
  return source->num_components == 1 ? 1 : sampling;
}

// Refuses a region that extends beyond the picture, or does not start on a block border.
static void check(j_decompress_ptr source, cjpeg_region region) {
  if (region.width == 0 || region.height == 0 ||
      (uint64_t)region.x + region.width > source->image_width ||
      (uint64_t)region.y + region.height > source->image_height ||
      region.x % (DCTSIZE * (uint32_t)factor(source, source->max_h_samp_factor)) != 0 ||
      region.y % (DCTSIZE * (uint32_t)factor(source, source->max_v_samp_factor)) != 0) {
    ERREXIT(source, JERR_BAD_CROP_SPEC);
  }
}

bool cjpeg_cut(const uint8_t *bytes, size_t count, cjpeg_limits limits, cjpeg_region region,
               bool progressive, uint8_t **out, size_t *out_count, cjpeg_outcome *outcome) {
  session session;
  scan_guard guard;
  memory_output output = {.room = *out, .bytes = *out, .size = *out_count};
  coefficient_window window = {.requested = 0};
  packed_coefficients held = {.requested = 0};
  jvirt_barray_ptr arrays[MAX_COMPONENTS];
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  struct jpeg_compress_struct target = {.err = source.err};
  if (setjmp(session.escape)) {
    jpeg_destroy_compress(&target);
    jpeg_destroy_decompress(&source);
    window_close(&window);
    packed_close(&held);
    output_abandon(&output);
    return false;
  }
  jpeg_create_decompress(&source);
  jpeg_create_compress(&target);
  session_limit(&source, &guard, limits);
  session_open(&source, bytes, count);
  check(&source, region);
  if (source.progressive_mode) {
    // To read the next scan of a progressive picture, libjpeg needs all coefficients of the earlier scans.
    packed_open((j_common_ptr)&source, &held, limits.memory);
    jpeg_read_coefficients(&source);
    packed_lend(&source, &held, region, &target, arrays);
  } else {
    window_open(&source, region, progressive, &window);
    window_read(&source, &target, arrays);
  }
  like_start(&source, &target);
  target.image_width = region.width;
  target.image_height = region.height;
  if (progressive || source.progressive_mode) jpeg_simple_progression(&target);
  output_open(&output, &target);
  jpeg_write_coefficients(&target, arrays);
  jpeg_finish_compress(&target);
  jpeg_finish_decompress(&source);
  jpeg_destroy_compress(&target);
  jpeg_destroy_decompress(&source);
  window_close(&window);
  packed_close(&held);
  output_end(&output, out, out_count);
  return true;
}
