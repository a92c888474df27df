// giflib, which decodes GIFs. Its handle type is hidden, so that Swift modules do not need giflib's header.
#ifndef LARDER_CGIF_H
#define LARDER_CGIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The result of a call.
enum { cgif_done = 0, cgif_no_memory = 1, cgif_broken = 2 };

// The first frame of a GIF. Its rows are decoded in the order in which the file stores them.
typedef struct cgif_rows cgif_rows;

// Opens the first frame, whose size must be `width` × `height`. `bytes` must stay valid until the frame is closed.
// Returns NULL, and sets `outcome`, if there is no such frame.
cgif_rows *cgif_rows_open(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                          int *outcome);

// Decodes the palette indices of the next row.
int cgif_rows_next(cgif_rows *rows, uint8_t *indices);

// Decodes the first `passes` of the four passes of an interlaced frame. The first three passes contain the even rows.
// `indices` has space for every `spacing`-th row of the frame: 1 for all rows, 2 for the even rows.
int cgif_rows_passes(cgif_rows *rows, int passes, int height, int spacing, uint8_t *indices);

// Closes the frame. Does nothing if `rows` is NULL.
void cgif_rows_close(cgif_rows *rows);

// Decodes the palette indices of the first frame, with the rows from top to bottom. The frame's size must be `width` ×
// `height`.
int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices);

#endif
