// Runs jq programs with libjq. Each program runs in its own process.
#ifndef LARDER_CJQ_H
#define LARDER_CJQ_H

#include <stddef.h>
#include <sys/types.h>

/// The limits of the process.
typedef struct {
  /// The maximum processor time in seconds.
  unsigned seconds;
  /// The maximum memory in bytes, in addition to the memory that the process has at its start.
  size_t memory;
} cjq_limits;

/// Starts a process that compiles a jq program.
///
/// If `text` is not NULL, the process also runs the program with this JSON text as its input.
///
/// libjq needs its own process because it aborts the process when there is no memory left, and because a running
/// program cannot be interrupted. The new process runs the same file as the calling process (/proc/self/exe), but never
/// reaches main.
///
/// The process writes one of the following answers to the pipe `*output`, and then ends:
/// - `v` and the resulting value as JSON
/// - `c` and libjq's message if the program cannot be compiled
/// - `e` and the error message of the program, or the reason why it has not exactly one result
///
/// Any other output is not an answer.
///
/// The process has none of the environment variables of the caller. It cannot open files or sockets, and cannot start
/// programs. The kernel kills it when the thread that started it ends.
///
/// @param output Receives the descriptor of the pipe. The caller must close it.
/// @return The process, for which the caller must wait. -1 and errno if the process cannot be started.
pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output);

#endif
