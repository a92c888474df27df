// giflib. Its handle type is hidden, so that Swift modules do not need its header.
#ifndef LARDER_CGIF_H
#define LARDER_CGIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The result of a call.
enum { cgif_done = 0, cgif_no_memory = 1, cgif_broken = 2 };

// The first frame of a GIF, whose rows are decoded in the order of the file.
typedef struct cgif_rows cgif_rows;

// Opens the first frame, which must be `width` × `height` in size. `bytes` must stay valid until it is closed. Returns
// NULL, and sets `outcome`, if there is no such frame.
cgif_rows *cgif_rows_open(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                          int *outcome);

// Decodes the indices of the next row.
int cgif_rows_next(cgif_rows *rows, uint8_t *indices);

// Decodes the first `passes` of the four passes of an interlaced frame; three of them contain the even rows. `indices`
// holds only each `spacing`-th row.
int cgif_rows_passes(cgif_rows *rows, int passes, int height, int spacing, uint8_t *indices);

// Closes the frame; does nothing for NULL.
void cgif_rows_close(cgif_rows *rows);

// Decodes the indices of the first frame, which must be `width` × `height` in size, from top to bottom.
int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices);

#endif
