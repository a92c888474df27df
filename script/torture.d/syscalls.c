// Makes one system call of a program fail, or kills the program at it.
//
// A preloaded library that counts the calls below over all threads, from 1. The environment sets the
// fault: LARDER_FAULT is kill, short, or the name of an error, and LARDER_FAULT_AT the call's
// number. At the call and at the end the count is written to the file LARDER_FAULT_COUNT, with the name
// of the call that was hit. A short write is real: half of the bytes are written and the rest is not.
#include "preload.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>

static atomic_long calls;
static long fault_at;
static int fault_error, is_kill, is_short;
static char hit[64];

__attribute__((constructor)) static void prepare(void) {
  const char *fault = getenv("LARDER_FAULT"), *at = getenv("LARDER_FAULT_AT");
  fault_at = at ? atol(at) : 0;
  if (!fault) return;
  static const struct { const char *name; int code; } names[] = {
      {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT},
      {"EMFILE", EMFILE}, {"EACCES", EACCES}, {"EINTR", EINTR}};
  is_kill = !strcmp(fault, "kill");
  is_short = !strcmp(fault, "short");
  for (size_t n = 0; n < sizeof names / sizeof *names; n++)
    if (!strcmp(fault, names[n].name)) fault_error = names[n].code;
}

// Larder also ends by _exit, which runs no exit handler, so the count is written here.
static void report(void) {
  const char *path = getenv("LARDER_FAULT_COUNT");
  if (!path) return;
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  char line[128];
  int length = snprintf(line, sizeof line, "%ld %s\n", atomic_load(&calls), hit);
  if (file >= 0 && syscall(SYS_write, file, line, length) > 0) syscall(SYS_close, file);
}

// Whether this is the call to fail; with a kill it never returns.
static int struck(const char *name) {
  if (atomic_fetch_add(&calls, 1) + 1 != fault_at) return 0;
  snprintf(hit, sizeof hit, "%s", name);
  // Written here as well, because a program that hangs afterwards never ends.
  report();
  if (is_kill) kill(getpid(), SIGKILL);
  return 1;
}

__attribute__((destructor)) static void finish(void) { report(); }

#define FAIL(name)                       \
  {                                      \
    if (struck(#name) && fault_error) {  \
      errno = fault_error;               \
      return -1;                         \
    }                                    \
  }
#define CALL(type, name, parameters, ...) \
  type name parameters {                  \
    FAIL(name)                            \
    return NEXT(name)(__VA_ARGS__);       \
  }
#define WRITE(name, parameters, count, ...)                \
  ssize_t name parameters {                                \
    if (struck(#name)) {                                   \
      if (fault_error) return errno = fault_error, -1;     \
      if (is_short && count > 1) count /= 2;               \
    }                                                      \
    return NEXT(name)(__VA_ARGS__);                        \
  }
#define OPEN(name, parameters, folder) \
  OPENING(name, parameters, FAIL(name) return syscall(SYS_openat, folder, path, flags, mode);)

OPENS
WRITE(write, (int file, const void *bytes, size_t count), count, file, bytes, count)
WRITE(pwrite, (int file, const void *bytes, size_t count, off_t at), count, file, bytes, count, at)
WRITE(pwrite64, (int file, const void *bytes, size_t count, off64_t at), count, file, bytes, count, at)
CALL(ssize_t, read, (int file, void *bytes, size_t count), file, bytes, count)
CALL(ssize_t, pread, (int file, void *bytes, size_t count, off_t at), file, bytes, count, at)
CALL(ssize_t, pread64, (int file, void *bytes, size_t count, off64_t at), file, bytes, count, at)
CALL(int, fsync, (int file), file)
CALL(int, fdatasync, (int file), file)
CALL(int, ftruncate, (int file, off_t size), file, size)
CALL(int, ftruncate64, (int file, off64_t size), file, size)
CALL(int, futimens, (int file, const struct timespec times[2]), file, times)
CALL(int, flock, (int file, int operation), file, operation)
CALL(int, mknod, (const char *path, mode_t mode, dev_t device), path, mode, device)
CALL(int, mknodat, (int folder, const char *path, mode_t mode, dev_t device), folder, path, mode, device)
CALL(int, mkdir, (const char *path, mode_t mode), path, mode)
CALL(int, rename, (const char *from, const char *to), from, to)
CALL(int, renameat, (int a, const char *from, int b, const char *to), a, from, b, to)
CALL(int, linkat, (int a, const char *from, int b, const char *to, int flags), a, from, b, to, flags)
CALL(int, unlink, (const char *path), path)
CALL(int, unlinkat, (int folder, const char *path, int flags), folder, path, flags)
CALL(int, fstat, (int file, struct stat *status), file, status)
CALL(int, stat, (const char *path, struct stat *status), path, status)
CALL(int, lstat, (const char *path, struct stat *status), path, status)
CALL(int, fstatat, (int folder, const char *path, struct stat *status, int flags), folder, path, status, flags)
CALL(int, fchmod, (int file, mode_t mode), file, mode)
CALL(int, socket, (int domain, int type, int protocol), domain, type, protocol)
CALL(int, connect, (int file, const struct sockaddr *address, socklen_t size), file, address, size)
CALL(ssize_t, send, (int file, const void *bytes, size_t count, int flags), file, bytes, count, flags)
CALL(ssize_t, recv, (int file, void *bytes, size_t count, int flags), file, bytes, count, flags)

// The calls of larder's own event loop: the sockets that wake it, which are made first, and its waits.
static atomic_int pairs;
int socketpair(int domain, int type, int protocol, int ends[2]) {
  if (!atomic_fetch_add(&pairs, 1)) FAIL(socketpair)
  return NEXT(socketpair)(domain, type, protocol, ends);
}
int poll(struct pollfd *files, nfds_t count, int limit) {
  char thread[16] = "";
  pthread_getname_np(pthread_self(), thread, sizeof thread);
  if (!strcmp(thread, "larder-transfer")) FAIL(poll)
  return NEXT(poll)(files, count, limit);
}
