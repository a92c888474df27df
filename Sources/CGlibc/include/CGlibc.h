// Functions that Swift's own Glibc module lacks.
#ifndef LARDER_CGLIBC_H
#define LARDER_CGLIBC_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

/// Limits malloc to `count` arenas for all threads together. This is in C because malloc.h is not part of Swift's
/// Glibc module.
void larder_limit_heaps(int count);

/// Makes malloc map each block of `size` bytes or more separately, and return it to the system when it is freed.
void larder_map_from(size_t size);

/// Makes malloc keep freed blocks of up to `size` bytes for reuse, and return larger ones to the system.
void larder_keep_blocks(size_t size);

/// Opens a pipe that started programs do not inherit. pipe2 is declared only for _GNU_SOURCE.
int larder_pipe(int ends[2]);

/// Opens a new unnamed file on the file system of `path`, which is relative to the open folder `folder`. Returns -1
/// and sets errno if the file system has no unnamed files. O_TMPFILE is declared only for _GNU_SOURCE.
int larder_unnamed(int folder, const char *path, unsigned mode);

/// Opens a file in memory that contains `bytes`, at its start; returns -1 and sets errno on failure. Used as a
/// process's stdin: unlike a pipe, it blocks no writer if the process never reads it. memfd_create is declared only
/// for _GNU_SOURCE.
int larder_readable(const void *bytes, size_t count);

/// Writes all bytes. Returns -1 and sets errno on failure: to ENOSPC if write(2) accepts no more bytes.
int larder_write(int file, const void *bytes, size_t count);

/// Starts a worker process in which no signal is blocked, handled or ignored. So a crash or an exceeded limit ends
/// only the worker. Returns 0 or an error number. This is in C because CJQ calls it too.
///
/// The worker has `channel` as descriptor 3. Its stdout is `output`, which must be above 3, or /dev/null if `output`
/// is -1. Its stdin and stderr are /dev/null, and it has no other descriptor. Its environment has only the variables
/// that locate libraries, fonts and time zones, and the options of sanitizers. It has no variable that may contain a
/// secret.
int larder_start(pid_t *process, const char *program, char *const arguments[], int channel, int output);

/// Makes a spawned process close every descriptor from `first` on. The function is declared only for _GNU_SOURCE.
int larder_close_from(posix_spawn_file_actions_t *actions, int first);

/// Makes the kernel send SIGTERM to this process when its parent ends; returns -1 and sets errno on failure. prctl is
/// variadic.
int larder_end_with_parent(void);

/// The number of words of the command line, including the program's name.
int larder_argument_count(void);

/// A word of the command line, valid as long as the process runs; NULL if there is no word with that number. glibc
/// passes the words to constructors, so /proc is not needed.
const char *larder_argument(int number);

/// Makes a pair of connected stream sockets that started programs do not inherit.
int larder_socket_pair(int ends[2]);

/// Sends bytes without waiting, together with a descriptor unless `descriptor` is negative. Returns -1 and sets errno
/// as sendmsg does. This function and the next are in C because Swift cannot use the macros of cmsg(3).
ssize_t larder_send(int socket, const void *bytes, size_t count, int descriptor);

/// Receives bytes without waiting. If a descriptor was sent with them, it is stored in `*descriptor`; a descriptor
/// that was there before is closed. Returns 0 at the end of the stream, or -1 and sets errno as recvmsg does.
ssize_t larder_receive(int socket, void *bytes, size_t count, int *descriptor);

/// Starts a thread that ends this process once the other end of `socket` is closed; returns 0 or an error number.
int larder_end_with(int socket);

/// Permanently gives up the rights that a worker never needs, as far as the kernel supports it. These are new
/// privileges, programs, processes and sockets, changes to files that are not open yet, and core dumps. Then sets the
/// process's name. Must be called while the process has only one thread. Returns -1 and sets errno if it cannot even
/// give up new privileges.
int larder_confine(const char *name);

/// Lowers a resource limit of this process. If `isFinal`, the limit cannot be raised again. Returns -1 and sets errno
/// on failure.
int larder_lower(int resource, unsigned long long most, bool isFinal);

/// Sets RLIMIT_AS to `more` bytes beyond the address space that the process had at `larder_confine`.
int larder_limit_memory(size_t more);

/// Sets RLIMIT_CPU so that the kernel ends this process once it has used another `more` + 2 seconds of processor time.
int larder_limit_processor(double more);

/// The processor time in seconds that a process has used; negative when there is no such process.
double larder_processor_seconds(int process);

/// Reads the date of a header field in the C locale; it must match the format exactly, except for upper and lower
/// case. Returns 0 for an IMF-fixdate, 1 for an RFC 850 date (whose year has two digits), 2 or 3 for an asctime date,
/// and -1 for any other text. strptime is declared only for _XOPEN_SOURCE.
int larder_read_date(const void *text, size_t count, struct tm *parts);

/// Writes a time in UTC with the strftime format `form`, in the C locale; returns the text's length without its final
/// NUL.
size_t larder_write_date(void *text, size_t size, const char *form, time_t seconds);

/// The system's message for an error number, with a lower-case beginning for the middle of a sentence. It is valid
/// until the thread's next call. strerrordesc_np is declared only for _GNU_SOURCE.
const char *larder_error_words(int code);

#endif
