#ifndef LARDER_UNPACKING_H
#define LARDER_UNPACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CUnpack.h"

#define PIECE (1 << 16)

// A body on its way through a decoder.
typedef struct {
  cunpack_read read;
  cunpack_take take;
  void *context;
  size_t limit;
  // What came out so far, beside what waits in `bytes`.
  size_t total;
  // What the decoder has not taken yet: `count` bytes from `next` on.
  const uint8_t *next;
  size_t count;
  // What the decoder gave: `filled` bytes.
  size_t filled;
  int result;
  uint8_t input[PIECE];
  uint8_t bytes[PIECE];
} unpacking;

// Reads on until `least` bytes are there or the input ends; whether they are there.
bool unpacking_fill(unpacking *state, size_t least);

// Makes room for what comes out next; false when there is more than the limit.
bool unpacking_room(unpacking *state);

const char *unpacking_open_brotli(void);
void unpacking_brotli(unpacking *state);

const char *unpacking_open_zstd(void);
void unpacking_zstd(unpacking *state);

#endif
