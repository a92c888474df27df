#ifndef LARDER_UNPACKING_H
#define LARDER_UNPACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A body on its way through a decoder.
typedef struct {
  const uint8_t *input;
  size_t count;
  size_t limit;
  uint8_t *bytes;
  size_t filled, room;
  int result;
} unpacking;

bool unpacking_grow(unpacking *state);

const char *unpacking_open_brotli(void);
void unpacking_brotli(unpacking *state);

const char *unpacking_open_zstd(void);
void unpacking_zstd(unpacking *state);

#endif
