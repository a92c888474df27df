#include "CAVIF.h"

#include <avif/avif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "COpening.h"

#if AVIF_VERSION < 110100
#error "libavif 0.11.1 or later is needed"
#endif

// The soname of the libavif whose headers are used. libavif changes the soname whenever its interface changes.
#if AVIF_VERSION_MAJOR >= 1
#define LIBRARY "libavif.so.16"
#define MIRROR axis
#else
#define LIBRARY "libavif.so.15"
#define MIRROR mode
#endif

#define FUNCTIONS(F)                                                                                \
  F(avifCropRectConvertCleanApertureBox)                                                            \
  F(avifDecoderCreate)                                                                              \
  F(avifDecoderDestroy)                                                                             \
  F(avifDecoderNextImage)                                                                           \
  F(avifDecoderParse)                                                                               \
  F(avifDecoderSetIOMemory)                                                                         \
  F(avifEncoderCreate)                                                                              \
  F(avifEncoderDestroy)                                                                             \
  F(avifEncoderSetCodecSpecificOption)                                                              \
  F(avifEncoderWrite)                                                                               \
  F(avifImageAllocatePlanes)                                                                        \
  F(avifImageCopy)                                                                                  \
  F(avifImageCreate)                                                                                \
  F(avifImageCreateEmpty)                                                                           \
  F(avifImageDestroy)                                                                               \
  F(avifImageRGBToYUV)                                                                              \
  F(avifImageSetMetadataExif)                                                                       \
  F(avifImageSetMetadataXMP)                                                                        \
  F(avifImageSetProfileICC)                                                                         \
  F(avifImageSetViewRect)                                                                           \
  F(avifImageYUVToRGB)                                                                              \
  F(avifRGBImageSetDefaults)                                                                        \
  F(avifRWDataFree)                                                                                 \
  F(avifResultToString)

COPENING(cavif_open, LIBRARY, FUNCTIONS)
COPENING_NOTE("avif", "recommended", "Reads and writes AVIF", LIBRARY)

static void report(avifResult result, const avifDiagnostics *diagnostics, cavif_outcome *outcome) {
  switch (result) {
  case AVIF_RESULT_OK: outcome->status = cavif_done; return;
  case AVIF_RESULT_OUT_OF_MEMORY: outcome->status = cavif_no_memory; break;
  case AVIF_RESULT_TRUNCATED_DATA: outcome->status = cavif_cut; break;
  case AVIF_RESULT_NO_CODEC_AVAILABLE:
  case AVIF_RESULT_NOT_IMPLEMENTED: outcome->status = cavif_refused; break;
  default: outcome->status = cavif_broken;
  }
  const char *words = diagnostics != NULL && diagnostics->error[0] != 0
                          ? diagnostics->error
                          : their_avifResultToString(result);
  snprintf(outcome->message, sizeof outcome->message, "%s", words);
}

// A part of `whole` that shares its planes. Returns NULL, and sets `result`, on failure.
static avifImage *view(const avifImage *whole, cavif_region region, avifResult *result) {
  const avifCropRect rect = {(uint32_t)region.x, (uint32_t)region.y, (uint32_t)region.width, (uint32_t)region.height};
  avifImage *part = their_avifImageCreateEmpty();
  *result = part == NULL ? AVIF_RESULT_OUT_OF_MEMORY : their_avifImageSetViewRect(part, whole, &rect);
  if (*result == AVIF_RESULT_OK) return part;
  if (part != NULL) their_avifImageDestroy(part);
  return NULL;
}

struct avifDecoder *cavif_parse(const uint8_t *bytes, size_t count, uint32_t pixels, uint32_t side,
                                cavif_header *header, cavif_outcome *outcome) {
  avifDecoder *decoder = their_avifDecoderCreate();
  if (decoder == NULL) {
    report(AVIF_RESULT_OUT_OF_MEMORY, NULL, outcome);
    return NULL;
  }
  // The estimate of the memory that a decoder takes is for dav1d.
  decoder->codecChoice = AVIF_CODEC_CHOICE_DAV1D;
  decoder->maxThreads = 1;
  decoder->imageSizeLimit = pixels;
  decoder->imageDimensionLimit = side;
  decoder->imageCountLimit = 65536;
  // Many programs omit boxes that are not needed here.
  decoder->strictFlags = AVIF_STRICT_DISABLED;
  avifResult parsed = their_avifDecoderSetIOMemory(decoder, bytes, count);
  if (parsed == AVIF_RESULT_OK) parsed = their_avifDecoderParse(decoder);
  report(parsed, &decoder->diag, outcome);
  if (parsed != AVIF_RESULT_OK) {
    their_avifDecoderDestroy(decoder);
    return NULL;
  }
  const avifImage *image = decoder->image;
  *header = (cavif_header){
      .width = image->width,
      .height = image->height,
      .aperture = {0, 0, image->width, image->height},
      .depth = image->depth,
      .angle = image->transformFlags & AVIF_TRANSFORM_IROT ? image->irot.angle & 3 : 0,
      .mirror = image->transformFlags & AVIF_TRANSFORM_IMIR ? image->imir.MIRROR & 1 : -1,
      .has_alpha = decoder->alphaPresent,
      .colour = {(int)image->yuvFormat, image->colorPrimaries, image->transferCharacteristics,
                 image->matrixCoefficients},
      .profile = {image->icc.data, image->icc.size},
      .exif = {image->exif.data, image->exif.size},
      .xmp = {image->xmp.data, image->xmp.size},
  };
  avifCropRect rect;
  avifDiagnostics ignored;
  if (image->transformFlags & AVIF_TRANSFORM_CLAP &&
      their_avifCropRectConvertCleanApertureBox(&rect, &image->clap, image->width, image->height,
                                                image->yuvFormat, &ignored)) {
    header->aperture = (cavif_region){rect.x, rect.y, rect.width, rect.height};
  }
  return decoder;
}

struct avifImage *cavif_decode(struct avifDecoder *decoder, cavif_region region, cavif_outcome *outcome) {
  avifImage *own = NULL;
  avifResult done = their_avifDecoderNextImage(decoder);
  if (done == AVIF_RESULT_OK) {
    avifImage *part = view(decoder->image, region, &done);
    if (part != NULL) {
      own = their_avifImageCreateEmpty();
      done = own == NULL ? AVIF_RESULT_OUT_OF_MEMORY : their_avifImageCopy(own, part, AVIF_PLANES_ALL);
      their_avifImageDestroy(part);
    }
  }
  report(done, &decoder->diag, outcome);
  if (done == AVIF_RESULT_OK) return own;
  if (own != NULL) their_avifImageDestroy(own);
  return NULL;
}

void cavif_decoder_free(struct avifDecoder *decoder) { their_avifDecoderDestroy(decoder); }

struct avifImage *cavif_image(size_t width, size_t height, long depth, int chroma, bool has_alpha) {
  avifImage *image = their_avifImageCreate((uint32_t)width, (uint32_t)height, (uint32_t)depth, (avifPixelFormat)chroma);
  if (image == NULL) return NULL;
  const avifPlanesFlags planes = has_alpha ? AVIF_PLANES_ALL : AVIF_PLANES_YUV;
  if (their_avifImageAllocatePlanes(image, planes) == AVIF_RESULT_OK) return image;
  their_avifImageDestroy(image);
  return NULL;
}

void cavif_describe(struct avifImage *image, cavif_colour colour, bool full_range, bool premultiplied) {
  image->yuvRange = full_range ? AVIF_RANGE_FULL : AVIF_RANGE_LIMITED;
  image->colorPrimaries = (avifColorPrimaries)colour.primaries;
  image->transferCharacteristics = (avifTransferCharacteristics)colour.transfer;
  image->matrixCoefficients = (avifMatrixCoefficients)colour.matrix;
  image->alphaPremultiplied = premultiplied;
}

cavif_plane cavif_plane_of(const struct avifImage *image, int plane) {
  return plane == 3 ? (cavif_plane){image->alphaPlane, image->alphaRowBytes}
                    : (cavif_plane){image->yuvPlanes[plane], image->yuvRowBytes[plane]};
}

void cavif_move(struct avifImage *image, size_t first, size_t count) {
  for (int index = 0; index < 4; index++) {
    const cavif_plane plane = cavif_plane_of(image, index);
    const bool is_half = (index == 1 || index == 2) && image->yuvFormat == AVIF_PIXEL_FORMAT_YUV420;
    if (plane.bytes == NULL) continue;
    memmove(plane.bytes, plane.bytes + (first >> is_half) * plane.stride, (count >> is_half) * plane.stride);
  }
}

// Describes rows of pixels for a conversion from or to the planes of `image`.
static avifRGBImage rows_of(const avifImage *image, cavif_pixels pixels) {
  avifRGBImage rgb;
  their_avifRGBImageSetDefaults(&rgb, image);
  rgb.depth = (uint32_t)pixels.depth;
  rgb.format = pixels.order == cavif_rgb    ? AVIF_RGB_FORMAT_RGB
               : pixels.order == cavif_rgba ? AVIF_RGB_FORMAT_RGBA
                                            : AVIF_RGB_FORMAT_BGRA;
  rgb.pixels = pixels.bytes;
  rgb.rowBytes = (uint32_t)pixels.stride;
  return rgb;
}

void cavif_convert(const struct avifImage *image, cavif_region region, cavif_pixels pixels, cavif_outcome *outcome) {
  avifResult done = AVIF_RESULT_UNSUPPORTED_DEPTH;
  avifImage *part = (image->depth > 8) == (pixels.depth > 8) ? view(image, region, &done) : NULL;
  if (part != NULL) {
    avifRGBImage rgb = rows_of(part, pixels);
    done = their_avifImageYUVToRGB(part, &rgb);
    their_avifImageDestroy(part);
  }
  report(done, NULL, outcome);
}

void cavif_image_free(struct avifImage *image) { their_avifImageDestroy(image); }

// Converts the next rows to samples in the planes of `image`, beginning with row `y`.
static avifResult add(avifImage *image, const cavif_encoding *encoding, uint8_t *bytes, size_t y, size_t count) {
  if (!encoding->next(encoding->context, bytes, (uint32_t)count)) return AVIF_RESULT_UNKNOWN_ERROR;
  avifResult done;
  avifImage *part = view(image, (cavif_region){0, y, encoding->width, count}, &done);
  if (part == NULL) return done;
  cavif_pixels pixels = encoding->rows;
  pixels.bytes = bytes;
  avifRGBImage rgb = rows_of(part, pixels);
  rgb.ignoreAlpha = pixels.order != cavif_rgba;
  // libavif's own conversion is exact. The conversion of libyuv is faster, but not exact.
  rgb.avoidLibYUV = encoding->lossless;
  done = their_avifImageRGBToYUV(part, &rgb);
  // libavif has marked the planes as owned by the part, but they are owned by `image`.
  part->imageOwnsYUVPlanes = part->imageOwnsAlphaPlane = AVIF_FALSE;
  their_avifImageDestroy(part);
  return done;
}

static void choose_quality(avifEncoder *encoder, const cavif_encoding *encoding) {
  encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
  encoder->maxThreads = 1;
  encoder->speed = 6;
  encoder->minQuantizer = 0;
  encoder->maxQuantizer = encoding->lossless ? 0 : 63;
  encoder->minQuantizerAlpha = encoder->maxQuantizerAlpha = 0;
  if (encoding->lossless) return;
  // Converts a quality to a quantizer, as libavif 1 does.
  char text[24];
  snprintf(text, sizeof text, "%ld", ((100 - encoding->quality) * 63 + 50) / 100);
  // "q" asks for a constant quality instead of a bit rate. Alpha keeps its own quantizers.
  their_avifEncoderSetCodecSpecificOption(encoder, "color:end-usage", "q");
  their_avifEncoderSetCodecSpecificOption(encoder, "color:cq-level", text);
}

cavif_bytes cavif_encode(const cavif_encoding *encoding, const uint8_t *profile, size_t profile_count,
                         const uint8_t *exif, size_t exif_count, const uint8_t *xmp, size_t xmp_count,
                         cavif_outcome *outcome) {
  avifRWData made = AVIF_DATA_EMPTY;
  avifResult done = AVIF_RESULT_OUT_OF_MEMORY;
  // An even number of rows is converted at a time, because two rows can share their chroma.
  const size_t most = 64;
  uint8_t *pixels = malloc(encoding->rows.stride * most);
  avifEncoder *encoder = their_avifEncoderCreate();
  avifImage *image = cavif_image(encoding->width, encoding->height, encoding->depth, encoding->colour.chroma,
                                 encoding->rows.order == cavif_rgba);
  if (pixels != NULL && encoder != NULL && image != NULL) {
    cavif_describe(image, encoding->colour, true, false);
    done = AVIF_RESULT_OK;
    for (size_t y = 0; y < encoding->height && done == AVIF_RESULT_OK; y += most) {
      const size_t left = encoding->height - y;
      done = add(image, encoding, pixels, y, left < most ? left : most);
    }
  }
  free(pixels);
  if (done == AVIF_RESULT_OK) {
    if (profile_count > 0) their_avifImageSetProfileICC(image, profile, profile_count);
    if (exif_count > 0) their_avifImageSetMetadataExif(image, exif, exif_count);
    if (xmp_count > 0) their_avifImageSetMetadataXMP(image, xmp, xmp_count);
    // The picture is upright already, even if its metadata says otherwise.
    image->transformFlags = AVIF_TRANSFORM_NONE;
    choose_quality(encoder, encoding);
    done = their_avifEncoderWrite(encoder, image, &made);
  }
  report(done, encoder == NULL ? NULL : &encoder->diag, outcome);
  if (encoder != NULL) their_avifEncoderDestroy(encoder);
  if (image != NULL) their_avifImageDestroy(image);
  return (cavif_bytes){made.data, made.size};
}

void cavif_bytes_free(cavif_bytes bytes) {
  avifRWData data = {bytes.bytes, bytes.count};
  their_avifRWDataFree(&data);
}
