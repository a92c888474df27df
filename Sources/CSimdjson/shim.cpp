#define SIMDJSON_EXCEPTIONS 0
#include "CSimdjson.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <simdjson.h>
#include <string_view>
#include <type_traits>

using namespace simdjson;

struct larder_json {
  dom::document document;
  // The parser is freed after it has parsed a large text, because it needs memory of at least half the size of the
  // text.
  std::unique_ptr<dom::parser> parser;
};

namespace {
// The text that was freed last, unless it was large. The next text reuses its memory. A large response is parsed in
// many parts of about 2 MiB. Allocating memory for each part took a tenth of the time.
std::atomic<larder_json *> spare{nullptr};
// The maximum capacity in bytes of a freed text that is kept for reuse.
constexpr size_t most_spared = 3 << 20;

static_assert(sizeof(dom::element) == sizeof(larder_json_value));
static_assert(std::is_trivially_copyable<dom::element>::value);

larder_json_value pack(const dom::element &element) {
  larder_json_value value;
  std::memcpy(&value, &element, sizeof value);
  return value;
}

dom::element unpack(larder_json_value value) {
  dom::element element;
  std::memcpy(static_cast<void *>(&element), &value, sizeof value);
  return element;
}

// Whether the text ends with enough spaces. simdjson reads some bytes beyond the end of a text. If there are no such
// spaces, it copies the text to a larger buffer.
bool has_padding(const char *text, size_t count) {
  return count >= SIMDJSON_PADDING &&
         std::all_of(text + count - SIMDJSON_PADDING, text + count, [](char c) { return c == ' '; });
}

bool parse(larder_json &json, const char *text, size_t count, size_t depth_limit) {
  if (!json.parser) json.parser.reset(new (std::nothrow) dom::parser);
  if (!json.parser) return false;
  const bool is_padded = has_padding(text, count);
  if (is_padded) count -= SIMDJSON_PADDING;
  // Unlike `depth_limit`, simdjson counts the outermost value as a level.
  const size_t depth = depth_limit + 1;
  if ((json.parser->capacity() < count || json.parser->max_depth() != depth) &&
      json.parser->allocate(std::max(count, json.parser->capacity()), depth) != SUCCESS)
    return false;
  return json.parser->parse_into_document(json.document, text, count, !is_padded).error() == SUCCESS;
}
} // namespace

extern "C" larder_json *larder_json_parse(const char *text, size_t count, size_t depth_limit) {
  auto json = spare.exchange(nullptr);
  if (json == nullptr) json = new (std::nothrow) larder_json;
  if (json == nullptr) return nullptr;
  if (!parse(*json, text, count, depth_limit)) {
    delete json;
    return nullptr;
  }
  if (json->document.capacity() > most_spared) json->parser.reset();
  return json;
}

extern "C" bool larder_json_has_nul(const char *text, size_t count) {
  return memmem(text, count, "\\u0000", 6) != nullptr;
}

extern "C" void larder_json_free(larder_json *json) {
  if (json->document.capacity() <= most_spared) json = spare.exchange(json);
  delete json;
}

extern "C" larder_json_value larder_json_root(const larder_json *json) {
  return pack(json->document.root());
}

extern "C" larder_json_content larder_json_read(larder_json_value value) {
  larder_json_content content{};
  const dom::element element = unpack(value);
  switch (element.type()) {
  case dom::element_type::ARRAY: content.kind = LARDER_JSON_ARRAY; break;
  case dom::element_type::OBJECT: content.kind = LARDER_JSON_OBJECT; break;
  case dom::element_type::INT64:
    content.kind = LARDER_JSON_INTEGER;
    (void)element.get(content.integer);
    break;
  case dom::element_type::UINT64:
    content.kind = LARDER_JSON_UNSIGNED;
    (void)element.get(content.whole);
    break;
  case dom::element_type::DOUBLE:
    content.kind = LARDER_JSON_REAL;
    (void)element.get(content.real);
    break;
  case dom::element_type::STRING: {
    std::string_view text;
    (void)element.get(text);
    content.kind = LARDER_JSON_STRING;
    content.text = text.data();
    content.count = text.size();
    break;
  }
  case dom::element_type::BOOL:
    content.kind = LARDER_JSON_BOOLEAN;
    (void)element.get(content.boolean);
    break;
  default: break;
  }
  return content;
}

extern "C" bool larder_json_find(larder_json_value value, const char *name, size_t count,
                                 larder_json_value *member) {
  dom::object object;
  if (unpack(value).get(object) != SUCCESS) return false;
  bool found = false;
  const std::string_view wanted(name, count);
  for (auto field = object.begin(); field != object.end(); ++field) {
    if (field.key_length() == count && field.key() == wanted) {
      *member = pack(field.value());
      found = true;
    }
  }
  return found;
}

extern "C" size_t larder_json_count(larder_json_value value) {
  dom::array array;
  dom::object object;
  size_t count = 0;
  // simdjson stores a count in 24 bits. If all of them are set, there may be more elements or members.
  if (unpack(value).get(array) == SUCCESS) {
    if (array.size() < 0xFFFFFF) return array.size();
    for (auto element = array.begin(); element != array.end(); ++element) count++;
  } else if (unpack(value).get(object) == SUCCESS) {
    if (object.size() < 0xFFFFFF) return object.size();
    for (auto member = object.begin(); member != object.end(); ++member) count++;
  }
  return count;
}

extern "C" size_t larder_json_elements(larder_json_value value, larder_json_value *elements,
                                       size_t count) {
  dom::array array;
  if (unpack(value).get(array) != SUCCESS) return 0;
  size_t written = 0;
  for (auto element = array.begin(); element != array.end() && written < count; ++element) {
    elements[written++] = pack(*element);
  }
  return written;
}

extern "C" size_t larder_json_members(larder_json_value value, larder_json_member *members,
                                      size_t count) {
  dom::object object;
  if (unpack(value).get(object) != SUCCESS) return 0;
  size_t written = 0;
  for (auto field = object.begin(); field != object.end() && written < count; ++field) {
    const std::string_view name = field.key();
    members[written++] = {name.data(), name.size(), pack(field.value())};
  }
  return written;
}
