#include "CGIF.h"

#include "COpening.h"

#include <string.h>

#include <gif_lib.h>

#if GIFLIB_MAJOR < 5 || (GIFLIB_MAJOR == 5 && GIFLIB_MINOR < 1)
#error "giflib 5.1 or later is needed"
#endif

// giflib has no function that tells its release; this number changes with its interface.
#define LIBRARY "libgif.so.7"

#define FUNCTIONS(F)                                                                                \
  F(DGifCloseFile)                                                                                  \
  F(DGifGetExtension)                                                                               \
  F(DGifGetExtensionNext)                                                                           \
  F(DGifGetImageDesc)                                                                               \
  F(DGifGetLine)                                                                                    \
  F(DGifGetRecordType)                                                                              \
  F(DGifOpen)

#define POINTER(name) static __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cgif_open, LIBRARY, functions)

typedef struct {
  const uint8_t *bytes;
  size_t count, offset;
} source;

static int pull(GifFileType *gif, GifByteType *target, int count) {
  source *source = gif->UserData;
  size_t left = source->count - source->offset;
  size_t taken = (size_t)count < left ? (size_t)count : left;
  memcpy(target, source->bytes + source->offset, taken);
  source->offset += taken;
  return (int)taken;
}

static bool find_image(GifFileType *gif) {
  GifRecordType type;
  while (their_DGifGetRecordType(gif, &type) == GIF_OK) {
    if (type == IMAGE_DESC_RECORD_TYPE) return their_DGifGetImageDesc(gif) == GIF_OK;
    if (type != EXTENSION_RECORD_TYPE) return false;
    int code;
    GifByteType *block;
    if (their_DGifGetExtension(gif, &code, &block) != GIF_OK) return false;
    while (block != NULL) {
      if (their_DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
    }
  }
  return false;
}

static bool read_rows(GifFileType *gif, int width, int height, bool interlaced, uint8_t *indices) {
  // (GIF89a, appendix E)
  static const int firsts[] = {0, 4, 2, 1}, steps[] = {8, 8, 4, 2};
  for (int pass = 0; pass < (interlaced ? 4 : 1); pass++) {
    for (int y = interlaced ? firsts[pass] : 0; y < height; y += interlaced ? steps[pass] : 1) {
      if (their_DGifGetLine(gif, indices + (size_t)y * (size_t)width, width) != GIF_OK) return false;
    }
  }
  return true;
}

int cgif_decode(const uint8_t *bytes, size_t count, int width, int height, bool interlaced,
                uint8_t *indices) {
  source source = {bytes, count, 0};
  int error = 0;
  GifFileType *gif = their_DGifOpen(&source, pull, &error);
  if (gif == NULL) return error == D_GIF_ERR_NOT_ENOUGH_MEM ? cgif_no_memory : cgif_broken;
  bool is_done = find_image(gif) && gif->Image.Width == width && gif->Image.Height == height &&
                 gif->Image.Interlace == interlaced &&
                 read_rows(gif, width, height, interlaced, indices);
  bool lacks_memory = gif->Error == D_GIF_ERR_NOT_ENOUGH_MEM;
  their_DGifCloseFile(gif, &error);
  return is_done ? cgif_done : lacks_memory ? cgif_no_memory : cgif_broken;
}

COPENING_NOTE("gif", "recommended", "Reads GIF", LIBRARY)
