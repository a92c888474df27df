// giflib, opened when the first GIF is read rather than when the program starts. The function runs a whole
// sequence of calls, as the library's own handle would need it to be open.
#ifndef LARDER_CGIF_H
#define LARDER_CGIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library; safe from any thread; later calls cost nothing. NULL when it is there, else the
// dynamic loader's words, which stay valid. Before, no other function may be called.
const char *cgif_open(void);

// How a sequence ended.
enum { cgif_done = 0, cgif_no_memory = 1, cgif_broken = 2 };

// Decodes the indices of the first frame, whose size has to be `width` × `height`, in order from the top.
int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices);

#endif
