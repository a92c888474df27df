#include "CWebP.h"

#include "COpening.h"

#include <stdlib.h>
#include <string.h>

#include <webp/decode.h>
#include <webp/encode.h>

// The interface that the headers describe: libwebp changes this number with it.
#define LIBRARY "libwebp.so.7"

#define FUNCTIONS(F)                                                                                \
  F(WebPConfigInitInternal)                                                                         \
  F(WebPConfigLosslessPreset)                                                                       \
  F(WebPDecode)                                                                                     \
  F(WebPEncode)                                                                                     \
  F(WebPFreeDecBuffer)                                                                              \
  F(WebPGetEncoderVersion)                                                                          \
  F(WebPGetFeaturesInternal)                                                                        \
  F(WebPInitDecoderConfigInternal)                                                                  \
  F(WebPPictureFree)                                                                                \
  F(WebPPictureImportBGRX)                                                                          \
  F(WebPPictureImportRGB)                                                                           \
  F(WebPPictureImportRGBA)                                                                          \
  F(WebPPictureInitInternal)

#define POINTER(name) static __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cwebp_open, LIBRARY, functions)

void cwebp_release(int *built, int *found) {
  // No header tells its release: that of the interface is checked by each call instead.
  *built = *found = their_WebPGetEncoderVersion();
}

static int outcome(VP8StatusCode status) {
  switch (status) {
  case VP8_STATUS_OK: return cwebp_done;
  case VP8_STATUS_OUT_OF_MEMORY: return cwebp_no_memory;
  case VP8_STATUS_SUSPENDED:
  case VP8_STATUS_NOT_ENOUGH_DATA: return cwebp_cut;
  default: return cwebp_broken;
  }
}

int cwebp_decode(const uint8_t *bytes, size_t count, const cwebp_decoding *decoding) {
  WebPDecoderConfig config;
  if (!their_WebPInitDecoderConfigInternal(&config, WEBP_DECODER_ABI_VERSION)) return cwebp_refused;
  VP8StatusCode status =
      their_WebPGetFeaturesInternal(bytes, count, &config.input, WEBP_DECODER_ABI_VERSION);
  if (status != VP8_STATUS_OK) return outcome(status);
  const int width = decoding->width, height = decoding->height;
  const cwebp_region region = decoding->region;
  if (config.input.width != width || config.input.height != height) return cwebp_broken;
  config.options.use_cropping = region.width != width || region.height != height;
  config.options.crop_left = region.x;
  config.options.crop_top = region.y;
  config.options.crop_width = region.width;
  config.options.crop_height = region.height;
  config.options.use_scaling = decoding->across != region.width || decoding->down != region.height;
  config.options.scaled_width = decoding->across;
  config.options.scaled_height = decoding->down;
  config.output.colorspace = decoding->has_alpha ? MODE_RGBA : MODE_BGRA;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = decoding->pixels;
  config.output.u.RGBA.stride = (int)decoding->stride;
  config.output.u.RGBA.size = decoding->stride * (size_t)decoding->down;
  status = their_WebPDecode(bytes, count, &config);
  their_WebPFreeDecBuffer(&config.output);
  return outcome(status);
}

typedef struct {
  uint8_t *bytes;
  size_t count, room;
} target;

static int take(const uint8_t *bytes, size_t count, const WebPPicture *picture) {
  target *target = picture->custom_ptr;
  if (target->room - target->count < count) {
    size_t room = target->room * 2 + count + 65536;
    uint8_t *more = realloc(target->bytes, room);
    if (more == NULL) return 0;
    target->bytes = more;
    target->room = room;
  }
  memcpy(target->bytes + target->count, bytes, count);
  target->count += count;
  return 1;
}

int cwebp_encode(const cwebp_encoding *encoding, uint8_t **out, size_t *out_count) {
  WebPConfig config;
  WebPPicture picture;
  if (!their_WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, (float)encoding->quality,
                                    WEBP_ENCODER_ABI_VERSION) ||
      !their_WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION)) {
    return cwebp_refused;
  }
  if (encoding->lossless) {
    their_WebPConfigLosslessPreset(&config, 6);
    // Colours under clear pixels stay as they are.
    config.exact = 1;
  }
  picture.use_argb = encoding->lossless;
  picture.width = encoding->width;
  picture.height = encoding->height;
  int imported = encoding->order == cwebp_rgb
                     ? their_WebPPictureImportRGB(&picture, encoding->pixels, encoding->stride)
                 : encoding->order == cwebp_rgba
                     ? their_WebPPictureImportRGBA(&picture, encoding->pixels, encoding->stride)
                     : their_WebPPictureImportBGRX(&picture, encoding->pixels, encoding->stride);
  target target = {0};
  picture.writer = take;
  picture.custom_ptr = &target;
  bool is_made = imported && their_WebPEncode(&config, &picture);
  WebPEncodingError error = picture.error_code;
  their_WebPPictureFree(&picture);
  if (is_made) {
    *out = target.bytes;
    *out_count = target.count;
    return cwebp_done;
  }
  free(target.bytes);
  bool lacks_memory = !imported || error == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                      error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY || error == VP8_ENC_ERROR_BAD_WRITE;
  return lacks_memory ? cwebp_no_memory : cwebp_refused;
}

COPENING_NOTE("webp", "Reads and writes WebP", LIBRARY)
