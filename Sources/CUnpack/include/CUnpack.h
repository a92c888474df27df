// Undoes the compressions that feeds are stored in. zlib is linked; brotli and zstd are opened when the first such
// body is read. One function runs a whole decoder, as its handle would need the library to be open.
#ifndef LARDER_CUNPACK_H
#define LARDER_CUNPACK_H

#include <stddef.h>
#include <stdint.h>

// A compression.
enum { cunpack_gzip = 0, cunpack_brotli = 1, cunpack_zstd = 2 };

// How decoding ended.
enum {
  cunpack_done = 0,
  cunpack_no_memory = 1,
  cunpack_broken = 2,
  cunpack_cut = 3,
  cunpack_too_large = 4,
  cunpack_no_library = 5,
  cunpack_unread = 6
};

// Reads up to `count` bytes of what is packed, as read(2) does: 0 at the end, negative when it cannot be read.
typedef ptrdiff_t (*cunpack_read)(void *context, uint8_t *room, size_t count);

// Takes bytes that were unpacked.
typedef void (*cunpack_take)(void *context, const uint8_t *bytes, size_t count);

// Decodes what `read` gives, and stops as soon as more than `limit` bytes come out.
int cunpack_stream(int coding, cunpack_read read, cunpack_take take, void *context, size_t limit);

// Why a library could not be opened, in the dynamic loader's words; NULL when it could or was not needed.
const char *cunpack_failure(int coding);

#endif
