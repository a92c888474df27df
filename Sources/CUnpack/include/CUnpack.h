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
  cunpack_no_library = 5
};

// Decodes `bytes` whole, of which no more than `limit` come out: counted while they do, not afterwards. What came
// out is in `*unpacked`, for `free`; NULL unless done.
int cunpack_whole(int coding, const uint8_t *bytes, size_t count, size_t limit, uint8_t **unpacked,
                  size_t *size);

// Why a library could not be opened, in the dynamic loader's words; NULL when it could or was not needed.
const char *cunpack_failure(int coding);

#endif
