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

// Frees a parsed text. Its values must not be used afterwards.
void larder_json_free(larder_json *json);

// The outermost value of a text.
larder_json_value larder_json_root(const larder_json *json);

// The kind of a value. A whole number that fits uint64_t but not int64_t is UNSIGNED.
larder_json_kind larder_json_kind_of(larder_json_value value);

// The number in a value of kind INTEGER.
int64_t larder_json_integer(larder_json_value value);

// The number in a value of kind UNSIGNED.
uint64_t larder_json_unsigned(larder_json_value value);

// The number in a value of kind REAL.
double larder_json_real(larder_json_value value);

// The Boolean in a value of kind BOOLEAN.
bool larder_json_boolean(larder_json_value value);

// The text of a string in UTF-8. Its length in bytes is written to `count`. Returns NULL if the value is not a string.
const char *larder_json_string(larder_json_value value, size_t *count);

// Finds the member of an object that has the given name. If there are several, it is the last one. Returns false if
// there is none.
bool larder_json_find(larder_json_value object, const char *name, size_t count,
                      larder_json_value *member);

// Finds the element of an array at an index. Returns false if there is none. The elements before it are skipped one by
// one.
bool larder_json_element(larder_json_value array, size_t index, larder_json_value *element);

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
