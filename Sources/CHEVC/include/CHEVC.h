// libde265, opened when the first HEIC is read rather than when the program starts. One call decodes one picture, without
// a thread of its own.
#ifndef LARDER_CHEVC_H
#define LARDER_CHEVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library; safe from any thread; later calls cost nothing. NULL when it is there, else the
// dynamic loader's words, which stay valid. Before, no other function may be called.
const char *chevc_open(void);

// The release of the loaded library, as text; NULL where it cannot be opened.
const char *chevc_release(void);

// How a sequence ended.
enum { chevc_done = 0, chevc_no_memory = 1, chevc_broken = 2, chevc_other = 3 };

// A unit of the network abstraction layer, without its length. (ITU-T H.265, 7.3.1)
typedef struct {
  const uint8_t *bytes;
  size_t count;
} chevc_unit;

// The shape that the picture must have. `chroma` is chroma_format_idc: 0 for none, 1 for 4:2:0, 2 for 4:2:2, 3 for 4:4:4.
typedef struct {
  int width, height, chroma, depth;
} chevc_shape;

// Room for the planes of its first columns and rows, of two bytes a sample where there are more than 8 bits; a plane that
// is NULL is left out.
typedef struct {
  uint8_t *planes[3];
  size_t strides[3];
  int width, height;
} chevc_room;

// The picture's colour as ITU-T H.273 numbers it, and whether it was made in spite of a fault.
typedef struct {
  bool full_range, is_damaged;
  int matrix;
} chevc_light;

// Decodes the first picture of units, parameter sets first.
//
// No buffer is made for one larger than `shape`, or for a second one behind it. `words` get libde265's when it is broken.
int chevc_decode(const chevc_unit *units, size_t count, chevc_shape shape, chevc_room room, chevc_light *light,
                 const char **words);

#endif
