#include "codec.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define POINTER(name) __typeof__(&name) their_##name;
FUNCTIONS(POINTER)

static const char *failure;

static void open_library(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    failure = dlerror();
    return;
  }
#define FIND(name)                                                                                  \
  if ((*(void **)&their_##name = dlsym(library, #name)) == NULL) {                                  \
    failure = "there is no " #name " in " LIBRARY;                                                  \
    return;                                                                                         \
  }
  FUNCTIONS(FIND)
}

const char *cavif_open(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  return failure;
}

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

// Tells packagers what is opened, as the dynamic section no longer does.
// (https://uapi-group.org/specifications/specs/elf_dlopen_metadata/)
#define WORDS                                                                                       \
  "[{\"feature\":\"avif\",\"description\":\"Reads and writes AVIF\","                               \
  "\"priority\":\"recommended\",\"soname\":[\"" LIBRARY "\"]}]"
__attribute__((used, aligned(4), section(".note.dlopen"))) static const struct {
  uint32_t name_size, size, type;
  char name[4];
  char words[(sizeof WORDS + 3) / 4 * 4];
} note = {4, sizeof WORDS, 0x407c0c0a, "FDO", WORDS};
