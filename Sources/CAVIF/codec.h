// The functions of libavif that read.c and write.c call. They are looked up when the library is opened.
#ifndef LARDER_CAVIF_CODEC_H
#define LARDER_CAVIF_CODEC_H

#include <avif/avif.h>

#include "CAVIF.h"
#include "COpening.h"

#if AVIF_VERSION < 110100
#error "libavif 0.11.1 or later is needed"
#endif

// The soname of the libavif whose headers are used. libavif changes the soname whenever its interface changes.
#if AVIF_VERSION_MAJOR >= 1
#define LIBRARY "libavif.so.16"
#else
#define LIBRARY "libavif.so.15"
#endif

#define FUNCTIONS(F)                                                                                \
  F(avifCodecName)                                                                                  \
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

FUNCTIONS(COPENING_DECLARED)

// Writes a result of libavif, with its message, to an outcome.
__attribute__((visibility("hidden"))) int cavif_outcome_of(avifResult result,
                                                           const avifDiagnostics *diagnostics,
                                                           cavif_outcome *outcome);

#endif
