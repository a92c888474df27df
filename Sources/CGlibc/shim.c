#include "CGlibc.h"

#include <malloc.h>

void larder_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

void larder_map_from(size_t size) { mallopt(M_MMAP_THRESHOLD, (int)size); }

void larder_keep_blocks(size_t size) {
  mallopt(M_MMAP_THRESHOLD, (int)size);
  mallopt(M_TRIM_THRESHOLD, (int)size);
}
