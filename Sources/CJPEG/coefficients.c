#include "coefficients.h"

#include <sys/mman.h>
#include <unistd.h>

// Coefficients are packed in groups of four. A group of zeroes is not stored.
typedef uint64_t four;
enum { fours = DCTSIZE2 / 4, most_of_block = 2 + sizeof(JBLOCK) };

// Returns zeroed memory, which libjpeg frees together with `common`.
static void *room_for(j_common_ptr common, size_t bytes) {
  return memset(common->mem->alloc_large(common, JPOOL_PERMANENT, bytes), 0, bytes);
}

// Reserves address space for the worst case. Only pages that are written take memory. Each row has a space of its own,
// because it may grow with every scan. Huge pages are not used, because nearly all of the address space would then take
// memory.
static void reserve(j_common_ptr common, component_rows *component) {
  component->stride = (size_t)component->across * most_of_block;
  component->sizes = room_for(common, component->down * sizeof(uint32_t));
  size_t length = component->stride * component->down;
  void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  component->packed = mapped;
  madvise(mapped, length, MADV_NOHUGEPAGE);
}

static jvirt_barray_ptr request(j_common_ptr common, int pool, boolean zeroed, JDIMENSION across,
                                JDIMENSION down, JDIMENSION most_rows) {
  (void)pool, (void)zeroed;
  coefficients *all = common->client_data;
  if (all->requested >= MAX_COMPONENTS) ERREXIT2(common, JERR_COMPONENT_COUNT, all->requested, MAX_COMPONENTS);
  component_rows *component = &all->components[all->requested++];
  component->across = across;
  component->down = down;
  component->most = most_rows;
  // If a step of the compressor starts in the middle of a step of the decompressor, it needs the rows of two steps.
  JDIMENSION unpacked = all->stream ? 2 * most_rows : most_rows;
  component->blocks = room_for(common, (size_t)across * unpacked * sizeof(JBLOCK));
  component->rows = room_for(common, most_rows * sizeof(JBLOCKROW));
  if (!all->stream) reserve(common, component);
  return (jvirt_barray_ptr)component;
}

static void realize(j_common_ptr common) { (void)common; }

// Returns a bit for each group of four coefficients. The bit is 0 if all four are zero. A single vector comparison
// computes all bits.
static uint16_t mask_of(const JCOEF *block) {
  typedef four all __attribute__((vector_size(sizeof(JBLOCK))));
  typedef bool flags __attribute__((ext_vector_type(fours)));
  all values;
  uint16_t mask;
  memcpy(&values, block, sizeof values);
  flags set = __builtin_convertvector(values != 0, flags);
  memcpy(&mask, &set, sizeof mask);
  return mask;
}

// Packs a row of blocks, and returns the number of bytes.
static size_t pack(JBLOCK *blocks, JDIMENSION across, uint8_t *const start) {
  uint8_t *out = start;
  for (JDIMENSION x = 0; x < across; x++) {
    const JCOEF *block = blocks[x];
    uint16_t mask = mask_of(block);
    memcpy(out, &mask, sizeof mask);
    out += sizeof mask;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      memcpy(out, block + __builtin_ctz(rest) * 4, sizeof(four));
      out += sizeof(four);
    }
  }
  return (size_t)(out - start);
}

// Unpacks a row of blocks. If `in` is NULL, all coefficients are zero.
static void unpack(const uint8_t *in, JDIMENSION across, JBLOCKROW row) {
  memset(row, 0, across * sizeof(JBLOCK));
  for (JDIMENSION x = 0; in && x < across; x++) {
    uint16_t mask;
    memcpy(&mask, in, sizeof mask);
    in += sizeof mask;
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      memcpy(row[x] + __builtin_ctz(rest) * 4, in, sizeof(four));
      in += sizeof(four);
    }
  }
}

// Packs the unpacked rows of a component again, if they may have changed since they were unpacked.
static void settle(coefficients *all, component_rows *component) {
  for (JDIMENSION i = 0; component->is_changed && i < component->count; i++) {
    JDIMENSION y = component->first + i;
    if (y >= component->down) continue;
    size_t size = pack(component->blocks + (size_t)i * component->across, component->across,
                       component->packed + y * component->stride);
    all->used += size - component->sizes[y];
    component->sizes[y] = (uint32_t)size;
  }
  component->is_changed = false;
}

// Frees the memory of packed rows far above row `first`, to make room for pixels. The 16 rows directly above row
// `first` are kept, because libjpeg's block smoothing reads up to eight of them.
static void give_back(component_rows *component, JDIMENSION first) {
  enum { kept = 16 };
  if (first < component->given + 2 * kept) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = (uintptr_t)component->packed + component->given * component->stride;
  uintptr_t end = (uintptr_t)component->packed + (first - kept) * component->stride;
  start = (start + page - 1) / page * page;
  end = end / page * page;
  if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  component->given = first - kept;
}

static JBLOCKARRAY access_packed(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                                 JDIMENSION count, boolean writable) {
  coefficients *all = common->client_data;
  component_rows *component = (component_rows *)array;
  first += component->top;
  // If the last scans of a picture are missing, libjpeg's block smoothing reads more rows than it requests. It relies
  // on libjpeg's own arrays, which have all rows.
  if (!writable && count * 3 > component->most) count = component->most;
  if (component->count < count || component->first != first) {
    settle(all, component);
    if (all->used > all->most) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
    for (JDIMENSION i = 0; i < count; i++) {
      JBLOCKROW row = component->blocks + (size_t)i * component->across;
      component->rows[i] = row + component->left;
      bool is_there = first + i < component->down && component->sizes[first + i] != 0;
      unpack(is_there ? component->packed + (first + i) * component->stride : NULL, component->across, row);
    }
    component->first = first;
    component->count = count;
    // A decompressor that does not write any more makes pixels, and reads each row once.
    if (common->is_decompressor && !writable) give_back(component, first);
  }
  if (writable) component->is_changed = true;
  return component->rows;
}

// Points to rows of a streaming array, which has space for `2 * most` rows. The pointers begin at column `left`.
static JBLOCKARRAY recent_rows(component_rows *component, JDIMENSION first, JDIMENSION count, JDIMENSION left) {
  for (JDIMENSION i = 0; i < count; i++) {
    size_t place = (first + i) % (2 * component->most);
    component->rows[i] = component->blocks + place * component->across + left;
  }
  return component->rows;
}

// Returns rows for the decompressor to write to. It requests each row once, and expects that all coefficients are zero.
static JBLOCKARRAY access_new(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
                              boolean writable) {
  (void)common, (void)writable;
  component_rows *component = (component_rows *)array;
  JBLOCKARRAY rows = recent_rows(component, first, count, 0);
  for (JDIMENSION i = 0; i < count; i++) memset(rows[i], 0, component->across * sizeof(JBLOCK));
  component->next = first + count;
  return rows;
}

// Returns rows for the compressor to read, after the decompressor has read them.
static JBLOCKARRAY access_read(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first, JDIMENSION count,
                               boolean writable) {
  (void)writable;
  const coefficients *all = common->client_data;
  component_rows *component = (component_rows *)array;
  first += component->top;
  // The last step may extend below the picture, where no blocks are needed.
  JDIMENSION end = first + count < component->down ? first + count : component->down;
  while (component->next < end) {
    int got = jpeg_consume_input(all->stream);
    if (got == JPEG_SUSPENDED) ERREXIT(common, JERR_CANT_SUSPEND);
    if (got == JPEG_REACHED_EOI) break;
  }
  return recent_rows(component, first, count, component->left);
}

static void replace(j_common_ptr picture, coefficients *all) {
  picture->client_data = all;
  picture->mem->request_virt_barray = request;
  picture->mem->realize_virt_arrays = realize;
  picture->mem->access_virt_barray = all->stream ? access_new : access_packed;
}

void coefficients_pack(j_common_ptr picture, coefficients *all, long most) {
  all->most = (size_t)most;
  replace(picture, all);
}

void coefficients_stream(j_decompress_ptr source, coefficients *all) {
  all->stream = source;
  replace((j_common_ptr)source, all);
}

void coefficients_lend(j_decompress_ptr source, coefficients *all, cjpeg_region region, j_compress_ptr target,
                       jvirt_barray_ptr *arrays) {
  // If a picture has a single component, its sampling factors have no effect: blocks are 8 × 8 pixels. (ITU-T T.81,
  // A.2.2)
  const bool is_alone = source->num_components == 1;
  const uint32_t block_width = DCTSIZE * (is_alone ? 1 : (uint32_t)source->max_h_samp_factor);
  const uint32_t block_height = DCTSIZE * (is_alone ? 1 : (uint32_t)source->max_v_samp_factor);
  if (region.width == 0 || region.height == 0 || (uint64_t)region.x + region.width > source->image_width ||
      (uint64_t)region.y + region.height > source->image_height || region.x % block_width != 0 ||
      region.y % block_height != 0) {
    ERREXIT(source, JERR_BAD_CROP_SPEC);
  }
  for (int i = 0; i < all->requested; i++) {
    component_rows *component = &all->components[i];
    settle(all, component);
    component->count = 0;
    component->left = region.x / block_width * (is_alone ? 1 : (uint32_t)source->comp_info[i].h_samp_factor);
    component->top = region.y / block_height * (is_alone ? 1 : (uint32_t)source->comp_info[i].v_samp_factor);
    arrays[i] = (jvirt_barray_ptr)component;
  }
  target->client_data = all;
  target->mem->access_virt_barray = all->stream ? access_read : access_packed;
}

void coefficients_close(coefficients *all) {
  for (int i = 0; i < all->requested; i++) {
    component_rows *component = &all->components[i];
    if (component->packed) munmap(component->packed, component->stride * component->down);
  }
}
