#include "look.h"

void look_hold(j_decompress_ptr source, packed_coefficients *held, long most) {
  if (jpeg_has_multiple_scans(source)) ERREXIT(source, JERR_NOTIMPL);
  packed_open((j_common_ptr)source, held, true, most);
  // The mode in which libjpeg keeps what it reads, and leaves it to the caller when to make pixels of it.
  source->buffered_image = TRUE;
  jpeg_start_decompress(source);
  int status;
  do {
    status = jpeg_consume_input(source);
    if (status == JPEG_SUSPENDED) ERREXIT(source, JERR_CANT_SUSPEND);
  } while (status != JPEG_REACHED_EOI);
  packed_settle(held);
}

static int bounded(int value) { return value < 0 ? 0 : value > MAXJSAMPLE ? MAXJSAMPLE : value; }

// The first coefficient is eight times the mean of the block's samples. (ISO/IEC 10918-1, A.3.3)
static uint8_t mean(JCOEF first, int step) {
  return (uint8_t)bounded(((first * step + 4) >> 3) + CENTERJSAMPLE);
}

// A row of one component's means, as wide as the picture's own.
static void spread_means(j_decompress_ptr source, const jpeg_component_info *info, const packed_component *component,
                         uint32_t y, uint32_t across, uint8_t *out) {
  bool is_alone = source->num_components == 1;
  uint32_t h = is_alone ? 1 : (uint32_t)info->h_samp_factor, v = is_alone ? 1 : (uint32_t)info->v_samp_factor;
  uint32_t most_h = is_alone ? 1 : (uint32_t)source->max_h_samp_factor;
  uint32_t most_v = is_alone ? 1 : (uint32_t)source->max_v_samp_factor;
  const JCOEF *means = component->means + (size_t)(y * v / most_v) * component->across;
  int step = info->quant_table ? info->quant_table->quantval[0] : 1;
  if (h == most_h) {
    for (uint32_t x = 0; x < across; x++) out[x] = mean(means[x], step);
  } else if (h * 2 == most_h) {
    for (uint32_t x = 0; x < across; x++) out[x] = mean(means[x / 2], step);
  } else {
    for (uint32_t x = 0; x < across; x++) out[x] = mean(means[x * h / most_h], step);
  }
}

cjpeg_region look_choose(j_decompress_ptr source, packed_coefficients *held, const cjpeg_chooser *chooser) {
  uint32_t across = (source->image_width + DCTSIZE - 1) / DCTSIZE;
  uint32_t down = (source->image_height + DCTSIZE - 1) / DCTSIZE;
  bool is_grey = source->num_components == 1, is_rgb = source->jpeg_color_space == JCS_RGB;
  if (held->requested != (is_grey ? 1 : 3)) ERREXIT(source, JERR_BAD_J_COLORSPACE);
  size_t row_bytes = is_grey ? across : (size_t)across * 4;
  uint8_t *pixels =
      (*source->mem->alloc_large)((j_common_ptr)source, JPOOL_IMAGE, row_bytes * down);
  uint8_t *rows = (*source->mem->alloc_large)((j_common_ptr)source, JPOOL_IMAGE, (size_t)across * 3);
  for (uint32_t y = 0; y < down; y++) {
    uint8_t *out = pixels + y * row_bytes;
    for (int i = 0; i < held->requested; i++) {
      spread_means(source, &source->comp_info[i], &held->components[i], y, across, rows + (size_t)i * across);
    }
    if (is_grey) {
      memcpy(out, rows, across);
      continue;
    }
    for (uint32_t x = 0; x < across; x++) {
      int first = rows[x], second = rows[across + x], third = rows[2 * (size_t)across + x];
      // ITU-R BT.601, in 1024ths.
      int blueness = second - CENTERJSAMPLE, redness = third - CENTERJSAMPLE;
      int red = is_rgb ? first : first + ((1436 * redness) >> 10);
      int green = is_rgb ? second : first - ((352 * blueness + 731 * redness) >> 10);
      int blue = is_rgb ? third : first + ((1815 * blueness) >> 10);
      out[x * 4] = (uint8_t)bounded(blue);
      out[x * 4 + 1] = (uint8_t)bounded(green);
      out[x * 4 + 2] = (uint8_t)bounded(red);
      out[x * 4 + 3] = MAXJSAMPLE;
    }
  }
  cjpeg_region region = {0};
  if (!chooser->choose(chooser->context, pixels, across, down, is_grey, &region)) {
    ERREXIT(source, JERR_BAD_CROP_SPEC);
  }
  return region;
}
