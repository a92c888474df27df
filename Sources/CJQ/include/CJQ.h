// Runs programs with libjq, each in a process of its own.
#ifndef LARDER_CJQ_H
#define LARDER_CJQ_H

#include <stddef.h>
#include <sys/types.h>

/// The limits of the process.
typedef struct {
  /// The processor time in seconds.
  unsigned seconds;
  /// The number of bytes of memory beyond the memory that the process begins with.
  size_t memory;
} cjq_limits;

/// Starts a process that compiles a jq program and, unless `text` is NULL, runs it on a JSON text.
///
/// libjq needs a process of its own because it aborts when memory runs out. It also cannot be interrupted: neither
/// within a function such as `test`, nor after a number of steps. The process is the calling program, started again
/// from /proc/self/exe, and never reaches main.
///
/// The process writes one letter and the rest of its answer to `*output`, and then ends:
/// - `v` and the resulting value as JSON
/// - `c` and the reason why the program cannot be compiled
/// - `e` and the error of the program
/// - `n` when the program yields no value
/// - `m` when the program yields more than one value
/// - `h` when the program halts
///
/// Any other output is not an answer.
///
/// The process has no environment, cannot open files or sockets, starts no program, and is killed when the calling
/// thread ends.
///
/// @param output Receives the end of a pipe to read from; the caller closes it.
/// @return The process, for the caller to wait for; -1 with errno when it cannot be started.
pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output);

#endif
