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
  while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && unpacking_grow(state)) {
    size_t room = state->room - state->filled;
    uint8_t *next = state->bytes + state->filled;
    result = their_BrotliDecoderDecompressStream(decoder, &state->count, &state->input, &room, &next,
                                                 NULL);
    state->filled = state->room - room;
  }
  if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_INPUT) state->result = cunpack_cut;
  if (result == BROTLI_DECODER_RESULT_ERROR) state->result = cunpack_broken;
  // What follows the end is no brotli: nor then was what came before it.
  if (result == BROTLI_DECODER_RESULT_SUCCESS && state->count > 0) state->result = cunpack_broken;
  their_BrotliDecoderDestroyInstance(decoder);
}

COPENING_NOTE("brotli", "Reads feeds that are stored as .br", LIBRARY)
