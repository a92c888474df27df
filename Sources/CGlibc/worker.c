#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "CGlibc.h"

// Whether a process that is started gets an environment variable. `variable` is a text such as "HOME=/root". It is
// passed on only if it begins with one of these texts.
static bool is_passed_on(const char *variable) {
  static const char *const beginnings[] = {
      "HOME=", "LANG=", "TZ=",         "TZDIR=", "LC_",
      "LD_",   "XDG_",  "FONTCONFIG_", "PANGO",  "TSAN_",
      "ASAN_",
  };
  for (size_t place = 0; place < sizeof beginnings / sizeof *beginnings; place++) {
    if (strncmp(variable, beginnings[place], strlen(beginnings[place])) == 0) return true;
  }
  return false;
}

// Starts a process in which no signal is blocked, handled or ignored. Returns 0 or an error number, and destroys
// `actions`. `flags` are added to those for the signals. If POSIX_SPAWN_SETPGROUP is among them, the process gets a
// group of its own, and the program is looked for in PATH.
static int start(pid_t *process, const char *program, char *const arguments[], char *const environment[],
                 posix_spawn_file_actions_t *actions, short flags) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | flags));
  int code = (flags & POSIX_SPAWN_SETPGROUP)
                 ? posix_spawnp(process, program, actions, &attributes, arguments, environment)
                 : posix_spawn(process, program, actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(actions);
  posix_spawnattr_destroy(&attributes);
  return code;
}

int larder_start_program(pid_t *process, char *const arguments[], char *const environment[], const int streams[3]) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    posix_spawn_file_actions_adddup2(&actions, streams[stream], stream);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  return start(process, arguments[0], arguments, environment, &actions, POSIX_SPAWN_SETPGROUP);
}

int larder_start(pid_t *process, const char *program, char *const arguments[], int channel, int output) {
  size_t count = 0;
  while (environ[count] != NULL) count++;
  char **environment = calloc(count + 1, sizeof *environment);
  if (environment == NULL) return ENOMEM;
  size_t kept = 0;
  for (size_t place = 0; place < count; place++) {
    if (is_passed_on(environ[place])) environment[kept++] = environ[place];
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Move the channel first. If this process has closed its stdin, the channel may be descriptor 0, which is replaced
  // below.
  posix_spawn_file_actions_adddup2(&actions, channel, 3);
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++) {
    if (stream == STDOUT_FILENO && output >= 0) {
      posix_spawn_file_actions_adddup2(&actions, output, stream);
    } else {
      posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
    }
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, 4);
  int code = start(process, program, arguments, environment, &actions, 0);
  free(environment);
  return code;
}

int larder_socket_pair(int ends[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

// Space for a control message with one descriptor, aligned as the header of the message requires.
typedef union {
  struct cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
} enclosure;

ssize_t larder_send(int socket, const void *bytes, size_t count, int descriptor) {
  struct iovec part = {.iov_base = (void *)bytes, .iov_len = count};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  enclosure room;
  if (descriptor >= 0) {
    memset(&room, 0, sizeof room);
    message.msg_control = &room;
    message.msg_controllen = sizeof room;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

ssize_t larder_receive(int socket, void *bytes, size_t count, int *descriptor) {
  struct iovec part = {.iov_base = bytes, .iov_len = count};
  enclosure room;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (descriptor != NULL) {
    message.msg_control = &room;
    message.msg_controllen = sizeof room;
  }
  ssize_t got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  if (got < 0 || descriptor == NULL) return got;
  for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header != NULL;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    int received;
    memcpy(&received, CMSG_DATA(header), sizeof received);
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = received;
  }
  return got;
}

static void *wait_for_hangup(void *place) {
  struct pollfd socket = {.fd = (int)(intptr_t)place, .events = POLLRDHUP};
  for (;;) {
    if (poll(&socket, 1, -1) > 0 && socket.revents != 0) _exit(0);
  }
}

int larder_end_with(int socket) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 << 10);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  int code = pthread_create(&thread, &small, wait_for_hangup, (void *)(intptr_t)socket);
  pthread_attr_destroy(&small);
  return code;
}

// Definitions of Landlock, which the kernel headers of Debian 12 lack. (linux/landlock.h)
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

typedef struct {
  uint64_t files, net, scoped;
} ruleset;

// Forbids this process to change file systems and to start programs. From ABI 4 on, it also forbids the use of TCP
// ports. From ABI 6 on, it also forbids abstract sockets and signals to other processes. Reading files stays allowed,
// because libraries and fonts are opened when they are needed.
static bool restrict_by_landlock(void) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
  if (abi < 1) return false;
  // The rights to execute, to write, and to create or remove a name.
  uint64_t files = 1 << 0 | 1 << 1 | (0x1FFF & ~0xF);
  if (abi >= 2) files |= 1 << 13; // refer
  if (abi >= 3) files |= 1 << 14; // truncate
  ruleset rules = {.files = files, .net = 3, .scoped = 3};
  size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
  int made = (int)syscall(SYS_landlock_create_ruleset, &rules, size, 0);
  if (made < 0) return false;
  bool is_done = syscall(SYS_landlock_restrict_self, made, 0) == 0;
  close(made);
  return is_done;
}

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif

#define ANSWER(code) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (code))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(EPERM)

// Forbids this process to start programs and processes and to open sockets. This also works on kernels without
// Landlock.
static bool restrict_by_filter(void) {
#ifdef MACHINE
  uint32_t self = (uint32_t)getpid();
  struct sock_filter program[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
      ANSWER(EPERM),
      LOAD(nr),
#ifdef __x86_64__
      // Refuse the system calls of the x32 ABI.
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
      ANSWER(EPERM),
      REFUSE(fork),
      REFUSE(vfork),
#endif
      REFUSE(execve),
      REFUSE(execveat),
      REFUSE(socket),
      REFUSE(socketpair),
      REFUSE(kill),
      REFUSE(tkill),
      REFUSE(ptrace),
      REFUSE(process_vm_writev),
      // Let clone3 fail with ENOSYS, because it passes its flags in memory, which a filter cannot read. glibc then
      // uses clone to make a thread.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      ANSWER(ENOSYS),
      // Refuse io_uring_setup, because io_uring can do all of the above without a system call that the filter sees.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
      ANSWER(ENOSYS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
      ALLOW,
      ANSWER(EPERM),
      // Allow tgkill for this process, because abort() sends itself a signal.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
      LOAD(args[0]),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 0, 1),
      ALLOW,
      ANSWER(EPERM),
      ALLOW,
  };
  struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
#else
  return false;
#endif
}

// The size of this process's address space in bytes.
static size_t address_space(void) {
  unsigned long pages = 0;
  FILE *statm = fopen("/proc/self/statm", "r");
  if (statm != NULL) {
    if (fscanf(statm, "%lu", &pages) != 1) pages = 0;
    fclose(statm);
  }
  // Without /proc, the size is not known. Assume 2 GiB, which is more than this program uses.
  return pages > 0 ? pages * (size_t)sysconf(_SC_PAGESIZE) : (size_t)2 << 30;
}

static size_t begun_with;

int larder_confine(const char *name) {
  begun_with = address_space();
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  restrict_by_landlock();
  restrict_by_filter();
  // Set the name last, because it shows that all other steps have succeeded.
  prctl(PR_SET_NAME, name, 0, 0, 0);
  return 0;
}

int larder_lower(int resource, unsigned long long most, bool isFinal) {
  struct rlimit limit;
  if (getrlimit((__rlimit_resource_t)resource, &limit) != 0) return -1;
  limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
  if (isFinal) limit.rlim_max = limit.rlim_cur;
  return setrlimit((__rlimit_resource_t)resource, &limit);
}

int larder_limit_memory(size_t more) { return larder_lower(RLIMIT_AS, begun_with + more, false); }

int larder_limit_processor(double more) {
  struct timespec used;
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) != 0) return -1;
  return larder_lower(RLIMIT_CPU, (rlim_t)used.tv_sec + (rlim_t)more + 2, false);
}

double larder_processor_seconds(int process) {
  clockid_t clock;
  struct timespec used;
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &used) != 0) return -1;
  return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}
