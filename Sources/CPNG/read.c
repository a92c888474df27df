#include <zlib.h>

#include "CPNG.h"

long cpng_unpacked_bytes(const uint8_t *bytes, size_t count, long limit, bool *is_whole) {
  uint8_t piece[16384];
  z_stream stream = {.next_in = (Bytef *)bytes, .avail_in = (uInt)count};
  *is_whole = false;
  if (inflateInit(&stream) != Z_OK) return 0;
  long total = 0;
  int status = Z_OK;
  while (status == Z_OK && total <= limit) {
    stream.next_out = piece;
    stream.avail_out = sizeof piece;
    status = inflate(&stream, Z_NO_FLUSH);
    total += (long)(sizeof piece - stream.avail_out);
  }
  inflateEnd(&stream);
  *is_whole = status == Z_STREAM_END || total > limit;
  return total;
}

uint32_t cpng_crc(const uint8_t *bytes, size_t count) {
  return (uint32_t)crc32_z(0, bytes, count);
}
