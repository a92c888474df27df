#include "library.h"

#include "CJPEG.h"
#include "COpening.h"

#define POINTER(name) __typeof__(their_##name) their_##name;
FUNCTIONS(POINTER)

#define ENTRY(name) {#name, (void **)&their_##name},
static const copening_function functions[] = {FUNCTIONS(ENTRY)};
COPENING_ONCE(cjpeg_open, LIBRARY, functions)

COPENING_NOTE("jpeg", "recommended", "Reads and writes JPEG", LIBRARY)
