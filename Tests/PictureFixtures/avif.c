#include "PictureFixtures.h"

#include <stdlib.h>
#include <string.h>

#include <avif/avif.h>

uint8_t *fixture_encode_avif(const fixture_avif *fixture, const uint8_t *samples, size_t *count) {
  avifImage *image = avifImageCreate((uint32_t)fixture->width, (uint32_t)fixture->height,
                                     (uint32_t)fixture->depth, (avifPixelFormat)fixture->chroma);
  // Lossless: RGB stored directly, without a colour transform.
  if (fixture->chroma == AVIF_PIXEL_FORMAT_YUV444) {
    image->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_IDENTITY;
  }
  if (fixture->primaries > 0) {
    image->colorPrimaries = (avifColorPrimaries)fixture->primaries;
    image->transferCharacteristics = (avifTransferCharacteristics)fixture->transfer;
  }
  avifRGBImage rgb;
  avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = 8;
  rgb.format = AVIF_RGB_FORMAT_RGBA;
  rgb.ignoreAlpha = !fixture->alpha;
  rgb.pixels = (uint8_t *)samples;
  rgb.rowBytes = (uint32_t)fixture->width * 4;
  avifImageRGBToYUV(image, &rgb);
  if (fixture->exif_count > 0) {
    avifImageSetMetadataExif(image, fixture->exif, fixture->exif_count);
  }
  image->transformFlags = AVIF_TRANSFORM_NONE;
  if (fixture->angle > 0) {
    image->transformFlags |= AVIF_TRANSFORM_IROT;
    image->irot.angle = (uint8_t)fixture->angle;
  }
  if (fixture->mirror >= 0) {
    image->transformFlags |= AVIF_TRANSFORM_IMIR;
#if AVIF_VERSION_MAJOR >= 1
    image->imir.axis = (uint8_t)fixture->mirror;
#else
    image->imir.mode = (uint8_t)fixture->mirror;
#endif
  }
  if (fixture->shown_width > 0) {
    avifCropRect rect = {(uint32_t)fixture->shown_x, (uint32_t)fixture->shown_y,
                         (uint32_t)fixture->shown_width, (uint32_t)fixture->shown_height};
    avifDiagnostics diagnostics;
    avifCleanApertureBoxConvertCropRect(&image->clap, &rect, image->width, image->height,
                                        image->yuvFormat, &diagnostics);
    image->transformFlags |= AVIF_TRANSFORM_CLAP;
  }
  avifEncoder *encoder = avifEncoderCreate();
  encoder->speed = 10;
  encoder->minQuantizer = encoder->maxQuantizer = 0;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = 0;
  for (int frame = 0; frame < fixture->frames; frame++) {
    avifAddImageFlags flags =
        fixture->frames == 1 ? AVIF_ADD_IMAGE_FLAG_SINGLE : AVIF_ADD_IMAGE_FLAG_NONE;
    avifEncoderAddImage(encoder, image, 1, flags);
    // Each frame after the first shows a different picture.
    for (uint32_t y = 0; y < image->height; y++) {
      memset(image->yuvPlanes[0] + y * image->yuvRowBytes[0], 16 * frame, image->yuvRowBytes[0]);
    }
  }
  avifRWData made = AVIF_DATA_EMPTY;
  avifEncoderFinish(encoder, &made);
  uint8_t *bytes = malloc(made.size);
  memcpy(bytes, made.data, made.size);
  *count = made.size;
  avifRWDataFree(&made);
  avifEncoderDestroy(encoder);
  avifImageDestroy(image);
  return bytes;
}
