#include "codec.h"

#include "COpening.h"

#include <stdio.h>

COPENING(cavif_open, LIBRARY, FUNCTIONS)
COPENING_NOTE("avif", "recommended", "Reads and writes AVIF", LIBRARY)

int cavif_outcome_of(avifResult result, const avifDiagnostics *diagnostics, cavif_outcome *outcome) {
  if (result == AVIF_RESULT_OK) return cavif_done;
  const char *words = diagnostics != NULL && diagnostics->error[0] != 0
                          ? diagnostics->error
                          : their_avifResultToString(result);
  snprintf(outcome->message, sizeof outcome->message, "%s", words);
  switch (result) {
  case AVIF_RESULT_OUT_OF_MEMORY: return cavif_no_memory;
  case AVIF_RESULT_TRUNCATED_DATA: return cavif_cut;
  case AVIF_RESULT_NO_CODEC_AVAILABLE:
  case AVIF_RESULT_NOT_IMPLEMENTED: return cavif_refused;
  default: return cavif_broken;
  }
}
