// Functions that Swift's own Glibc module lacks.
#ifndef LARDER_CGLIBC_H
#define LARDER_CGLIBC_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

/// Limits the heaps of all threads together to `count`. malloc.h is not part of Swift's Glibc
/// module.
void larder_limit_heaps(int count);

/// Maps blocks of `size` bytes or more on their own, and gives them back when they are freed.
void larder_map_from(size_t size);

/// Keeps the heaps' blocks of up to `size` bytes for reuse, and gives larger ones back.
void larder_keep_blocks(size_t size);

/// Opens a pipe that no other program inherits. pipe2 is declared for _GNU_SOURCE alone.
int larder_pipe(int ends[2]);

/// Opens a new file without a name, of the file system of a path that is relative to a folder's descriptor; -1 and errno
/// where there is no such thing. O_TMPFILE is declared for _GNU_SOURCE alone.
int larder_unnamed(int folder, const char *path, unsigned mode);

/// Opens a file in memory that holds the bytes and is read from its start; -1 and errno when that fails. A process that
/// never reads its stdin blocks nobody so, as it would with a pipe. memfd_create is declared for _GNU_SOURCE alone.
int larder_readable(const void *bytes, size_t count);

/// Writes all of some bytes; -1 and errno when that fails, ENOSPC where nothing more is taken.
int larder_write(int file, const void *bytes, size_t count);

/// Starts a worker process for this one, in which no signal is blocked, handled or ignored: a
/// crash or a limit ends the worker alone. An error number, or 0. Swift cannot call the variadic
/// parts of this.
///
/// It has `channel` as descriptor 3, and `output`, which is above 3, as stdout; -1 for none. Its
/// other standard streams are /dev/null, and it has no other descriptor. Its environment has the
/// variables that find libraries, fonts and zones and the options of sanitizers, and nothing that
/// may be a secret.
int larder_start(pid_t *process, const char *program, char *const arguments[], int channel, int output);

/// Has a process that is spawned close every descriptor from this one on. Declared for _GNU_SOURCE alone.
int larder_close_from(posix_spawn_file_actions_t *actions, int first);

/// Has the kernel send SIGTERM to this process when its parent ends; -1 and errno when it cannot. prctl is variadic.
int larder_end_with_parent(void);

/// How many words the command line has, the program's own name among them.
int larder_argument_count(void);

/// A word of the command line, for as long as the process runs; null when there is none of that number. glibc hands the
/// words to constructors, so that they are known without /proc.
const char *larder_argument(int number);

/// Makes a pair of connected stream sockets that no other program inherits.
int larder_socket_pair(int ends[2]);

/// Sends bytes, and a descriptor with them unless it is negative, without waiting; -1 and errno as sendmsg has them. The
/// macros of cmsg(3) are not for Swift, nor are those of the next function.
ssize_t larder_send(int socket, const void *bytes, size_t count, int descriptor);

/// Receives bytes without waiting, and a descriptor that came with them into `*descriptor`, which is closed before where it
/// is one; 0 at the end, -1 and errno as recvmsg has them.
ssize_t larder_receive(int socket, void *bytes, size_t count, int *descriptor);

/// Has a thread end this process once the far end of a socket is closed; an error number, or 0.
int larder_end_with(int socket);

/// Gives up for good, before there is a second thread, the rights that a worker never needs, and
/// takes a name: new privileges, programs, processes and sockets, changes of files that are not
/// open yet, and core dumps; as far as the kernel supports it. -1 and errno when not even
/// privileges can be given up.
int larder_confine(const char *name);

/// Lowers a limit of this process, for good or so that it may be raised again; -1 and errno when that fails.
int larder_lower(int resource, unsigned long long most, bool isFinal);

/// Sets RLIMIT_AS to `more` bytes beyond the address space that the process had at `larder_confine`.
int larder_limit_memory(size_t more);

/// Sets RLIMIT_CPU so that the kernel ends this process after `more` further seconds of processor time, and two besides.
int larder_limit_processor(double more);

/// The seconds that a process has computed; negative when there is none.
double larder_processor_seconds(int process);

/// Reads a date as header fields have it, in the C locale and letter for letter but for its case: 0 an IMF-fixdate, 1 an RFC 850
/// date, whose year has two digits, 2 or 3 an asctime date; -1 for anything else. strptime is declared for _XOPEN_SOURCE alone.
int larder_read_date(const void *text, size_t count, struct tm *parts);

/// Writes a moment in UTC by a form of strftime, in the C locale; its length, without a zero behind it.
size_t larder_write_date(void *text, size_t size, const char *form, time_t seconds);

/// The system's words for an error number, in lower case as they go in the middle of a sentence: valid until the thread
/// asks again, or for good. strerrordesc_np is declared for _GNU_SOURCE alone.
const char *larder_error_words(int code);

#endif
