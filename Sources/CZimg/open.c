#include "library.h"

#include "CZimg.h"
#include "COpening.h"

#define POINTER(name) __typeof__(their_##name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(czimg_open, LIBRARY, functions)

void czimg_interface(int *built, int *found) {
  *built = ZIMG_API_VERSION;
  *found = (int)zimg_get_api_version(NULL, NULL);
}

COPENING_NOTE("scaling", "recommended", "Makes pictures larger and smaller", LIBRARY)
