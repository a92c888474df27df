// libde265, which decodes the HEVC pictures of an HEIC. It is opened when the first HEIC is read, not when the program
// starts. Each call decodes one picture, without extra threads.
#ifndef LARDER_CHEVC_H
#define LARDER_CHEVC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library. It is thread-safe, and repeated calls cost nothing. Returns NULL on success, and otherwise the
// dynamic loader's message, which stays valid. Call it before any other function here.
const char *chevc_open(void);

// The result of a call.
enum { chevc_done = 0, chevc_no_memory = 1, chevc_broken = 2, chevc_other = 3 };

// The shape that the picture must have. `chroma` is chroma_format_idc: 0 for grey, 1 for 4:2:0, 2 for 4:2:2, 3 for
// 4:4:4.
typedef struct {
  long width, height, chroma, depth;
} chevc_shape;

// A plane that receives samples. Samples of more than 8 bits take two bytes. A plane without bytes is skipped.
typedef struct {
  uint8_t *bytes;
  size_t stride;
} chevc_plane;

// The place of the picture in the planes, in pixels. Only its first `width` columns and `height` rows are written.
typedef struct {
  long x, y, width, height;
} chevc_place;

// How the colours of the picture are encoded, as numbers of ITU-T H.273, and whether it was decoded despite an error.
typedef struct {
  bool full_range, is_damaged;
  int matrix;
} chevc_light;

// Decodes the first picture in `count` NAL units (ITU-T H.265, 7.3.1), which begin with the parameter sets of the picture.
// The units follow one another in `bytes`, without start codes. Its first `plane_count` channels are written to `planes`.
//
// Refuses a picture larger than `shape`, or a second picture, before a buffer is allocated for it. If the picture is
// broken, `words` is set to libde265's message.
int chevc_decode(const uint8_t *bytes, const int *sizes, size_t count, chevc_shape shape, const chevc_plane *planes,
                 size_t plane_count, chevc_place place, chevc_light *light, const char **words);

#endif
