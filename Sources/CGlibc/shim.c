#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

int larder_unnamed(int folder, const char *path, unsigned mode) {
  return openat(folder, path, O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
}

int larder_write(int file, const void *bytes, size_t count) {
  const char *rest = bytes;
  while (count > 0) {
    ssize_t written = write(file, rest, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      if (written == 0) errno = ENOSPC;
      return -1;
    }
    rest += written;
    count -= (size_t)written;
  }
  return 0;
}

int larder_readable(const void *bytes, size_t count) {
  if (count == 0) return open("/dev/null", O_RDONLY | O_CLOEXEC);
  int file = memfd_create("larder", MFD_CLOEXEC);
  if (file < 0) return -1;
  if (larder_write(file, bytes, count) != 0) {
    int code = errno;
    close(file);
    errno = code;
    return -1;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

const char *larder_error_words(int code) {
  static _Thread_local char words[96];
  const char *text = strerrordesc_np(code);
  if (text == NULL) {
    snprintf(words, sizeof words, "error %d", code);
    return words;
  }
  size_t place = 0;
  for (; text[place] != 0 && place < sizeof words - 1; place++) {
    words[place] = (char)tolower((unsigned char)text[place]);
  }
  words[place] = 0;
  return words;
}

int larder_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGTERM); }

static int argument_count;
static char **argument_words;

__attribute__((constructor)) static void keep_arguments(int count, char **words) {
  argument_count = count;
  argument_words = words;
}

int larder_argument_count(void) { return argument_count; }

const char *larder_argument(int number) {
  return number >= 0 && number < argument_count ? argument_words[number] : NULL;
}
