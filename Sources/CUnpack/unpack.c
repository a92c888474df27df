#include "CUnpack.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#define PIECE (1 << 16)

// The state of decompressing a body.
typedef struct {
  cunpack_read read;
  cunpack_take take;
  void *context;
  size_t limit;
  // The number of bytes that were passed to `take` so far.
  size_t total;
  // The input that zlib has not consumed yet: `count` bytes, which begin at `next`.
  const uint8_t *next;
  size_t count;
  // The number of decompressed bytes in `bytes`.
  size_t filled;
  int result;
  uint8_t input[PIECE];
  uint8_t bytes[PIECE];
} unpacking;

// Reads until at least `least` bytes of input are available, or the input ends. Returns whether they are available.
static bool fill(unpacking *state, size_t least) {
  while (state->count < least) {
    if (state->next != state->input) {
      memmove(state->input, state->next, state->count);
      state->next = state->input;
    }
    ptrdiff_t count = state->read(state->context, state->input + state->count,
                                  sizeof state->input - state->count);
    if (count < 0) state->result = cunpack_unread;
    if (count <= 0) return false;
    state->count += (size_t)count;
  }
  return true;
}

// Passes the bytes in `bytes` to `take`. If the total would exceed the limit, sets the result to `cunpack_too_large`
// instead.
static void flush(unpacking *state) {
  if (state->filled == 0) return;
  if (state->filled > state->limit - state->total) {
    state->result = cunpack_too_large;
    return;
  }
  state->take(state->context, state->bytes, state->filled);
  state->total += state->filled;
  state->filled = 0;
}

// Makes room for output in `bytes`. Returns false if decompressing has failed.
static bool make_room(unpacking *state) {
  if (state->filled == sizeof state->bytes) flush(state);
  return state->result == cunpack_done;
}

// Decompresses the gzip data. The data may consist of several members, one after the other. (RFC 1952, section 2.2)
static void unpack(unpacking *state) {
  z_stream stream = {0};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {
    state->result = cunpack_no_memory;
    return;
  }
  int status = Z_OK;
  while (make_room(state)) {
    if (status == Z_STREAM_END) {
      if (!fill(state, 2) || state->next[0] != 0x1F || state->next[1] != 0x8B) break;
      inflateReset(&stream);
    }
    fill(state, 1);
    size_t in = state->count, out = sizeof state->bytes - state->filled;
    stream.next_in = (Bytef *)state->next;
    stream.avail_in = (uInt)in;
    stream.next_out = state->bytes + state->filled;
    stream.avail_out = (uInt)out;
    status = inflate(&stream, Z_NO_FLUSH);
    state->next += in - stream.avail_in;
    state->count -= in - stream.avail_in;
    state->filled += out - stream.avail_out;
    // The data is cut off if zlib has no more input, and a member has not ended.
    bool is_cut = in == 0 && stream.avail_out == out;
    if (status == Z_STREAM_END || (status == Z_OK && !is_cut)) continue;
    if (state->result != cunpack_done) break;
    state->result = status == Z_BUF_ERROR || status == Z_OK ? cunpack_cut
                    : status == Z_MEM_ERROR ? cunpack_no_memory : cunpack_broken;
  }
  inflateEnd(&stream);
}

int cunpack_gzip(cunpack_read read, cunpack_take take, void *context, size_t limit) {
  unpacking *state = calloc(1, sizeof *state);
  if (state == NULL) return cunpack_no_memory;
  state->read = read;
  state->take = take;
  state->context = context;
  state->limit = limit;
  state->next = state->input;
  unpack(state);
  if (state->result == cunpack_done) flush(state);
  int result = state->result;
  free(state);
  return result;
}
