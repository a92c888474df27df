#ifndef LARDER_CSIMDJSON_H
#define LARDER_CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A C interface to the parsed documents of simdjson. It is needed because simdjson is in C++, which Swift imports only
// with C++ interoperability.

#ifdef __cplusplus
extern "C" {
#endif

// A JSON text that has been parsed.
typedef struct larder_json larder_json;

// A value in a parsed text. It is a copy of simdjson's own type for values, and only simdjson reads the words.
typedef struct {
  uintptr_t words[2];
} larder_json_value;

typedef enum {
  LARDER_JSON_NULL,
  LARDER_JSON_BOOLEAN,
  LARDER_JSON_INTEGER,
  LARDER_JSON_UNSIGNED,
  LARDER_JSON_REAL,
  LARDER_JSON_STRING,
  LARDER_JSON_ARRAY,
  LARDER_JSON_OBJECT,
} larder_json_kind;

// Parses a text that contains one value. Returns NULL if simdjson refuses the text, or if there is no memory.
larder_json *larder_json_parse(const char *text, size_t count, size_t depth_limit);

// Whether a text can have the escape of U+0000. memmem is declared only for _GNU_SOURCE.
bool larder_json_has_nul(const char *text, size_t count);

// Frees a parsed text. Its values must not be used afterwards.
void larder_json_free(larder_json *json);

// The outermost value of a text.
larder_json_value larder_json_root(const larder_json *json);

// The kind of a value and, if it is neither an array nor an object, its content.
typedef struct {
  // A whole number that fits uint64_t but not int64_t is UNSIGNED.
  larder_json_kind kind;
  union {
    int64_t integer;
    uint64_t whole;
    double real;
    bool boolean;
    // A string in UTF-8. It is valid until the parsed text is freed.
    const char *text;
  };
  // The length of the string in bytes.
  size_t count;
} larder_json_content;

// Reads a value.
larder_json_content larder_json_read(larder_json_value value);

// Finds the member of an object that has the given name. If there are several, it is the last one. Returns false if
// there is none.
bool larder_json_find(larder_json_value object, const char *name, size_t count,
                      larder_json_value *member);

// The number of elements of an array, or of members of an object. Members with the same name are all counted.
size_t larder_json_count(larder_json_value value);

// Writes the elements of an array to `elements`, but at most `count` of them. Returns the number of written elements.
size_t larder_json_elements(larder_json_value array, larder_json_value *elements, size_t count);

// A member of an object. Its name is in UTF-8 and has `count` bytes. It is valid until the parsed text is freed.
typedef struct {
  const char *name;
  size_t count;
  larder_json_value value;
} larder_json_member;

// Writes the members of an object to `members`, but at most `count` of them. Returns the number of written members.
size_t larder_json_members(larder_json_value object, larder_json_member *members, size_t count);

#ifdef __cplusplus
}
#endif

#endif
