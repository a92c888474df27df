// Measures the cost of a run: the processor time of this process and, with a sanitizer, the most memory that the
// process held at a time. Processor time hardly depends on other load of the machine.
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

// These functions are in the sanitizer's library; they are NULL in a build without a sanitizer.
__attribute__((weak)) int __sanitizer_install_malloc_and_free_hooks(
    void (*taken)(const volatile void *, size_t), void (*given)(const volatile void *));
__attribute__((weak)) size_t __sanitizer_get_allocated_size(const volatile void *);

static atomic_long held, highest, before;

static void taken(const volatile void *block, size_t size) {
  if (block == NULL) return;
  long now = atomic_fetch_add(&held, (long)size) + (long)size;
  long seen = atomic_load(&highest);
  while (now > seen && !atomic_compare_exchange_weak(&highest, &seen, now)) continue;
}

static void given(const volatile void *block) {
  if (block != NULL) atomic_fetch_sub(&held, (long)__sanitizer_get_allocated_size(block));
}

double costs_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void costs_begin(void) {
  static atomic_flag is_watched = ATOMIC_FLAG_INIT;
  if (__sanitizer_install_malloc_and_free_hooks && !atomic_flag_test_and_set(&is_watched)) {
    __sanitizer_install_malloc_and_free_hooks(taken, given);
  }
  before = atomic_load(&held);
  highest = before;
}

long costs_bytes(void) { return highest - before; }
