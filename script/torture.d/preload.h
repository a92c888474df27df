// The common parts of the preloaded libraries: the original definition of a call, and the calls that open files.
#ifndef LARDER_PRELOAD_H
#define LARDER_PRELOAD_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The original definition of a call that this library replaces.
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// Defines one call that opens files; its body has `flags`, and `mode`, which is 0 if none is passed.
#define OPENING(name, parameters, ...)      \
  int name parameters {                     \
    mode_t mode = 0;                        \
    if (flags & (O_CREAT | O_TMPFILE)) {    \
      va_list rest;                         \
      va_start(rest, flags);                \
      mode = va_arg(rest, mode_t);          \
      va_end(rest);                         \
    }                                       \
    __VA_ARGS__                             \
  }

// Defines all of them by `OPEN(name, parameters, folder)`.
#define OPENS                                                                        \
  OPEN(open, (const char *path, int flags, ...), AT_FDCWD)                           \
  OPEN(open64, (const char *path, int flags, ...), AT_FDCWD)                         \
  OPEN(openat, (int folder, const char *path, int flags, ...), folder)               \
  OPEN(openat64, (int folder, const char *path, int flags, ...), folder)

#endif
