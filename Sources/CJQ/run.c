#define _GNU_SOURCE
#include "CJQ.h"

#include "COpening.h"

#include <errno.h>
#include <fcntl.h>
#include <jq.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// Most runs transform nothing: libjq, with its regular expressions, is opened when one does.
#define LIBRARY "libjq.so.1"

#define FUNCTIONS(F)                                                                                \
  F(jq_init)                                                                                        \
  F(jq_set_error_cb)                                                                                \
  F(jq_set_attr)                                                                                    \
  F(jq_compile_args)                                                                                \
  F(jq_start)                                                                                       \
  F(jq_next)                                                                                        \
  F(jq_halted)                                                                                      \
  F(jq_format_error)                                                                                \
  F(jv_parse_sized)                                                                                 \
  F(jv_dump_string)                                                                                 \
  F(jv_string)                                                                                      \
  F(jv_string_value)                                                                                \
  F(jv_string_length_bytes)                                                                         \
  F(jv_array)                                                                                       \
  F(jv_object)                                                                                      \
  F(jv_object_set)                                                                                  \
  F(jv_get_kind)                                                                                    \
  F(jv_copy)                                                                                        \
  F(jv_invalid_has_msg)                                                                             \
  F(jv_invalid_get_msg)

#define POINTER(name) static __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cjq_open, LIBRARY, functions)

// What follows runs in the new process, where there is one thread and nothing of Swift may run. It frees
// nothing: the process ends.

static void put(const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(STDOUT_FILENO, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      _exit(1);
    }
    bytes += written;
    count -= (size_t)written;
  }
}

static void put_string(jv string) {
  put(their_jv_string_value(string), (size_t)their_jv_string_length_bytes(their_jv_copy(string)));
}

static _Noreturn void answer(char letter, jv words) {
  put(&letter, 1);
  if (their_jv_get_kind(words) == JV_KIND_STRING) put_string(words);
  _exit(0);
}

// libjq's words about a program: "jq: error: WHAT at <top-level>, line N:" and the program's text.
static void compile_error(void *first, jv message) {
  bool *is_first = first;
  if (*is_first) {
    *is_first = false;
    put("c", 1);
    jv words = their_jq_format_error(message);
    if (their_jv_get_kind(words) == JV_KIND_STRING) put_string(words);
  }
}

static void ignore(void *data, jv message) {
  (void)data;
  (void)message;
}

static _Noreturn void run(const char *program, const char *text, size_t count) {
  jq_state *jq = their_jq_init();
  if (jq == NULL) _exit(1);
  bool is_first = true;
  their_jq_set_error_cb(jq, compile_error, &is_first);
  their_jq_set_attr(jq, their_jv_string("JQ_LIBRARY_PATH"), their_jv_array());
  jv variables = their_jv_object_set(their_jv_object(), their_jv_string("ENV"), their_jv_object());
  if (!their_jq_compile_args(jq, program, variables)) _exit(0);
  if (text == NULL) answer('v', their_jv_array());
  their_jq_set_error_cb(jq, ignore, NULL);

  jv input = their_jv_parse_sized(text, (int)count);
  if (their_jv_get_kind(input) == JV_KIND_INVALID) answer('e', their_jv_invalid_get_msg(input));
  their_jq_start(jq, input, 0);
  jv value = their_jq_next(jq);
  jv next = their_jv_array();
  if (their_jv_get_kind(value) != JV_KIND_INVALID) next = their_jq_next(jq);
  bool is_last = their_jv_get_kind(next) == JV_KIND_INVALID;
  if (their_jq_halted(jq)) answer('h', their_jv_array());
  jv last = their_jv_get_kind(value) == JV_KIND_INVALID ? value : next;
  if (their_jv_get_kind(last) == JV_KIND_INVALID && their_jv_invalid_has_msg(their_jv_copy(last))) {
    jv message = their_jv_invalid_get_msg(last);
    if (their_jv_get_kind(message) != JV_KIND_STRING) {
      message = their_jv_dump_string(message, 0);
    }
    answer('e', message);
  }
  if (their_jv_get_kind(value) == JV_KIND_INVALID) answer('n', their_jv_array());
  if (!is_last) answer('m', their_jv_array());
  answer('v', their_jv_dump_string(value, 0));
}

// The bytes of memory that the process has now, most of which it shares with its parent.
static size_t memory_held(void) {
  unsigned long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm != NULL) {
    if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
    fclose(statm);
  }
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit both = {most, most};
  if (setrlimit(resource, &both) != 0) _exit(1);
}

static void confine(int output, cjq_limits limits) {
  // Whoever handles a signal in the parent does not here: a crash or a limit ends this process alone.
  static const int fatal[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGXCPU};
  sigset_t some;
  sigemptyset(&some);
  for (size_t place = 0; place < sizeof fatal / sizeof *fatal; place++) {
    signal(fatal[place], SIG_DFL);
    sigaddset(&some, fatal[place]);
  }
  sigprocmask(SIG_UNBLOCK, &some, NULL);
  static char home[] = "HOME=/nonexistent"; // libjq reads ~/.jq.
  static char *environment[] = {home, NULL};
  environ = environment;

  int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0 ||
      dup2(null, STDERR_FILENO) < 0) {
    _exit(1);
  }
  size_t memory = memory_held();
  if (memory == 0) _exit(1);
  // What the parent holds open, locks of files among it, is not held by this process.
  if (close_range(3, UINT_MAX, 0) != 0) _exit(1);
  limit(RLIMIT_AS, memory + limits.memory);
  limit(RLIMIT_CPU, limits.seconds);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 0);
}

pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output) {
  if (cjq_open() != NULL || count > INT_MAX) {
    errno = EINVAL;
    return -1;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  pid_t parent = getpid();
  // No handler of the parent's may run in the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t child = fork();
  if (child == 0) {
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
    confine(ends[1], limits);
    run(program, text, count);
  }
  int reason = errno;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    errno = reason;
    return -1;
  }
  *output = ends[0];
  return child;
}

COPENING_NOTE("transform", "recommended", "Runs the jq programs of catalog files", LIBRARY)
