#define _GNU_SOURCE
#include "CJQ.h"

#include "CGlibc.h"

#include <errno.h>
#include <fcntl.h>
#include <jq.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

// The new process runs the same program file as the calling process, so it inherits no lock, memory or thread. Before
// main, a constructor checks the name of the process, and runs the jq program if the name is NAME. So this works in
// every program that links this module, and no Swift code runs in the new process. The process frees no memory, because
// it ends soon.
#define NAME "larder: jq"
enum { INPUT = 3 };

static void put(const char *bytes, size_t count) {
  if (larder_write(STDOUT_FILENO, bytes, count) != 0) _exit(1);
}

static void put_string(jv string) {
  put(jv_string_value(string), (size_t)jv_string_length_bytes(jv_copy(string)));
}

static _Noreturn void answer(char letter, jv words) {
  put(&letter, 1);
  if (jv_get_kind(words) == JV_KIND_STRING) put_string(words);
  _exit(0);
}

// Writes libjq's first error message about a program, for example "jq: error: syntax error at <top-level>, line 1:" and
// the text of the program.
static void compile_error(void *first, jv message) {
  bool *is_first = first;
  if (*is_first) {
    *is_first = false;
    put("c", 1);
    jv words = jq_format_error(message);
    if (jv_get_kind(words) == JV_KIND_STRING) put_string(words);
  }
}

static void ignore(void *data, jv message) {
  (void)data;
  (void)message;
}

static _Noreturn void run(const char *program, const char *text, size_t count) {
  jq_state *jq = jq_init();
  if (jq == NULL) _exit(1);
  bool is_first = true;
  jq_set_error_cb(jq, compile_error, &is_first);
  jq_set_attr(jq, jv_string("JQ_LIBRARY_PATH"), jv_array());
  jv variables = jv_object_set(jv_object(), jv_string("ENV"), jv_object());
  if (!jq_compile_args(jq, program, variables)) _exit(0);
  if (text == NULL) answer('v', jv_array());
  jq_set_error_cb(jq, ignore, NULL);

  jv input = jv_parse_sized(text, (int)count);
  if (jv_get_kind(input) == JV_KIND_INVALID) answer('e', jv_invalid_get_msg(input));
  jq_start(jq, input, 0);
  jv value = jq_next(jq);
  jv next = jv_array();
  if (jv_get_kind(value) != JV_KIND_INVALID) next = jq_next(jq);
  bool is_last = jv_get_kind(next) == JV_KIND_INVALID;
  if (jq_halted(jq)) answer('e', jv_string("it halts"));
  jv last = jv_get_kind(value) == JV_KIND_INVALID ? value : next;
  if (jv_get_kind(last) == JV_KIND_INVALID && jv_invalid_has_msg(jv_copy(last))) {
    jv message = jv_invalid_get_msg(last);
    if (jv_get_kind(message) != JV_KIND_STRING) {
      message = jv_dump_string(message, 0);
    }
    answer('e', message);
  }
  if (jv_get_kind(value) == JV_KIND_INVALID) answer('e', jv_string("it yields nothing"));
  if (!is_last) answer('e', jv_string("it yields more than one value; write [ ] around it"));
  answer('v', jv_dump_string(value, 0));
}

static void limit(int resource, unsigned long long most) {
  if (larder_lower(resource, most, true) != 0) _exit(1);
}

// The arguments of the new process. After its name, they are numbers: the id of its parent, its limits, and the lengths
// of the program and of the text. The length -1 means that there is no text. The file INPUT contains the program and
// the text, each followed by a NUL.
enum { PARENT = 1, SECONDS, MEMORY, PROGRAM, TEXT, ARGUMENTS };

__attribute__((constructor)) static void begin(int count, char **arguments) {
  if (count != ARGUMENTS || strcmp(arguments[0], NAME) != 0) return;
  long long numbers[ARGUMENTS];
  for (int place = PARENT; place < ARGUMENTS; place++) numbers[place] = atoll(arguments[place]);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != numbers[PARENT]) _exit(1);
  size_t program = (size_t)numbers[PROGRAM], text = numbers[TEXT] < 0 ? 0 : (size_t)numbers[TEXT];
  const char *input = mmap(NULL, program + text + 2, PROT_READ, MAP_PRIVATE, INPUT, 0);
  if (input == MAP_FAILED || close(INPUT) != 0) _exit(1);
  static char home[] = "HOME=/nonexistent"; // libjq reads ~/.jq.
  static char *environment[] = {home, NULL};
  environ = environment;
  if (larder_confine("larder-jq") != 0 || larder_limit_memory((size_t)numbers[MEMORY]) != 0) _exit(1);
  limit(RLIMIT_CPU, (rlim_t)numbers[SECONDS]);
  limit(RLIMIT_FSIZE, 0);
  limit(RLIMIT_NOFILE, 0);
  run(input, numbers[TEXT] < 0 ? NULL : input + program + 1, text);
}

// Replaces a descriptor by one with a higher number, because the new process needs the low numbers for other files.
static int moved(int descriptor) {
  int above = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, 16);
  int reason = errno;
  if (descriptor >= 0) close(descriptor);
  errno = reason;
  return above;
}

pid_t cjq_start(const char *program, const char *text, size_t count, cjq_limits limits,
                int *output) {
  size_t length = strlen(program);
  if (count > INT_MAX || length > INT_MAX) {
    errno = EINVAL;
    return -1;
  }
  int input = moved(memfd_create(NAME, MFD_CLOEXEC));
  if (input < 0) return -1;
  int ends[2];
  if (larder_write(input, program, length + 1) != 0 ||
      larder_write(input, text, text == NULL ? 0 : count) != 0 ||
      larder_write(input, "", 1) != 0 || pipe2(ends, O_CLOEXEC) != 0) {
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
  int reason =
      ends[1] < 0 ? errno : larder_start(&process, "/proc/self/exe", arguments, input, ends[1]);
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
