#include <string.h>

#include <zlib.h>

#include "reader.h"

bool cpng_decode(const cpng_source *source, uint8_t *pixels, size_t stride, cpng_shape *shape,
                 cpng_outcome *outcome) {
  failure failure;
  png_reader reader = {.source = source, .failure = &failure};
  failure_begin(&failure, outcome, source->memory);
  if (setjmp(failure.escape)) {
    reader_close(&reader);
    return false;
  }
  reader_open(&reader, shape);
  const size_t row = source->region.width * reader.pixel;
  if (stride < row) png_error(reader.png, "the rows are too short");
  for (uint32_t y = 0; y < source->region.height; y++) {
    memcpy(pixels + y * stride, reader_row(&reader), row);
  }
  reader_finish(&reader);
  reader_close(&reader);
  return true;
}

bool cpng_pick(const cpng_source *source, const uint32_t *rows, uint32_t count, uint8_t *pixels,
               size_t stride, cpng_outcome *outcome) {
  failure failure;
  cpng_shape shape;
  png_reader reader = {.source = source, .failure = &failure};
  failure_begin(&failure, outcome, source->memory);
  if (setjmp(failure.escape)) {
    reader_close(&reader);
    return false;
  }
  reader_open(&reader, &shape);
  if (stride < source->region.width * reader.pixel) png_error(reader.png, "the rows are too short");
  reader_pick(&reader, rows, count, pixels, stride);
  reader_close(&reader);
  return true;
}

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
