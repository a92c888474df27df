#include "CUnpack.h"
#include "unpacking.h"

#include "COpening.h"

#include <brotli/decode.h>

#define LIBRARY "libbrotlidec.so.1"

#define FUNCTIONS(F)                                                                                \
  F(BrotliDecoderCreateInstance)                                                                    \
  F(BrotliDecoderDecompressStream)                                                                  \
  F(BrotliDecoderDestroyInstance)

#define POINTER(name) static __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(unpacking_open_brotli, LIBRARY, functions)

void unpacking_brotli(unpacking *state) {
  BrotliDecoderState *decoder = their_BrotliDecoderCreateInstance(NULL, NULL, NULL);
  if (decoder == NULL) {
    state->result = cunpack_no_memory;
    return;
  }
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
  while (unpacking_room(state)) {
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT && !unpacking_fill(state, 1)) {
      if (state->result == cunpack_done) state->result = cunpack_cut;
      break;
    }
    size_t room = sizeof state->bytes - state->filled;
    uint8_t *out = state->bytes + state->filled;
    result = their_BrotliDecoderDecompressStream(decoder, &state->count, &state->next, &room, &out,
                                                 NULL);
    state->filled = sizeof state->bytes - room;
    if (result == BROTLI_DECODER_RESULT_ERROR) state->result = cunpack_broken;
    if (result == BROTLI_DECODER_RESULT_SUCCESS) {
      // What follows the end is no brotli: nor then was what came before it.
      if (unpacking_fill(state, 1)) state->result = cunpack_broken;
      break;
    }
  }
  their_BrotliDecoderDestroyInstance(decoder);
}

COPENING_NOTE("brotli", "recommended", "Reads feeds that are stored as .br", LIBRARY)
