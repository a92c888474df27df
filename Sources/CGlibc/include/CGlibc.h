// Functions that Swift's own Glibc module lacks.
#ifndef LARDER_CGLIBC_H
#define LARDER_CGLIBC_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

/// Limits malloc to `count` arenas, which all threads share.
///
/// This is in C because malloc.h is not part of Swift's Glibc module.
void larder_limit_heaps(int count);

/// Makes malloc map each block of at least `size` bytes separately, so that the memory is returned to the system when
/// the block is freed.
void larder_map_from(size_t size);

/// Makes malloc keep freed blocks of up to `size` bytes for later use, and return larger blocks to the system.
void larder_keep_blocks(size_t size);

/// Opens a pipe whose ends are closed in programs that this process starts. pipe2 is declared only for _GNU_SOURCE.
int larder_pipe(int ends[2]);

/// Opens a new unnamed file on the file system of `path`, which is relative to the open folder `folder`. Returns -1
/// and sets errno if the file system has no unnamed files. O_TMPFILE is declared only for _GNU_SOURCE.
int larder_unnamed(int folder, const char *path, unsigned mode);

/// Opens a file in memory that contains `bytes`, and sets its position to the beginning.
///
/// Returns -1 and sets errno on failure. The file is used as the stdin of a process. Unlike a pipe, it does not block
/// the writer if the process never reads it. memfd_create is declared only for _GNU_SOURCE.
int larder_readable(const void *bytes, size_t count);

/// Writes all bytes.
///
/// Returns -1 and sets errno on failure. errno is ENOSPC if write(2) accepts no more bytes.
int larder_write(int file, const void *bytes, size_t count);

/// Starts a worker process.
///
/// No signal is blocked, handled or ignored in it, so that a crash or an exceeded limit ends the worker and nothing
/// else. Returns 0 or an error number. This is in C because CJQ calls it too.
///
/// The descriptor `channel` is descriptor 3 of the worker. The worker's stdout is `output`, which must be above 3, or
/// /dev/null if `output` is -1. Its stdin and stderr are /dev/null, and it has no other descriptor. Its environment
/// has only the variables that locate libraries, fonts and time zones, and the options of sanitizers. It has no
/// variable that may contain a secret.
int larder_start(pid_t *process, const char *program, char *const arguments[], int channel, int output);

/// Starts a program, which is looked for in PATH.
///
/// Its descriptors are the three of `streams`: stdin, stdout and stderr. It has its own process group, and no signal is
/// blocked, handled or ignored in it. Returns 0 or an error number.
int larder_start_program(pid_t *process, char *const arguments[], char *const environment[], const int streams[3]);

/// Makes the kernel send SIGTERM to this process when its parent ends; returns -1 and sets errno on failure. prctl is
/// variadic.
int larder_end_with_parent(void);

/// The number of words of the command line, including the program's name.
int larder_argument_count(void);

/// A word of the command line, from 0; NULL if there is no word with that number.
///
/// The text is valid as long as the process runs. glibc passes the words to constructors, so that /proc is not needed.
const char *larder_argument(int number);

/// Makes a pair of connected stream sockets that are closed in programs that this process starts.
int larder_socket_pair(int ends[2]);

/// Sends bytes without waiting.
///
/// If `descriptor` is not negative, that descriptor is sent with them. Returns the number of bytes sent, or -1 and
/// sets errno as sendmsg does. This function and the next are in C because Swift cannot use the macros of cmsg(3).
ssize_t larder_send(int socket, const void *bytes, size_t count, int descriptor);

/// Receives bytes without waiting.
///
/// If a descriptor was sent with them, it is stored in `*descriptor`, and a descriptor that was stored there before is
/// closed. Returns the number of bytes received, 0 at the end of the stream, or -1 and sets errno as recvmsg does.
ssize_t larder_receive(int socket, void *bytes, size_t count, int *descriptor);

/// Starts a thread that ends this process when the other end of `socket` is closed.
///
/// Returns 0 or an error number.
int larder_end_with(int socket);

/// Permanently gives up the rights that a worker never needs, as far as the kernel supports it.
///
/// Afterwards, the process can gain no privileges, start no programs or processes, open no sockets, change no file
/// that it has not opened yet, and dump no core. Then the name of the process is set. This must be called while the
/// process has only one thread. Returns -1 and sets errno if the process cannot even give up gaining privileges.
int larder_confine(const char *name);

/// Lowers a resource limit of this process.
///
/// If `isFinal` is true, the limit cannot be raised again. Returns -1 and sets errno on failure.
int larder_lower(int resource, unsigned long long most, bool isFinal);

/// Sets RLIMIT_AS to `more` bytes beyond the address space that the process had at `larder_confine`.
int larder_limit_memory(size_t more);

/// Sets RLIMIT_CPU so that the kernel ends this process when it has used another `more` + 2 seconds of processor time.
int larder_limit_processor(double more);

/// The processor time in seconds that a process has used; negative if there is no such process.
double larder_processor_seconds(int process);

/// Reads the date of a header field.
///
/// It must match one of the formats exactly, except for upper and lower case. Returns 0 for a date, and -1 for any other
/// text. The names of days and months are those of the C locale. strptime is declared only for _XOPEN_SOURCE.
int larder_read_date(const void *text, size_t count, struct tm *parts);

/// Writes a time in UTC in the C locale.
///
/// `form` is the format, as for strftime. Returns the length of the text without its final NUL.
size_t larder_write_date(void *text, size_t size, const char *form, time_t seconds);

/// The system's message for an error number.
///
/// It begins with a lower-case letter, so that it can be used in the middle of a sentence. The text is valid until the
/// thread's next call. strerrordesc_np is declared only for _GNU_SOURCE.
const char *larder_error_words(int code);

#endif
