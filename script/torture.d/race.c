// Tells the thread sanitizer about the one lock that it cannot see.
//
// The fast path of Swift's Mutex is atomics in our own code, which the sanitizer knows. A contended
// lock is acquired and released inside libswiftSynchronization, which is not instrumented, so every
// such handover would be reported as a race. This preloaded library wraps those functions and reports
// each acquire and release; it does not lock or unlock anything itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

// Weak, because programs without the sanitizer, such as the shell, are preloaded with this too.
extern void __tsan_acquire(void *lock) __attribute__((weak));
extern void __tsan_release(void *lock) __attribute__((weak));

SWIFT void lockSlow(uint32_t thread, SELF)
    __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT bool tryLockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT void unlockSlow(SELF) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lockSlow(uint32_t thread, SELF) {
  SWIFT void (*next)(uint32_t, SELF) =
      dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
  next(thread, self);
  if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool tryLockSlow(SELF) {
  SWIFT bool (*next)(SELF) =
      dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
  bool isTaken = next(self);
  if (isTaken && __tsan_acquire) __tsan_acquire(self);
  return isTaken;
}

SWIFT void unlockSlow(SELF) {
  SWIFT void (*next)(SELF) =
      dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
  if (__tsan_release) __tsan_release(self);
  next(self);
}
