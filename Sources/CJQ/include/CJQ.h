// libjq, each program in a process of its own.
#ifndef LARDER_CJQ_H
#define LARDER_CJQ_H

#include <stddef.h>
#include <sys/types.h>

/// The limits of a process that runs a program.
typedef struct {
  /// Seconds of processor time.
  unsigned seconds;
  /// Bytes of memory, beyond those that it begins with.
  size_t memory;
} cjq_limits;

/// Starts a process that compiles a program and, unless `text` is NULL, runs it on a JSON text.
///
/// It is a process of its own because libjq aborts when memory runs out. It cannot be interrupted either: not within a
/// function such as `test`, and not after a number of steps. It is this program, started again from /proc/self/exe, and
/// never reaches main.
///
/// The process writes one letter and the rest of its answer to `*output`, then ends:
/// - `v` and the value as JSON
/// - `c` and why the program cannot be compiled
/// - `e` and the error of the run
/// - `n` when the program yields no value
/// - `m` when it yields more than one
/// - `h` when it halts
///
/// Anything else is not an answer.
///
/// It has no environment, can open no file or socket, starts no program, and dies with the calling thread.
///
/// @param output Receives the end to read from, for the caller to close.
/// @return The process, for the caller to wait for; -1 with errno when it cannot be started.
pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output);

#endif
