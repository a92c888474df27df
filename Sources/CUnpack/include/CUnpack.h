// Decodes gzip, the compression of stored feeds, with zlib. It is in C because `inflateInit2` is a macro.
#ifndef LARDER_CUNPACK_H
#define LARDER_CUNPACK_H

#include <stddef.h>
#include <stdint.h>

// How decoding ended.
enum {
  cunpack_done = 0,
  cunpack_no_memory = 1,
  cunpack_broken = 2,
  cunpack_cut = 3,
  cunpack_too_large = 4,
  cunpack_unread = 5
};

// Reads up to `count` bytes of the packed data, as read(2) does: 0 at the end, negative when it cannot be read.
typedef ptrdiff_t (*cunpack_read)(void *context, uint8_t *room, size_t count);

// Takes bytes that were unpacked.
typedef void (*cunpack_take)(void *context, const uint8_t *bytes, size_t count);

// Decodes the bytes from `read`, and stops as soon as more than `limit` bytes come out.
int cunpack_gzip(cunpack_read read, cunpack_take take, void *context, size_t limit);

#endif
