#include "like.h"
#include "look.h"
#include "output.h"
#include "window.h"

// A component alone in its picture has blocks of 8 × 8 whatever its sampling factors say. (A.2.2)
static int factor(j_decompress_ptr source, int sampling) {
  return source->num_components == 1 ? 1 : sampling;
}

static JDIMENSION in_blocks(j_decompress_ptr source, uint32_t pixels, int sampling, int most) {
  return pixels / (DCTSIZE * (uint32_t)factor(source, most)) * (uint32_t)factor(source, sampling);
}

// Moves the blocks of a region to the upper left corner of their own array: each comes to lie where
// it was or before, so that none is overwritten before it is moved.
static void move(j_decompress_ptr source, jvirt_barray_ptr blocks, const jpeg_component_info *info,
                 cjpeg_region region) {
  j_common_ptr common = (j_common_ptr)source;
  JDIMENSION left = in_blocks(source, region.x, info->h_samp_factor, source->max_h_samp_factor);
  JDIMENSION top = in_blocks(source, region.y, info->v_samp_factor, source->max_v_samp_factor);
  JDIMENSION room = info->width_in_blocks - left;
  if (left == 0 && top == 0) return;
  for (JDIMENSION y = top; y < info->height_in_blocks; y++) {
    JBLOCKROW from = (*source->mem->access_virt_barray)(common, blocks, y, 1, TRUE)[0];
    JBLOCKROW to = (*source->mem->access_virt_barray)(common, blocks, y - top, 1, TRUE)[0];
    memmove(to, from + left, room * sizeof(JBLOCK));
  }
}

// Refuses a region that is not a part of the picture, or begins inside of a block.
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
               const cjpeg_chooser *chooser, bool progressive, uint8_t **out, size_t *out_count,
               cjpeg_outcome *outcome) {
  session session;
  scan_guard guard;
  memory_output output = {.room = *out, .bytes = *out, .size = *out_count};
  coefficient_window window = {.requested = 0};
  held_coefficients held = {.requested = 0};
  jvirt_barray_ptr arrays_of_window[MAX_COMPONENTS], *arrays = arrays_of_window;
  struct jpeg_decompress_struct source = {.err = session_begin(&session, outcome)};
  struct jpeg_compress_struct target = {.err = source.err};
  if (setjmp(session.escape)) {
    jpeg_destroy_compress(&target);
    jpeg_destroy_decompress(&source);
    window_close(&window);
    look_close(&held);
    output_abandon(&output);
    return false;
  }
  jpeg_create_decompress(&source);
  jpeg_create_compress(&target);
  session_limit(&source, &guard, limits);
  session_open(&source, bytes, count);
  // A picture that sharpens in steps needs all of its coefficients to read the next step.
  bool is_whole = source.progressive_mode && !chooser;
  if (!chooser) check(&source, region);
  if (chooser) {
    look_hold(&source, &held);
    region = look_choose(&source, &held, chooser);
    check(&source, region);
    look_lend(&source, &held, region, &target, arrays);
  } else if (is_whole) {
    arrays = jpeg_read_coefficients(&source);
  } else {
    window_open(&source, region, progressive, &window);
    window_read(&source, &target, arrays);
  }
  like_start(&source, &target);
  target.image_width = region.width;
  target.image_height = region.height;
  if (progressive || source.progressive_mode) jpeg_simple_progression(&target);
  for (int i = 0; is_whole && i < source.num_components; i++) {
    move(&source, arrays[i], &source.comp_info[i], region);
  }
  output_open(&output, &target);
  jpeg_write_coefficients(&target, arrays);
  jpeg_finish_compress(&target);
  jpeg_finish_decompress(&source);
  jpeg_destroy_compress(&target);
  jpeg_destroy_decompress(&source);
  window_close(&window);
  look_close(&held);
  output_end(&output, out, out_count);
  return true;
}
