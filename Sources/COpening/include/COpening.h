// Opens a library (dlopen) when it is first needed. This is used for libraries that need many others. Loading them at
// every start of larder would make the start take half as long again.
#ifndef LARDER_COPENING_H
#define LARDER_COPENING_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

// The name of a library's function, and the pointer that receives its address.
typedef struct {
  const char *name;
  void **place;
} copening_function;

// Opens `library` and looks up all functions. Returns NULL on success, and otherwise an error message that stays valid.
const char *copening_find(const char *library, const copening_function *functions, size_t count);

// Declares the pointer `their_NAME` of a function, for the other files of a module. Pass this macro to the list of
// functions.
#define COPENING_DECLARED(name, ...) extern COPENING_HIDDEN __typeof__(&name) their_##name;
#define COPENING_HIDDEN __attribute__((visibility("hidden")))

// Defines a pointer `their_NAME` for each function of a list. Also defines `opener(void)`, which looks them up once in
// a process and is thread-safe. The list is a macro that takes another macro, and calls it with the name of each
// function and with further arguments that the file may use.
#define COPENING(opener, library, list)                                                             \
  list(COPENING_POINTER)                                                                            \
  static const copening_function opener##_functions[] = {list(COPENING_ENTRY)};                     \
  static const char *opener##_failure;                                                              \
  static void opener##_once(void) {                                                                 \
    opener##_failure = copening_find(library, opener##_functions,                                   \
                                     sizeof opener##_functions / sizeof *opener##_functions);       \
  }                                                                                                 \
  const char *opener(void) {                                                                        \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                                                 \
    pthread_once(&once, opener##_once);                                                             \
    return opener##_failure;                                                                        \
  }
#define COPENING_POINTER(name, ...) COPENING_HIDDEN __typeof__(&name) their_##name;
#define COPENING_ENTRY(name, ...) {#name, (void **)&their_##name},

// Records in the program file which library it opens, for packaging tools, because the dynamic section does not list
// the library. `priority` is "required", or "recommended" if larder reports a missing library and continues without it.
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
