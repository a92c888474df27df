#include "library.h"

#include "CPNG.h"
#include "COpening.h"

#define POINTER(name) __typeof__(their_##name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cpng_open, LIBRARY, functions)

void cpng_release(int *built, int *found) {
  *built = PNG_LIBPNG_VER;
  *found = (int)png_access_version_number();
}

COPENING_NOTE("png", "recommended", "Reads and writes PNG", LIBRARY)
