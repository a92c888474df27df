// giflib. Its own handle does not show here, as its header would have to be there then.
#ifndef LARDER_CGIF_H
#define LARDER_CGIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// How a sequence ended.
enum { cgif_done = 0, cgif_no_memory = 1, cgif_broken = 2 };

// The first frame of a GIF, whose rows come one after the other as the file has them.
typedef struct cgif_rows cgif_rows;

// Opens a frame, whose size has to be `width` × `height`; `bytes` stay where they are until it is closed. NULL, and why,
// when there is no such frame.
cgif_rows *cgif_rows_open(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                          int *outcome);

// Decodes the indices of the next row.
int cgif_rows_next(cgif_rows *rows, uint8_t *indices);

// Decodes the first passes, of four, of an interlaced frame: three have the even rows. Each `spacing`-th row has room in
// `indices`.
int cgif_rows_passes(cgif_rows *rows, int passes, int height, int spacing, uint8_t *indices);

// Closes rows; of NULL nothing.
void cgif_rows_close(cgif_rows *rows);

// Decodes the indices of the first frame, whose size has to be `width` × `height`, in order from the top.
int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices);

#endif
