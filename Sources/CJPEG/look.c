#include "look.h"

#include <sys/mman.h>

// Four coefficients are compared with zero at a time.
typedef uint64_t four;
enum { fours = DCTSIZE2 / 4, most_of_block = 2 + sizeof(JBLOCK) };

static void *room_for(j_common_ptr common, size_t count, size_t size) {
  void *room = calloc(count, size);
  if (room == NULL) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  return room;
}

static jvirt_barray_ptr request(j_common_ptr common, int pool, boolean zeroed, JDIMENSION across,
                                JDIMENSION down, JDIMENSION most_rows) {
  (void)pool, (void)zeroed;
  held_coefficients *held = ((j_decompress_ptr)common)->client_data;
  if (held->requested >= MAX_COMPONENTS) ERREXIT2(common, JERR_COMPONENT_COUNT, held->requested, MAX_COMPONENTS);
  held_component *component = &held->components[held->requested++];
  component->across = across;
  component->down = down;
  component->blocks = room_for(common, (size_t)across * most_rows, sizeof(JBLOCK));
  component->means = room_for(common, (size_t)across * down, sizeof(JCOEF));
  component->places = room_for(common, down, sizeof(size_t));
  held->length += (size_t)across * down * most_of_block;
  return (jvirt_barray_ptr)component;
}

// Room for the worst case, of which only what is written takes memory, in large pages where the system has them:
// faults on small ones cost as much as packing.
static void realize(j_common_ptr common) {
  held_coefficients *held = ((j_decompress_ptr)common)->client_data;
  const size_t page = (size_t)2 << 20;
  held->length += page;
  void *mapped = mmap(NULL, held->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  held->mapped = mapped;
  held->packed = (uint8_t *)(((uintptr_t)mapped + page - 1) / page * page);
  madvise(held->packed, held->length - page, MADV_HUGEPAGE);
}

static void pack(held_coefficients *held, held_component *component) {
  for (JDIMENSION i = 0; i < component->count; i++) {
    JDIMENSION y = component->first + i;
    // Each row has its room, once.
    if (y >= component->down || component->places[y] != 0) continue;
    component->places[y] = held->used + 1;
    uint8_t *out = held->packed + held->used;
    for (JDIMENSION x = 0; x < component->across; x++) {
      const JCOEF *block = component->blocks[(size_t)i * component->across + x];
      component->means[(size_t)y * component->across + x] = block[0];
      uint16_t mask = 0;
      uint8_t *values = out + sizeof mask;
      four all[fours], lower = 0;
      memcpy(all, block, sizeof all);
      // Half of most blocks, that of the finer detail, is zero.
      for (int k = fours / 2; k < fours; k++) lower |= all[k];
      for (int k = 0; k < (lower != 0 ? fours : fours / 2); k++) {
        four value = all[k];
        memcpy(values, &value, sizeof value);
        mask |= (uint16_t)((value != 0) << k);
        values += value != 0 ? sizeof value : 0;
      }
      memcpy(out, &mask, sizeof mask);
      out = values;
    }
    held->used = (size_t)(out - held->packed);
  }
  component->count = 0;
}

static void unpack(const held_coefficients *held, const held_component *component, JDIMENSION y, JBLOCKROW row) {
  memset(row, 0, component->across * sizeof(JBLOCK));
  if (y >= component->down || component->places[y] == 0) return;
  const uint8_t *in = held->packed + component->places[y] - 1;
  for (JDIMENSION x = 0; x < component->across; x++) {
    uint16_t mask;
    memcpy(&mask, in, sizeof mask);
    in += sizeof mask;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      memcpy(row[x] + __builtin_ctz(rest) * 4, in, sizeof(four));
      in += sizeof(four);
    }
  }
}

static JBLOCKARRAY hand_out(held_coefficients *held, held_component *component, JDIMENSION first, JDIMENSION count) {
  for (JDIMENSION i = 0; i < count; i++) {
    JBLOCKROW row = component->blocks + (size_t)i * component->across;
    if (held->is_read) unpack(held, component, component->top + first + i, row);
    component->rows[i] = row + component->left;
  }
  if (held->is_read) return component->rows;
  pack(held, component);
  // The decompressor asks for each row once, and for blocks of zeros.
  memset(component->blocks, 0, (size_t)component->across * count * sizeof(JBLOCK));
  component->first = first;
  component->count = count;
  return component->rows;
}

static JBLOCKARRAY access_source(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                                 JDIMENSION count, boolean writable) {
  (void)writable;
  return hand_out(((j_decompress_ptr)common)->client_data, (held_component *)array, first, count);
}

static JBLOCKARRAY access_target(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                                 JDIMENSION count, boolean writable) {
  (void)writable;
  return hand_out(((j_compress_ptr)common)->client_data, (held_component *)array, first, count);
}

void look_hold(j_decompress_ptr source, held_coefficients *held) {
  if (jpeg_has_multiple_scans(source)) ERREXIT(source, JERR_NOTIMPL);
  source->client_data = held;
  source->mem->request_virt_barray = request;
  source->mem->realize_virt_arrays = realize;
  source->mem->access_virt_barray = access_source;
  // The mode in which libjpeg keeps what it reads, and leaves it to the caller when to make pixels of it.
  source->buffered_image = TRUE;
  jpeg_start_decompress(source);
  int status;
  do {
    status = jpeg_consume_input(source);
    if (status == JPEG_SUSPENDED) ERREXIT(source, JERR_CANT_SUSPEND);
  } while (status != JPEG_REACHED_EOI);
  for (int i = 0; i < held->requested; i++) pack(held, &held->components[i]);
  held->is_read = true;
}

static int bounded(int value) { return value < 0 ? 0 : value > MAXJSAMPLE ? MAXJSAMPLE : value; }

// The first coefficient is eight times the mean of the block's samples. (ISO/IEC 10918-1, A.3.3)
static uint8_t mean(JCOEF first, int step) {
  return (uint8_t)bounded(((first * step + 4) >> 3) + CENTERJSAMPLE);
}

// A row of one component's means, as wide as the picture's own.
static void spread_means(j_decompress_ptr source, const jpeg_component_info *info, const held_component *component,
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

cjpeg_region look_choose(j_decompress_ptr source, held_coefficients *held, const cjpeg_chooser *chooser) {
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

void look_lend(j_decompress_ptr source, held_coefficients *held, cjpeg_region region, j_compress_ptr target,
               jvirt_barray_ptr *arrays) {
  for (int i = 0; i < held->requested; i++) {
    const jpeg_component_info *info = &source->comp_info[i];
    held_component *component = &held->components[i];
    bool is_alone = held->requested == 1;
    uint32_t h = is_alone ? 1 : (uint32_t)info->h_samp_factor, v = is_alone ? 1 : (uint32_t)info->v_samp_factor;
    uint32_t most_h = is_alone ? 1 : (uint32_t)source->max_h_samp_factor;
    uint32_t most_v = is_alone ? 1 : (uint32_t)source->max_v_samp_factor;
    component->left = region.x / (DCTSIZE * most_h) * h;
    component->top = region.y / (DCTSIZE * most_v) * v;
    arrays[i] = (jvirt_barray_ptr)component;
  }
  target->client_data = held;
  target->mem->access_virt_barray = access_target;
}

void look_close(held_coefficients *held) {
  for (int i = 0; i < held->requested; i++) {
    free(held->components[i].blocks);
    free(held->components[i].means);
    free(held->components[i].places);
  }
  if (held->mapped) munmap(held->mapped, held->length);
}
