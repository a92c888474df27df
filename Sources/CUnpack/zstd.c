#include "CUnpack.h"
#include "unpacking.h"

#include "COpening.h"

#include <zstd.h>

#define LIBRARY "libzstd.so.1"

#define FUNCTIONS(F)                                                                                \
  F(ZSTD_createDStream)                                                                             \
  F(ZSTD_decompressStream)                                                                          \
  F(ZSTD_freeDStream)                                                                               \
  F(ZSTD_isError)

#define POINTER(name) static __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(unpacking_open_zstd, LIBRARY, functions)

// Frames may follow each other. (RFC 8878, section 3)
void unpacking_zstd(unpacking *state) {
  ZSTD_DStream *stream = their_ZSTD_createDStream();
  if (stream == NULL) {
    state->result = cunpack_no_memory;
    return;
  }
  ZSTD_inBuffer in = {state->input, state->count, 0};
  size_t left = 1;
  while ((left != 0 || in.pos < in.size) && unpacking_grow(state)) {
    ZSTD_outBuffer out = {state->bytes, state->room, state->filled};
    size_t before = in.pos;
    left = their_ZSTD_decompressStream(stream, &out, &in);
    bool stands = out.pos == state->filled && in.pos == before;
    state->filled = out.pos;
    if (their_ZSTD_isError(left)) {
      state->result = cunpack_broken;
      break;
    }
    if (stands && in.pos == in.size && left != 0) {
      state->result = cunpack_cut;
      break;
    }
  }
  their_ZSTD_freeDStream(stream);
}

COPENING_NOTE("zstd", "Reads feeds that are stored as .zst", LIBRARY)
