// Decompresses gzip data with zlib. This is in C because `inflateInit2` is a macro, which Swift cannot call.
#ifndef LARDER_CUNPACK_H
#define LARDER_CUNPACK_H

#include <stddef.h>
#include <stdint.h>

// The outcome of decompressing.
enum {
  cunpack_done = 0,
  cunpack_no_memory = 1,
  cunpack_broken = 2,
  cunpack_cut = 3,
  cunpack_too_large = 4,
  cunpack_unread = 5
};

// Reads up to `count` bytes of the gzip data into `room`. Returns the number of bytes as read(2) does: 0 at the end,
// and a negative number if reading failed.
typedef ptrdiff_t (*cunpack_read)(void *context, uint8_t *room, size_t count);

// Takes decompressed bytes.
typedef void (*cunpack_take)(void *context, const uint8_t *bytes, size_t count);

// Decompresses the bytes that `read` returns, and passes the result to `take`. `context` is the first argument of both.
// Stops if the result would have more than `limit` bytes.
int cunpack_gzip(cunpack_read read, cunpack_take take, void *context, size_t limit);

#endif
