// Opens a library when it is first needed, for those that some runs do without: a program that links a library pays
// for it at every start.
#ifndef LARDER_COPENING_H
#define LARDER_COPENING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

// A function of the library, and the pointer that it goes into.
typedef struct {
  const char *name;
  void **place;
} copening_function;

// Opens `library` and finds all functions. NULL when they are there, else why not: a text of
// its own that is never freed.
const char *copening_find(const char *library, const copening_function *functions, size_t count);

// Defines `opener(void)`, which does so once a process, from any thread.
#define COPENING_ONCE(opener, library, functions)                                                   \
  static const char *opener##_failure;                                                              \
  static void opener##_once(void) {                                                                 \
    opener##_failure = copening_find(library, functions, sizeof functions / sizeof *functions);     \
  }                                                                                                 \
  const char *opener(void) {                                                                        \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                                                 \
    pthread_once(&once, opener##_once);                                                             \
    return opener##_failure;                                                                        \
  }

// Defines each function of a list by its own name, which passes calls on to the library's, and `functions`, the table of
// them. The list calls its argument with result, name, parameters and arguments of each.
#define COPENING_FORWARDED(list)                                                                    \
  list(COPENING_POINTER) list(COPENING_CALL)                                                        \
      static const copening_function functions[] = {list(COPENING_ENTRY)};
#define COPENING_POINTER(result, name, parameters, arguments) static __typeof__(&name) their_##name;
#define COPENING_CALL(result, name, parameters, arguments)                                          \
  result name parameters { return their_##name arguments; }
#define COPENING_ENTRY(result, name, parameters, arguments) {#name, (void **)&their_##name},

// Tells packagers what is opened, as the dynamic section no longer does: "required", or "recommended" where larder says
// what is missing and goes on.
// (https://uapi-group.org/specifications/specs/elf_dlopen_metadata/)
#define COPENING_NOTE(feature, priority, description, library)                                      \
  COPENING_WORDS("[{\"feature\":\"" feature "\",\"description\":\"" description                    \
                 "\",\"priority\":\"" priority "\",\"soname\":[\"" library "\"]}]")
#define COPENING_WORDS(text)                                                                        \
  __attribute__((used, aligned(4), section(".note.dlopen"))) static const struct {                  \
    uint32_t name_size, size, type;                                                                 \
    char name[4];                                                                                   \
    char words[(sizeof text + 3) / 4 * 4];                                                          \
  } note = {4, sizeof text, 0x407c0c0a, "FDO", text};

#endif
