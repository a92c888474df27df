#include "packed.h"

#include <sys/mman.h>
#include <unistd.h>

// Coefficients are handled in groups of four. A group of zeroes is not stored.
typedef uint64_t four;
enum { fours = DCTSIZE2 / 4, most_of_block = 2 + sizeof(JBLOCK) };

// `common` is a compressor or a decompressor. Both have `client_data` at the same place.
static packed_coefficients *packed_of(j_common_ptr common) { return common->client_data; }

static void *room_for(j_common_ptr common, size_t count, size_t size) {
  void *room = calloc(count, size);
  if (room == NULL) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  return room;
}

static jvirt_barray_ptr request(j_common_ptr common, int pool, boolean zeroed, JDIMENSION across,
                                JDIMENSION down, JDIMENSION most_rows) {
  (void)pool, (void)zeroed;
  packed_coefficients *packed = packed_of(common);
  if (packed->requested >= MAX_COMPONENTS) ERREXIT2(common, JERR_COMPONENT_COUNT, packed->requested, MAX_COMPONENTS);
  packed_component *component = &packed->components[packed->requested++];
  component->across = across;
  component->down = down;
  component->most = most_rows;
  component->end = across;
  component->blocks = room_for(common, (size_t)across * most_rows, sizeof(JBLOCK));
  component->rows = room_for(common, most_rows, sizeof(JBLOCKROW));
  component->places = room_for(common, down, sizeof(size_t));
  component->sizes = room_for(common, down, sizeof(uint32_t));
  packed->length += (size_t)across * most_of_block * down;
  return (jvirt_barray_ptr)component;
}

// Reserves address space for the worst case. Only pages that are written take memory. Each row has a space of its own,
// because it may grow with every scan. Huge pages are not used, because nearly all of the address space would then take
// memory.
static void realize(j_common_ptr common) {
  packed_coefficients *packed = packed_of(common);
  if (packed->mapped || packed->length == 0) return;
  void *mapped = mmap(NULL, packed->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
  packed->mapped = mapped;
  packed->packed = mapped;
  madvise(mapped, packed->length, MADV_NOHUGEPAGE);
  size_t place = 1;
  for (int i = 0; i < packed->requested; i++) {
    packed_component *component = &packed->components[i];
    for (JDIMENSION y = 0; y < component->down; y++) {
      component->places[y] = place;
      place += (size_t)component->across * most_of_block;
    }
  }
}

static int first_of(unsigned set) { return __builtin_ctz(set); }

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
      memcpy(out, block + first_of(rest) * 4, sizeof(four));
      out += sizeof(four);
    }
  }
  return (size_t)(out - start);
}

// Unpacks the blocks of a row from column `left` up to, but not including, `end`.
static void unpack(const uint8_t *in, JDIMENSION left, JDIMENSION end, JBLOCKROW row) {
  memset(row + left, 0, (end - left) * sizeof(JBLOCK));
  for (JDIMENSION x = 0; in && x < end; x++) {
    uint16_t mask;
    memcpy(&mask, in, sizeof mask);
    in += sizeof mask;
    if (x < left) {
      in += (size_t)__builtin_popcount(mask) * sizeof(four);
      continue;
    }
    for (unsigned rest = mask; rest != 0; rest &= rest - 1) {
      memcpy(row[x] + first_of(rest) * 4, in, sizeof(four));
      in += sizeof(four);
    }
  }
}

// Packs the unpacked rows of a component again, if they may have changed since they were unpacked.
static void settle(packed_coefficients *packed, packed_component *component) {
  for (JDIMENSION i = 0; component->is_changed && i < component->count; i++) {
    JDIMENSION y = component->first + i;
    if (y >= component->down) continue;
    size_t size = pack(component->blocks + (size_t)i * component->across, component->across,
                       packed->packed + component->places[y] - 1);
    packed->used += size - component->sizes[y];
    component->sizes[y] = (uint32_t)size;
  }
  component->is_changed = false;
}

// Frees the memory of packed rows far above row `first`, to make room for pixels. The 16 rows directly above row
// `first` are kept, because libjpeg's block smoothing reads up to eight of them.
static void give_back(packed_coefficients *packed, packed_component *component, JDIMENSION first) {
  enum { kept = 16 };
  if (first < component->given + 2 * kept) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  uintptr_t start = (uintptr_t)packed->packed + component->places[component->given] - 1;
  uintptr_t end = (uintptr_t)packed->packed + component->places[first - kept] - 1;
  start = (start + page - 1) / page * page;
  end = end / page * page;
  if (start < end) madvise((void *)start, end - start, MADV_DONTNEED);
  component->given = first - kept;
}

static JBLOCKARRAY access_rows(j_common_ptr common, jvirt_barray_ptr array, JDIMENSION first,
                               JDIMENSION count, boolean writable) {
  packed_coefficients *packed = packed_of(common);
  packed_component *component = (packed_component *)array;
  first += component->top;
  // If the last scans of a picture are missing, libjpeg's block smoothing reads more rows than it requests. It relies
  // on libjpeg's own arrays, which have all rows.
  if (!writable && count * 3 > component->most) count = component->most;
  if (component->count < count || component->first != first) {
    settle(packed, component);
    if (packed->used > packed->most) ERREXIT1(common, JERR_OUT_OF_MEMORY, 0);
    for (JDIMENSION i = 0; i < count; i++) {
      JBLOCKROW row = component->blocks + (size_t)i * component->across;
      component->rows[i] = row + component->left;
      bool is_there = first + i < component->down && component->sizes[first + i] != 0;
      unpack(is_there ? packed->packed + component->places[first + i] - 1 : NULL, component->left, component->end,
             row);
    }
    component->first = first;
    component->count = count;
    if (packed->is_read_once && !writable) give_back(packed, component, first);
  }
  if (writable) component->is_changed = true;
  return component->rows;
}

void packed_open(j_common_ptr picture, packed_coefficients *packed, long most) {
  packed->most = (size_t)most;
  picture->client_data = packed;
  picture->mem->request_virt_barray = request;
  picture->mem->realize_virt_arrays = realize;
  picture->mem->access_virt_barray = access_rows;
}

void packed_lend(j_decompress_ptr source, packed_coefficients *packed, cjpeg_region region, j_compress_ptr target,
                 jvirt_barray_ptr *arrays) {
  for (int i = 0; i < packed->requested; i++) {
    settle(packed, &packed->components[i]);
    packed->components[i].count = 0;
    const jpeg_component_info *info = &source->comp_info[i];
    packed_component *component = &packed->components[i];
    // If a picture has a single component, its sampling factors have no effect: blocks are 8 × 8 pixels. (ITU-T T.81,
    // A.2.2)
    bool is_alone = packed->requested == 1;
    uint32_t h = is_alone ? 1 : (uint32_t)info->h_samp_factor, v = is_alone ? 1 : (uint32_t)info->v_samp_factor;
    uint32_t most_h = is_alone ? 1 : (uint32_t)source->max_h_samp_factor;
    uint32_t most_v = is_alone ? 1 : (uint32_t)source->max_v_samp_factor;
    component->left = region.x / (DCTSIZE * most_h) * h;
    component->top = region.y / (DCTSIZE * most_v) * v;
    uint32_t width = (uint32_t)(((uint64_t)region.width * h + DCTSIZE * most_h - 1) / (DCTSIZE * most_h));
    if (width < component->across - component->left) component->end = component->left + width;
    arrays[i] = (jvirt_barray_ptr)component;
  }
  target->client_data = packed;
  target->mem->access_virt_barray = access_rows;
}

void packed_close(packed_coefficients *packed) {
  for (int i = 0; i < packed->requested; i++) {
    packed_component *component = &packed->components[i];
    free(component->blocks);
    free(component->rows);
    free(component->places);
    free(component->sizes);
  }
  if (packed->mapped) munmap(packed->mapped, packed->length);
}
