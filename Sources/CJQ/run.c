#define _GNU_SOURCE
#include "CJQ.h"

#include "CGlibc.h"
#include "COpening.h"

#include <errno.h>
#include <fcntl.h>
#include <jq.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
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

// The new process is this program again, from its file: it inherits no lock, no memory and no thread. It is told from an
// ordinary start by its name, before main, so that it is there in every program that links this. Nothing of Swift has run
// in it, and it frees nothing: it ends.
#define NAME "larder: jq"
enum { INPUT = 3 };

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

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit both = {most, most};
  if (setrlimit(resource, &both) != 0) _exit(1);
}

// The arguments of the new process are numbers, but for its name: the process that waits for it, its limits, and the
// bytes of the program and of the text, -1 where there is none. Both lie in INPUT, each with a NUL behind it.
enum { PARENT = 1, SECONDS, MEMORY, PROGRAM, TEXT, ARGUMENTS };

__attribute__((constructor)) static void begin(int count, char **arguments) {
  if (count != ARGUMENTS || strcmp(arguments[0], NAME) != 0) return;
  long long numbers[ARGUMENTS];
  for (int place = PARENT; place < ARGUMENTS; place++) numbers[place] = atoll(arguments[place]);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != numbers[PARENT]) _exit(1);
  size_t program = (size_t)numbers[PROGRAM], text = numbers[TEXT] < 0 ? 0 : (size_t)numbers[TEXT];
  const char *input = mmap(NULL, program + text + 2, PROT_READ, MAP_PRIVATE, INPUT, 0);
  if (input == MAP_FAILED || close(INPUT) != 0 || cjq_open() != NULL) _exit(1);
  static char home[] = "HOME=/nonexistent"; // libjq reads ~/.jq.
  static char *environment[] = {home, NULL};
  environ = environment;
  if (larder_confine("larder-jq") != 0 || larder_limit_memory((size_t)numbers[MEMORY]) != 0) _exit(1);
  limit(RLIMIT_CPU, (rlim_t)numbers[SECONDS]);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 0);
  run(input, numbers[TEXT] < 0 ? NULL : input + program + 1, text);
}

// Moves a descriptor out of the way of those that the new process has.
static int moved(int descriptor) {
  int above = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
  int reason = errno;
  if (descriptor >= 0) close(descriptor);
  errno = reason;
  return above;
}

static bool put_whole(int file, const char *bytes, size_t count) {
  while (count > 0) {
    ssize_t written = write(file, bytes, count);
    if (written < 0 && errno != EINTR) return false;
    if (written < 0) continue;
    bytes += written;
    count -= (size_t)written;
  }
  return true;
}

static int spawn(pid_t *process, int input, int output, char *const arguments[]) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, input, INPUT);
  larder_close_from(&actions, INPUT + 1);
  // Whoever handles or blocks a signal here does not there: a crash or a limit ends that process alone.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  // Of the environment what finds libraries and tells sanitizers what to do.
  char *environment[64];
  size_t kept = 0;
  for (char **place = environ; *place != NULL && kept < 63; place++) {
    if (strncmp(*place, "LD_", 3) == 0 || strncmp(*place, "TSAN_", 5) == 0 ||
        strncmp(*place, "ASAN_", 5) == 0) {
      environment[kept++] = *place;
    }
  }
  environment[kept] = NULL;
  int code = posix_spawn(process, "/proc/self/exe", &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output) {
  size_t length = strlen(program);
  if (cjq_open() != NULL || count > INT_MAX || length > INT_MAX) {
    errno = EINVAL;
    return -1;
  }
  int input = moved(memfd_create(NAME, MFD_CLOEXEC));
  if (input < 0) return -1;
  int ends[2];
  if (!put_whole(input, program, length + 1) || !put_whole(input, text, text == NULL ? 0 : count) ||
      !put_whole(input, "", 1) || pipe2(ends, O_CLOEXEC) != 0) {
    int reason = errno;
    close(input);
    errno = reason;
    return -1;
  }
  ends[1] = moved(ends[1]);
  char numbers[ARGUMENTS][24];
  char *arguments[ARGUMENTS + 1] = {NAME};
  long long values[ARGUMENTS] = {0, getpid(), limits.seconds, (long long)limits.memory,
                                 (long long)length, text == NULL ? -1 : (long long)count};
  for (int place = PARENT; place < ARGUMENTS; place++) {
    snprintf(numbers[place], sizeof numbers[place], "%lld", values[place]);
    arguments[place] = numbers[place];
  }
  pid_t process = -1;
  int reason = ends[1] < 0 ? errno : spawn(&process, input, ends[1], arguments);
  close(input);
  if (ends[1] >= 0) close(ends[1]);
  if (reason != 0) {
    close(ends[0]);
    errno = reason;
    return -1;
  }
  *output = ends[0];
  return process;
}

COPENING_NOTE("transform", "recommended", "Runs the jq programs of catalog files", LIBRARY)
