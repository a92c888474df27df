#include "codec.h"

#include <stdlib.h>
#include <string.h>

// Creates a decoder, and reads the boxes. Sets `result`. Returns NULL on failure.
static avifDecoder *open_file(const uint8_t *bytes, size_t count, cavif_limits limits, avifCodecChoice codec,
                              int *result, cavif_outcome *outcome) {
  avifDecoder *decoder = their_avifDecoderCreate();
  if (decoder == NULL) {
    *result = cavif_no_memory;
    return NULL;
  }
  decoder->codecChoice = codec;
  decoder->maxThreads = 1;
  decoder->imageSizeLimit = limits.pixels;
  decoder->imageDimensionLimit = limits.side;
  decoder->imageCountLimit = limits.frames;
  // Many programs omit boxes that are not needed here.
  decoder->strictFlags = AVIF_STRICT_DISABLED;
  avifResult parsed = their_avifDecoderSetIOMemory(decoder, bytes, count);
  if (parsed == AVIF_RESULT_OK) parsed = their_avifDecoderParse(decoder);
  *result = cavif_outcome_of(parsed, &decoder->diag, outcome);
  if (*result == cavif_done) return decoder;
  their_avifDecoderDestroy(decoder);
  return NULL;
}

static bool copy(const avifRWData *from, cavif_bytes *to) {
  if (from->size == 0) return true;
  to->bytes = malloc(from->size);
  if (to->bytes == NULL) return false;
  memcpy(to->bytes, from->data, from->size);
  to->count = from->size;
  return true;
}

int cavif_read_header(const uint8_t *bytes, size_t count, cavif_limits limits, cavif_header *header,
                      cavif_outcome *outcome) {
  memset(header, 0, sizeof *header);
  int result = cavif_done;
  avifDecoder *decoder = open_file(bytes, count, limits, AVIF_CODEC_CHOICE_AUTO, &result, outcome);
  if (decoder == NULL) return result;
  const avifImage *image = decoder->image;
  header->width = image->width;
  header->height = image->height;
  header->frames = (uint32_t)decoder->imageCount;
  header->depth = (int)image->depth;
  header->has_alpha = decoder->alphaPresent;
  header->colour = (cavif_colour){(int)image->yuvFormat, image->colorPrimaries,
                                  image->transferCharacteristics, image->matrixCoefficients};
  header->aperture = (cavif_region){0, 0, image->width, image->height};
  avifCropRect rect;
  avifDiagnostics ignored;
  if (image->transformFlags & AVIF_TRANSFORM_CLAP &&
      their_avifCropRectConvertCleanApertureBox(&rect, &image->clap, image->width, image->height,
                                                image->yuvFormat, &ignored)) {
    header->aperture = (cavif_region){rect.x, rect.y, rect.width, rect.height};
  }
  header->angle = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0;
#if AVIF_VERSION_MAJOR >= 1
  header->mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? image->imir.axis & 1 : -1;
#else
  header->mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? image->imir.mode & 1 : -1;
#endif
  if (!copy(&image->icc, &header->profile) || !copy(&image->exif, &header->exif) ||
      !copy(&image->xmp, &header->xmp)) {
    result = cavif_no_memory;
  }
  their_avifDecoderDestroy(decoder);
  return result;
}

// Copies the planes of a region, so that the decoder can be freed. The decoder holds several times as much memory as
// the planes.
static avifResult take(const avifImage *whole, cavif_region region, avifImage *own) {
  avifImage *view = their_avifImageCreateEmpty();
  if (view == NULL) return AVIF_RESULT_OUT_OF_MEMORY;
  const avifCropRect rect = {region.x, region.y, region.width, region.height};
  avifResult done = their_avifImageSetViewRect(view, whole, &rect);
  if (done == AVIF_RESULT_OK) done = their_avifImageCopy(own, view, AVIF_PLANES_ALL);
  their_avifImageDestroy(view);
  return done;
}

static avifResult convert(const avifImage *image, bool has_alpha, bool is_wide, uint8_t *pixels, size_t stride) {
  if ((image->depth > 8) != is_wide) return AVIF_RESULT_UNSUPPORTED_DEPTH;
  avifRGBImage rgb;
  their_avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = is_wide ? 16 : 8;
  rgb.format = has_alpha ? AVIF_RGB_FORMAT_RGBA
               : is_wide ? AVIF_RGB_FORMAT_RGB
                         : AVIF_RGB_FORMAT_BGRA;
  rgb.pixels = pixels;
  rgb.rowBytes = (uint32_t)stride;
  return their_avifImageYUVToRGB(image, &rgb);
}

bool cavif_has_dav1d(void) {
  return their_avifCodecName(AVIF_CODEC_CHOICE_DAV1D, AVIF_CODEC_FLAG_CAN_DECODE) != NULL;
}

int cavif_decode(const uint8_t *bytes, size_t count, cavif_limits limits, bool by_dav1d, cavif_region region,
                 bool has_alpha, bool is_wide, uint8_t *pixels, size_t stride,
                 cavif_outcome *outcome) {
  int result = cavif_done;
  avifDecoder *decoder = open_file(bytes, count, limits, by_dav1d ? AVIF_CODEC_CHOICE_DAV1D : AVIF_CODEC_CHOICE_AUTO, &result, outcome);
  if (decoder == NULL) return result;
  avifResult done = their_avifDecoderNextImage(decoder);
  avifImage *own = their_avifImageCreateEmpty();
  if (done == AVIF_RESULT_OK) {
    done = own == NULL ? AVIF_RESULT_OUT_OF_MEMORY : take(decoder->image, region, own);
  }
  result = cavif_outcome_of(done, &decoder->diag, outcome);
  their_avifDecoderDestroy(decoder);
  if (result == cavif_done) {
    result = cavif_outcome_of(convert(own, has_alpha, is_wide, pixels, stride), NULL, outcome);
  }
  if (own != NULL) their_avifImageDestroy(own);
  return result;
}

int cavif_convert(const cavif_planes *planes, uint8_t *pixels, size_t stride, cavif_outcome *outcome) {
  avifImage *image = their_avifImageCreate(planes->width, planes->height, (uint32_t)planes->depth,
                                           (avifPixelFormat)planes->colour.chroma);
  if (image == NULL) return cavif_no_memory;
  image->yuvRange = planes->full_range ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
  image->colorPrimaries = (avifColorPrimaries)planes->colour.primaries;
  image->transferCharacteristics = (avifTransferCharacteristics)planes->colour.transfer;
  image->matrixCoefficients = (avifMatrixCoefficients)planes->colour.matrix;
  for (int plane = 0; plane < 3; plane++) {
    image->yuvPlanes[plane] = (uint8_t *)planes->planes[plane];
    image->yuvRowBytes[plane] = (uint32_t)planes->strides[plane];
  }
  image->alphaPlane = (uint8_t *)planes->planes[3];
  image->alphaRowBytes = (uint32_t)planes->strides[3];
  image->alphaPremultiplied = planes->premultiplied;
  avifResult done = convert(image, image->alphaPlane != NULL, planes->depth > 8, pixels, stride);
  their_avifImageDestroy(image);
  return cavif_outcome_of(done, NULL, outcome);
}
