// What reading and writing share.
#ifndef LARDER_CAVIF_CODEC_H
#define LARDER_CAVIF_CODEC_H

#include <avif/avif.h>

#include "CAVIF.h"

#if AVIF_VERSION < 110100
#error "libavif 0.11.1 or later is needed"
#endif

// What a result of libavif's means to the caller, with its words.
__attribute__((visibility("hidden"))) int cavif_outcome_of(avifResult result,
                                                           const avifDiagnostics *diagnostics,
                                                           cavif_outcome *outcome);

#endif
