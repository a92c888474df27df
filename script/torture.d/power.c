// Records, in order, every file operation of a program below a folder, so that script/torture.d/power.py
// can simulate a power cut at any point.
//
// A preloaded library. LARDER_RECORD is the file to append to, LARDER_RECORD_ROOT the folder, as an absolute
// path without links. One lock is held during each call and its record, so that the records of all threads
// are in the order in which the kernel executed the calls. A record is tab-separated:
//   create PATH | folder PATH | write OFFSET LENGTH PATH, and then the bytes | size SIZE PATH
//   sync PATH | rename FROM TO | link FROM TO | unlink PATH
//   said LENGTH, and then the standard output | sent LENGTH, and then the bytes sent to a socket
#include "preload.h"

#include <limits.h>
#include <pthread.h>

static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static int record = -1;
static const char *root;
static size_t root_length;

__attribute__((constructor)) static void prepare(void) {
  const char *path = getenv("LARDER_RECORD");
  root = getenv("LARDER_RECORD_ROOT");
  if (!path || !root) return;
  root_length = strlen(root);
  record = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void put(const void *bytes, size_t count) {
  for (const char *next = bytes; count;) {
    ssize_t done = syscall(SYS_write, record, next, count);
    // A call that cannot be recorded would make the simulation wrong.
    if (done <= 0) abort();
    next += done, count -= done;
  }
}

__attribute__((format(printf, 3, 4))) static void note(const void *bytes, size_t count, const char *format, ...) {
  char line[2 * PATH_MAX + 64];
  va_list rest;
  va_start(rest, format);
  put(line, vsnprintf(line, sizeof line, format, rest));
  va_end(rest);
  put(bytes, count);
}

// Whether a path is below the folder and still has a name.
static int counts(const char *path) {
  size_t length = strlen(path);
  return record >= 0 && !strncmp(path, root, root_length) && (path[root_length] == '/' || !path[root_length]) &&
         (length < 10 || strcmp(path + length - 10, " (deleted)"));
}

// The path of a descriptor, or of a name relative to it.
static int name_of(int folder, const char *name, char *path) {
  *path = 0;
  if (name && *name == '/') return snprintf(path, PATH_MAX, "%s", name), counts(path);
  char link[64];
  snprintf(link, sizeof link, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (name) snprintf(path + length, PATH_MAX - length, "/%s", name);
  return counts(path);
}

#define LOCKED(type, call)             \
  pthread_mutex_lock(&order);          \
  type result = call;                  \
  int code = errno;
#define UNLOCK                         \
  pthread_mutex_unlock(&order);        \
  errno = code;                        \
  return result;

static int opened(int folder, const char *name, int flags, mode_t mode) {
  char path[PATH_MAX];
  struct stat status;
  int watched = name_of(folder, name, path) && flags & (O_CREAT | O_TRUNC);
  pthread_mutex_lock(&order);
  int existed = watched && !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW);
  int result = syscall(SYS_openat, folder, name, flags, mode), code = errno;
  if (result >= 0 && watched) {
    if (!existed) note(0, 0, "create\t%s\n", path);
    else if (flags & O_TRUNC) note(0, 0, "size\t0\t%s\n", path);
  }
  UNLOCK
}

#define OPEN(name, parameters, folder) OPENING(name, parameters, return opened(folder, path, flags, mode);)
OPENS

static void wrote(int file, const void *bytes, ssize_t count, off_t at) {
  char path[PATH_MAX];
  if (record < 0 || count <= 0) return;
  if (file == 1) note(bytes, count, "said\t%zd\n", count);
  else if (name_of(file, NULL, path)) note(bytes, count, "write\t%ld\t%zd\t%s\n", (long)at, count, path);
}

ssize_t write(int file, const void *bytes, size_t count) {
  LOCKED(ssize_t, NEXT(write)(file, bytes, count))
  // The offset of the write, with or without O_APPEND: the end of the write is the file's current offset.
  wrote(file, bytes, result, lseek(file, 0, SEEK_CUR) - result);
  UNLOCK
}

#define PWRITE(name, offset)                                                \
  ssize_t name(int file, const void *bytes, size_t count, offset at) {      \
    LOCKED(ssize_t, NEXT(name)(file, bytes, count, at))                     \
    wrote(file, bytes, result, at);                                         \
    UNLOCK                                                                  \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

#define NOTED(name, parameters, arguments, is_known, ...) \
  int name parameters {                                   \
    char path[PATH_MAX], other[PATH_MAX];                 \
    (void)other;                                          \
    pthread_mutex_lock(&order);                           \
    int watched = is_known;                               \
    int result = NEXT(name) arguments, code = errno;      \
    if (result == 0 && watched) note(0, 0, __VA_ARGS__);  \
    UNLOCK                                                \
  }
NOTED(ftruncate, (int file, off_t size), (file, size), name_of(file, NULL, path), "size\t%ld\t%s\n", (long)size, path)
NOTED(ftruncate64, (int file, off64_t size), (file, size), name_of(file, NULL, path), "size\t%ld\t%s\n", (long)size, path)
NOTED(fsync, (int file), (file), name_of(file, NULL, path), "sync\t%s\n", path)
NOTED(fdatasync, (int file), (file), name_of(file, NULL, path), "sync\t%s\n", path)
NOTED(mknod, (const char *name, mode_t mode, dev_t device), (name, mode, device), name_of(AT_FDCWD, name, path), "create\t%s\n", path)
NOTED(mknodat, (int folder, const char *name, mode_t mode, dev_t device), (folder, name, mode, device), name_of(folder, name, path), "create\t%s\n", path)
NOTED(mkdir, (const char *name, mode_t mode), (name, mode), name_of(AT_FDCWD, name, path), "folder\t%s\n", path)
NOTED(mkdirat, (int folder, const char *name, mode_t mode), (folder, name, mode), name_of(folder, name, path), "folder\t%s\n", path)
NOTED(unlink, (const char *name), (name), name_of(AT_FDCWD, name, path), "unlink\t%s\n", path)
NOTED(unlinkat, (int folder, const char *name, int flags), (folder, name, flags), name_of(folder, name, path), "unlink\t%s\n", path)
NOTED(rmdir, (const char *name), (name), name_of(AT_FDCWD, name, path), "unlink\t%s\n", path)
#define BOTH(a, from, b, to) (name_of(a, from, path) & name_of(b, to, other))
NOTED(rename, (const char *from, const char *to), (from, to), BOTH(AT_FDCWD, from, AT_FDCWD, to), "rename\t%s\t%s\n", path, other)
NOTED(renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), BOTH(a, from, b, to), "rename\t%s\t%s\n", path, other)
NOTED(link, (const char *from, const char *to), (from, to), BOTH(AT_FDCWD, from, AT_FDCWD, to), "link\t%s\t%s\n", path, other)
NOTED(linkat, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags), BOTH(a, from, b, to), "link\t%s\t%s\n", path, other)

// Recorded before it is sent, because the receiver may act on it at once.
ssize_t send(int file, const void *bytes, size_t count, int flags) {
  pthread_mutex_lock(&order);
  if (record >= 0) note(bytes, count, "sent\t%zu\n", count);
  pthread_mutex_unlock(&order);
  return NEXT(send)(file, bytes, count, flags);
}
