#include "CUnpack.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "unpacking.h"

// Makes room for what comes next; NULL when the limit is reached or memory is out, told apart in `*result`.
bool unpacking_grow(unpacking *state) {
  if (state->filled < state->room) return true;
  // One byte beyond the limit shows that there is more.
  if (state->room > state->limit) {
    state->result = cunpack_too_large;
    return false;
  }
  size_t room = state->room < (1 << 15) ? (1 << 16) : state->room * 2;
  if (room > state->limit) room = state->limit + 1;
  uint8_t *bytes = realloc(state->bytes, room);
  if (bytes == NULL) {
    state->result = cunpack_no_memory;
    return false;
  }
  state->bytes = bytes;
  state->room = room;
  return true;
}

// One file may hold several members, one after the other. (RFC 1952, section 2.2)
static void unpack_gzip(unpacking *state) {
  z_stream stream = {0};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {
    state->result = cunpack_no_memory;
    return;
  }
  int status = Z_OK;
  while (true) {
    if (status == Z_STREAM_END) {
      if (state->count < 2 || state->input[0] != 0x1F || state->input[1] != 0x8B) break;
      inflateReset(&stream);
    }
    if (!unpacking_grow(state)) break;
    uInt in = state->count > (1u << 30) ? (1u << 30) : (uInt)state->count;
    size_t left = state->room - state->filled;
    uInt out = left > (1u << 30) ? (1u << 30) : (uInt)left;
    stream.next_in = (Bytef *)state->input;
    stream.avail_in = in;
    stream.next_out = state->bytes + state->filled;
    stream.avail_out = out;
    status = inflate(&stream, Z_NO_FLUSH);
    state->input += in - stream.avail_in;
    state->count -= in - stream.avail_in;
    state->filled += out - stream.avail_out;
    if (status == Z_STREAM_END || status == Z_OK) {
      if (status == Z_OK && state->count == 0 && stream.avail_out != 0) {
        state->result = cunpack_cut;
        break;
      }
      continue;
    }
    state->result = status == Z_BUF_ERROR ? cunpack_cut
                    : status == Z_MEM_ERROR ? cunpack_no_memory : cunpack_broken;
    break;
  }
  inflateEnd(&stream);
}

int cunpack_whole(int coding, const uint8_t *bytes, size_t count, size_t limit, uint8_t **unpacked,
                  size_t *size) {
  *unpacked = NULL;
  *size = 0;
  if (cunpack_failure(coding) != NULL) return cunpack_no_library;
  unpacking state = {bytes, count, limit, NULL, 0, 0, cunpack_done};
  switch (coding) {
    case cunpack_gzip: unpack_gzip(&state); break;
    case cunpack_brotli: unpacking_brotli(&state); break;
    default: unpacking_zstd(&state); break;
  }
  if (state.result == cunpack_done && state.filled > limit) state.result = cunpack_too_large;
  if (state.result != cunpack_done) {
    free(state.bytes);
    return state.result;
  }
  *unpacked = state.bytes;
  *size = state.filled;
  return cunpack_done;
}

const char *cunpack_failure(int coding) {
  switch (coding) {
    case cunpack_brotli: return unpacking_open_brotli();
    case cunpack_zstd: return unpacking_open_zstd();
    default: return NULL;
  }
}
