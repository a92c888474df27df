#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>
#include "CGlibc.h"

#include <malloc.h>

void larder_limit_heaps(int count) { mallopt(M_ARENA_MAX, count); }

void larder_map_from(size_t size) { mallopt(M_MMAP_THRESHOLD, (int)size); }

void larder_keep_blocks(size_t size) {
  mallopt(M_MMAP_THRESHOLD, (int)size);
  mallopt(M_TRIM_THRESHOLD, (int)size);
}

int larder_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int larder_close_from(posix_spawn_file_actions_t *actions, int first) {
  return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
