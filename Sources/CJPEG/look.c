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

// A square of blocks that are one pixel, of those across and down, and the row of such squares that is made.
typedef struct {
  uint32_t side, across, down, row;
} squares;

// A row of one component's means, as wide as the picture's own; room for the sums of one row is lent.
static void average(j_decompress_ptr source, const jpeg_component_info *info, const packed_component *component,
                    squares squares, int64_t *sums, uint8_t *out) {
  bool is_alone = source->num_components == 1;
  uint32_t h = is_alone ? 1 : (uint32_t)info->h_samp_factor, v = is_alone ? 1 : (uint32_t)info->v_samp_factor;
  uint32_t most_h = is_alone ? 1 : (uint32_t)source->max_h_samp_factor;
  uint32_t most_v = is_alone ? 1 : (uint32_t)source->max_v_samp_factor;
  int64_t step = info->quant_table ? info->quant_table->quantval[0] : 1;
  uint32_t across = (squares.across + squares.side - 1) / squares.side;
  uint32_t first = squares.row * squares.side;
  uint32_t end = first + squares.side < squares.down ? first + squares.side : squares.down;
  memset(sums, 0, across * sizeof *sums);
  for (uint32_t y = first; y < end; y++) {
    const JCOEF *means = component->means + (size_t)(y * v / most_v) * component->across;
    for (uint32_t x = 0, start = 0; x < across; x++, start += squares.side) {
      uint32_t stop = start + squares.side < squares.across ? start + squares.side : squares.across;
      int sum = 0;
      if (h == most_h) {
        for (uint32_t k = start; k < stop; k++) sum += means[k];
      } else if (h * 2 == most_h) {
        for (uint32_t k = start; k < stop; k++) sum += means[k / 2];
      } else {
        for (uint32_t k = start; k < stop; k++) sum += means[k * h / most_h];
      }
      sums[x] += sum;
    }
  }
  for (uint32_t x = 0; x < across; x++) {
    uint32_t left = squares.across - x * squares.side;
    int64_t count = (left < squares.side ? left : squares.side) * (end - first);
    // The first coefficient is eight times the mean of the block's samples. (ISO/IEC 10918-1, A.3.3)
    int64_t eighths = sums[x] * step + (CENTERJSAMPLE * 8 + 4) * count;
    int64_t value = eighths < 0 ? 0 : eighths / (count * 8);
    out[x] = (uint8_t)(value > MAXJSAMPLE ? MAXJSAMPLE : value);
  }
}

cjpeg_region look_choose(j_decompress_ptr source, packed_coefficients *held, const cjpeg_chooser *chooser) {
  squares squares = {.across = (source->image_width + DCTSIZE - 1) / DCTSIZE,
                     .down = (source->image_height + DCTSIZE - 1) / DCTSIZE};
  uint32_t longer = squares.across > squares.down ? squares.across : squares.down;
  squares.side = longer / chooser->least > 1 ? longer / chooser->least : 1;
  uint32_t across = (squares.across + squares.side - 1) / squares.side;
  uint32_t down = (squares.down + squares.side - 1) / squares.side;
  bool is_grey = source->num_components == 1, is_rgb = source->jpeg_color_space == JCS_RGB;
  if (held->requested != (is_grey ? 1 : 3)) ERREXIT(source, JERR_BAD_J_COLORSPACE);
  size_t row_bytes = is_grey ? across : (size_t)across * 4;
  uint8_t *pixels =
      (*source->mem->alloc_large)((j_common_ptr)source, JPOOL_IMAGE, row_bytes * down);
  uint8_t *rows = (*source->mem->alloc_large)((j_common_ptr)source, JPOOL_IMAGE, (size_t)across * 3);
  int64_t *sums =
      (*source->mem->alloc_large)((j_common_ptr)source, JPOOL_IMAGE, (size_t)across * sizeof *sums);
  for (uint32_t y = 0; y < down; y++) {
    squares.row = y;
    uint8_t *out = pixels + y * row_bytes;
    for (int i = 0; i < held->requested; i++) {
      average(source, &source->comp_info[i], &held->components[i], squares, sums, rows + (size_t)i * across);
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
