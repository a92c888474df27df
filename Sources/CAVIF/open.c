#include "codec.h"

#include "COpening.h"

#include <stdio.h>

#define POINTER(name) __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cavif_open, LIBRARY, functions)

void cavif_release(int *built, int *found) {
  int major = 0, minor = 0, patch = 0;
  sscanf(their_avifVersion(), "%d.%d.%d", &major, &minor, &patch);
  *built = AVIF_VERSION_MAJOR * 10000 + AVIF_VERSION_MINOR * 100 + AVIF_VERSION_PATCH;
  *found = major * 10000 + minor * 100 + patch;
}

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

COPENING_NOTE("avif", "recommended", "Reads and writes AVIF", LIBRARY)
