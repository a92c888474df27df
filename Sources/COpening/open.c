#define _GNU_SOURCE
#include "COpening.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *copening_find(const char *library, const copening_function *functions, size_t count) {
  void *opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (opened == NULL) {
    // The text is copied, because dlerror frees it when the thread's next dlopen fails.
    const char *words = dlerror();
    char *copy = words == NULL ? NULL : strdup(words);
    return copy == NULL ? "the library cannot be opened" : copy;
  }
  for (size_t place = 0; place < count; place++) {
    *functions[place].place = dlsym(opened, functions[place].name);
    if (*functions[place].place != NULL) continue;
    char *words;
    int length = asprintf(&words, "%s has no function %s", library, functions[place].name);
    return length < 0 ? "a function is missing in the library" : words;
  }
  return NULL;
}
