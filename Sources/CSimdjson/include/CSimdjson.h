#ifndef LARDER_CSIMDJSON_H
#define LARDER_CSIMDJSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A C interface to simdjson's document tree. simdjson is C++, which Swift cannot import without C++ interoperability.

#ifdef __cplusplus
extern "C" {
#endif

// A parsed text.
typedef struct larder_json larder_json;

// A value in a parsed text: a copy of simdjson's element, whose contents only simdjson reads.
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

// Parses a text that contains one value; returns NULL when simdjson refuses the text, for any reason.
larder_json *larder_json_parse(const char *text, size_t count, size_t depth_limit);

// Frees a parsed text; its values are invalid afterwards.
void larder_json_free(larder_json *json);

// The outermost value of a text.
larder_json_value larder_json_root(const larder_json *json);

// The kind of a value. A whole number is UNSIGNED only if it fits uint64_t but not int64_t.
larder_json_kind larder_json_kind_of(larder_json_value value);

// The number in a value of kind INTEGER.
int64_t larder_json_integer(larder_json_value value);

// The number in a value of kind UNSIGNED.
uint64_t larder_json_unsigned(larder_json_value value);

// The number in a value of kind REAL.
double larder_json_real(larder_json_value value);

// The Boolean in a value of kind BOOLEAN.
bool larder_json_boolean(larder_json_value value);

// The UTF-8 of a string, and its length in bytes; NULL if the value is not a string.
const char *larder_json_string(larder_json_value value, size_t *count);

// Finds the last member of an object with a name; returns false when there is none.
bool larder_json_find(larder_json_value object, const char *name, size_t count,
                      larder_json_value *member);

// Finds the element at an index, starting from the first element; returns false when there is none.
bool larder_json_element(larder_json_value array, size_t index, larder_json_value *element);

// The number of elements of an array, or of members of an object; repeated names are counted each time.
size_t larder_json_count(larder_json_value value);

// Writes the first `count` elements of an array to `elements`; returns the number that it wrote.
size_t larder_json_elements(larder_json_value array, larder_json_value *elements, size_t count);

// A member of an object. The name is UTF-8 in simdjson's memory, and valid until the text is freed.
typedef struct {
  const char *name;
  size_t count;
  larder_json_value value;
} larder_json_member;

// Writes the first `count` members of an object to `members`; returns the number that it wrote.
size_t larder_json_members(larder_json_value object, larder_json_member *members, size_t count);

#ifdef __cplusplus
}
#endif

#endif
