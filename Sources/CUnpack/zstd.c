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
  // How much the frame still wants; 0 between frames.
  size_t left = 1;
  while (unpacking_room(state)) {
    bool more = unpacking_fill(state, 1);
    if (state->result != cunpack_done || (left == 0 && !more)) break;
    ZSTD_inBuffer in = {state->next, state->count, 0};
    ZSTD_outBuffer out = {state->bytes, sizeof state->bytes, state->filled};
    left = their_ZSTD_decompressStream(stream, &out, &in);
    bool stands = out.pos == state->filled && in.pos == 0;
    state->filled = out.pos;
    state->next += in.pos;
    state->count -= in.pos;
    if (their_ZSTD_isError(left)) {
      state->result = cunpack_broken;
    } else if (stands && !more) {
      state->result = cunpack_cut;
    }
  }
  their_ZSTD_freeDStream(stream);
}

COPENING_NOTE("zstd", "recommended", "Reads feeds that are stored as .zst", LIBRARY)
