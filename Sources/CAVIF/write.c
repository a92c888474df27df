#include "codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static avifResult fill(avifImage *image, const cavif_encoding *encoding) {
  image->yuvRange = AVIF_RANGE_FULL;
  image->colorPrimaries = (avifColorPrimaries)encoding->colour.primaries;
  image->transferCharacteristics = (avifTransferCharacteristics)encoding->colour.transfer;
  image->matrixCoefficients = (avifMatrixCoefficients)encoding->colour.matrix;
  avifRGBImage rgb;
  their_avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = (uint32_t)encoding->depth;
  rgb.format = encoding->order == cavif_rgb    ? AVIF_RGB_FORMAT_RGB
               : encoding->order == cavif_rgba ? AVIF_RGB_FORMAT_RGBA
                                               : AVIF_RGB_FORMAT_BGRA;
  rgb.ignoreAlpha = encoding->order != cavif_rgba;
  rgb.pixels = (uint8_t *)encoding->pixels;
  rgb.rowBytes = encoding->stride;
  // libavif's own conversion is exact. The conversion of libyuv is faster, but not exact.
  rgb.avoidLibYUV = encoding->lossless;
  avifResult done = their_avifImageRGBToYUV(image, &rgb);
  if (done != AVIF_RESULT_OK) return done;
  if (encoding->profile_count > 0) {
    their_avifImageSetProfileICC(image, encoding->profile, encoding->profile_count);
  }
  if (encoding->exif_count > 0) {
    their_avifImageSetMetadataExif(image, encoding->exif, encoding->exif_count);
  }
  if (encoding->xmp_count > 0) {
    their_avifImageSetMetadataXMP(image, encoding->xmp, encoding->xmp_count);
  }
  // The picture is upright already, even if its metadata says otherwise.
  image->transformFlags = AVIF_TRANSFORM_NONE;
  return AVIF_RESULT_OK;
}

static void choose_quality(avifEncoder *encoder, const cavif_encoding *encoding) {
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->maxThreads = 1;
  encoder->speed = 6;
  // Converts a quality to a quantizer, as libavif 1 does.
  int level = encoding->lossless ? 0 : ((100 - encoding->quality) * 63 + 50) / 100;
  encoder->minQuantizer = 0;
  encoder->maxQuantizer = encoding->lossless ? 0 : 63;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = 0;
  if (encoding->lossless) return;
  char text[4];
  snprintf(text, sizeof text, "%d", level);
  // "q" asks for a constant quality instead of a bit rate. Alpha keeps its own quantizers.
  their_avifEncoderSetCodecSpecificOption(encoder, "color:end-usage", "q");
  their_avifEncoderSetCodecSpecificOption(encoder, "color:cq-level", text);
}

struct cavif_picture {
  avifImage *image;
  avifEncoder *encoder;
};

cavif_picture *cavif_begin(const cavif_encoding *encoding, int *result, cavif_outcome *outcome) {
  cavif_picture *picture = calloc(1, sizeof *picture);
  if (picture == NULL) {
    *result = cavif_no_memory;
    return NULL;
  }
  picture->image = their_avifImageCreate(encoding->width, encoding->height, (uint32_t)encoding->file_depth,
                                         (avifPixelFormat)encoding->colour.chroma);
  picture->encoder = their_avifEncoderCreate();
  avifResult done = picture->image == NULL || picture->encoder == NULL ? AVIF_RESULT_OUT_OF_MEMORY
                                                                       : fill(picture->image, encoding);
  *result = cavif_outcome_of(done, NULL, outcome);
  if (done == AVIF_RESULT_OK) {
    choose_quality(picture->encoder, encoding);
    return picture;
  }
  cavif_close(picture);
  return NULL;
}

int cavif_encode(cavif_picture *picture, cavif_bytes *out, cavif_outcome *outcome) {
  avifRWData made = AVIF_DATA_EMPTY;
  avifResult done = their_avifEncoderWrite(picture->encoder, picture->image, &made);
  if (done == AVIF_RESULT_OK) {
    out->bytes = malloc(made.size);
    out->count = made.size;
    if (out->bytes == NULL) {
      done = AVIF_RESULT_OUT_OF_MEMORY;
    } else {
      memcpy(out->bytes, made.data, made.size);
    }
  }
  int result = cavif_outcome_of(done, &picture->encoder->diag, outcome);
  their_avifRWDataFree(&made);
  return result;
}

void cavif_close(cavif_picture *picture) {
  if (picture->encoder != NULL) their_avifEncoderDestroy(picture->encoder);
  if (picture->image != NULL) their_avifImageDestroy(picture->image);
  free(picture);
}
