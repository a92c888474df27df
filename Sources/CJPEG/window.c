#include "window.h"

#include <sys/mman.h>

// If a picture has a single component, its sampling factors have no effect: blocks are 8 × 8 pixels. (ITU-T T.81,
// A.2.2)
static uint32_t factor(j_common_ptr common, int sampling) {
  return ((j_decompress_ptr)common)->num_components == 1 ? 1 : (uint32_t)sampling;
}

static JDIMENSION blocks(uint32_t pixels, uint32_t sampling, uint32_t most) {
  return (pixels * sampling + DCTSIZE * most - 1) / (DCTSIZE * most);
}

// Allocates memory for the kept blocks. It is a mapping of its own, so that all of it can be returned to the system.
// Huge pages are used if the system has them, because page faults on small pages took a fifth of the time of a whole
// crop.
static void map_kept(j_common_ptr common, window_component *component) {
  const size_t page = (size_t)2 << 20;
  size_t bytes = (size_t)component->width * component->held * sizeof(JBLOCK);
  size_t length = (bytes + page - 1) / page * page + page;
  void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  component->mapped = mapped;
  component->length = length;
  component->kept = (JBLOCK *)(((uintptr_t)mapped + page - 1) / page * page);
  if (bytes >= page) madvise(component->kept, bytes / page * page, MADV_HUGEPAGE);
}

static jvirt_barray_ptr request(j_common_ptr common, int pool, boolean zeroed, JDIMENSION across,
                                JDIMENSION down, JDIMENSION most_rows) {
  (void)pool, (void)zeroed, (void)down, (void)most_rows;
  j_decompress_ptr source = (j_decompress_ptr)common;
  coefficient_window *window = source->client_data;
  const jpeg_component_info *info = &source->comp_info[window->requested];
  window_component *component = &window->components[window->requested++];
  uint32_t most_across = factor(common, source->max_h_samp_factor);
  uint32_t most_down = factor(common, source->max_v_samp_factor);
  uint32_t h = factor(common, info->h_samp_factor), v = factor(common, info->v_samp_factor);
  component->across = across;
  component->left = window->region.x / (DCTSIZE * most_across) * h;
  component->top = window->region.y / (DCTSIZE * most_down) * v;
  component->width = blocks(window->region.width, h, most_across);
  JDIMENSION step = component->step = (JDIMENSION)info->v_samp_factor;
  // If a step of the writer starts in the middle of a step of the reader, the writer needs the rows of two reader
  // steps.
  component->held = window->streams
                        ? 2 * step
                        : (blocks(window->region.height, v, most_down) + step - 1) / step * step;
  map_kept(common, component);
  component->read = malloc((size_t)across * step * sizeof(JBLOCK));
  if (component->read == NULL) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  return (jvirt_barray_ptr)component;
}

static void realize(j_common_ptr common) { (void)common; }

// Copies those blocks of the rows in `read` that are in the region to `kept`.
static void keep(const coefficient_window *window, window_component *component) {
  for (JDIMENSION i = 0; i < component->count; i++) {
    if (component->first + i < component->top) continue;
    JDIMENSION y = component->first + i - component->top;
    if (!window->streams && y >= component->held) continue;
    memcpy(component->kept + (size_t)(y % component->held) * component->width,
           component->read + (size_t)i * component->across + component->left,
           component->width * sizeof(JBLOCK));
  }
  component->count = 0;
}

// Returns rows for the decompressor to write to. It requests each row once, and expects that all coefficients are zero.
static JBLOCKARRAY access_read(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                               JDIMENSION count, boolean writable) {
  (void)writable;
  window_component *component = (window_component *)array;
  keep(((j_decompress_ptr)common)->client_data, component);
  memset(component->read, 0, (size_t)component->across * count * sizeof(JBLOCK));
  for (JDIMENSION i = 0; i < count; i++) {
    component->rows[i] = component->read + (size_t)i * component->across;
  }
  component->first = first;
  component->count = count;
  return component->rows;
}

// Reads the source until all rows of the region before row `end` are in `kept`.
static void read_until(coefficient_window *window, const window_component *component,
                       JDIMENSION end) {
  while (component->next < component->top + end) {
    int got = jpeg_consume_input(window->source);
    if (got == JPEG_SUSPENDED) ERREXIT(window->source, JERR_CANT_SUSPEND);
    // At the end of the file, the last step may extend below the picture, where no blocks are needed.
    if (got == JPEG_REACHED_EOI) return;
    for (int i = 0; i < window->requested; i++) {
      window_component *each = &window->components[i];
      if (each->count > 0) each->next = each->first + each->count;
      keep(window, each);
    }
  }
}

static JBLOCKARRAY access_kept(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                               JDIMENSION count, boolean writable) {
  (void)writable;
  coefficient_window *window = ((j_compress_ptr)common)->client_data;
  window_component *component = (window_component *)array;
  if (window->streams) read_until(window, component, first + count);
  for (JDIMENSION i = 0; i < count; i++) {
    component->rows[i] =
        component->kept + (size_t)((first + i) % component->held) * component->width;
  }
  return component->rows;
}

void window_open(j_decompress_ptr source, cjpeg_region region, bool again,
                 coefficient_window *window) {
  window->region = region;
  window->source = source;
  window->streams = !again && !jpeg_has_multiple_scans(source);
  source->client_data = window;
  source->mem->request_virt_barray = request;
  source->mem->realize_virt_arrays = realize;
  source->mem->access_virt_barray = access_read;
}

void window_read(j_decompress_ptr source, j_compress_ptr target, jvirt_barray_ptr *arrays) {
  coefficient_window *window = source->client_data;
  if (window->streams) {
    // In buffered-image mode, the caller decides when libjpeg reads. With raw data, libjpeg does not upsample.
    source->buffered_image = TRUE;
    source->raw_data_out = TRUE;
    jpeg_start_decompress(source);
  } else {
    jpeg_read_coefficients(source);
  }
  for (int i = 0; i < window->requested; i++) {
    keep(window, &window->components[i]);
    arrays[i] = (jvirt_barray_ptr)&window->components[i];
  }
  target->client_data = window;
  target->mem->access_virt_barray = access_kept;
}

void window_close(coefficient_window *window) {
  for (int i = 0; i < window->requested; i++) {
    window_component *component = &window->components[i];
    if (component->mapped) munmap(component->mapped, component->length);
    free(component->read);
  }
}
