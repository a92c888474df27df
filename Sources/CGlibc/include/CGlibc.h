// Functions that Swift's own Glibc module lacks.
#ifndef LARDER_CGLIBC_H
#define LARDER_CGLIBC_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

/// Limits malloc to `count` arenas for all threads together. malloc.h is not part of Swift's Glibc module.
void larder_limit_heaps(int count);

/// Makes malloc map blocks of `size` bytes or more separately, and return them to the system when they are freed.
void larder_map_from(size_t size);

/// Makes malloc keep freed blocks of up to `size` bytes for reuse, and return larger ones to the system.
void larder_keep_blocks(size_t size);

/// Opens a pipe that no other program inherits. pipe2 is declared only for _GNU_SOURCE.
int larder_pipe(int ends[2]);

/// Opens a new unnamed file on the file system of a path, which is relative to a folder's descriptor; -1 and errno if
/// that has no unnamed files. O_TMPFILE is declared only for _GNU_SOURCE.
int larder_unnamed(int folder, const char *path, unsigned mode);

/// Opens a file in memory with the bytes, to be read from its start; -1 and errno when that fails. It serves as a
/// process's stdin: unlike a pipe, it blocks nobody if the process never reads it. memfd_create is declared only for
/// _GNU_SOURCE.
int larder_readable(const void *bytes, size_t count);

/// Writes all bytes; -1 and errno when that fails, with ENOSPC if write(2) accepts no more.
int larder_write(int file, const void *bytes, size_t count);

/// Starts a worker process in which no signal is blocked, handled or ignored, so that a crash or a limit ends only the
/// worker. Returns an error number, or 0. It is in C because CJQ calls it too.
///
/// It has `channel` as descriptor 3, and `output`, which is above 3, as stdout; -1 for none. Its
/// other standard streams are /dev/null, and it has no other descriptor. Its environment has the
/// variables that find libraries, fonts and zones and the options of sanitizers, and nothing that
/// may be a secret.
int larder_start(pid_t *process, const char *program, char *const arguments[], int channel, int output);

/// Makes a spawned process close every descriptor from `first` on. Declared only for _GNU_SOURCE.
int larder_close_from(posix_spawn_file_actions_t *actions, int first);

/// Makes the kernel send SIGTERM to this process when its parent ends; -1 and errno when it cannot. prctl is variadic.
int larder_end_with_parent(void);

/// How many words the command line has, including the program's name.
int larder_argument_count(void);

/// A word of the command line, valid as long as the process runs; null when there is none of that number. glibc passes
/// the words to constructors, so /proc is not needed.
const char *larder_argument(int number);

/// Makes a pair of connected stream sockets that no other program inherits.
int larder_socket_pair(int ends[2]);

/// Sends bytes, and a descriptor with them unless it is negative, without waiting; -1 and errno as from sendmsg. Swift
/// cannot use the macros of cmsg(3), which this and the next function need.
ssize_t larder_send(int socket, const void *bytes, size_t count, int descriptor);

/// Receives bytes without waiting. A descriptor that was sent with them is stored in `*descriptor`, after closing the
/// one that is there. Returns 0 at the end, -1 and errno as from recvmsg.
ssize_t larder_receive(int socket, void *bytes, size_t count, int *descriptor);

/// Starts a thread that ends this process once the other end of a socket is closed; returns an error number, or 0.
int larder_end_with(int socket);

/// Gives up permanently the rights that a worker never needs, as far as the kernel supports it: new privileges,
/// programs, processes and sockets, changes of files that are not open yet, and core dumps. Then sets the process's
/// name. Call it before there is a second thread. Returns -1 and errno when not even new privileges can be given up.
int larder_confine(const char *name);

/// Lowers a limit of this process, permanently if `isFinal`, else so that it can be raised again; -1 and errno when
/// that fails.
int larder_lower(int resource, unsigned long long most, bool isFinal);

/// Sets RLIMIT_AS to `more` bytes beyond the address space that the process had at `larder_confine`.
int larder_limit_memory(size_t more);

/// Sets RLIMIT_CPU so that the kernel ends this process after `more` and two further seconds of processor time.
int larder_limit_processor(double more);

/// The processor time that a process has used, in seconds; negative when there is no such process.
double larder_processor_seconds(int process);

/// Reads a date of a header field in the C locale, letter for letter except for case. Returns 0 for an IMF-fixdate, 1
/// for an RFC 850 date (whose year has two digits), 2 or 3 for an asctime date, and -1 for anything else. strptime is
/// declared only for _XOPEN_SOURCE.
int larder_read_date(const void *text, size_t count, struct tm *parts);

/// Writes a moment in UTC with a format of strftime, in the C locale; returns its length without the NUL at its end.
size_t larder_write_date(void *text, size_t size, const char *form, time_t seconds);

/// The system's message for an error number, in lower case for the middle of a sentence; valid until the thread's next
/// call. strerrordesc_np is declared only for _GNU_SOURCE.
const char *larder_error_words(int code);

#endif
