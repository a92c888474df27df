// A C interface to two parsers of libxml2: one that reads an XML document event by event, and one that reads an HTML
// page piece by piece.
#ifndef LARDER_CXML_H
#define LARDER_CXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A parser of one XML document.
typedef struct cxml_reader cxml_reader;

// The results of `cxml_next`. A document type declaration is refused, so the only entities are the five of XML itself,
// such as `&amp;`. Therefore no entity is expanded into a longer text, and nothing is fetched.
enum {
  cxml_done = 0,
  cxml_element = 1,
  cxml_element_end = 2,
  cxml_text = 3,
  cxml_broken = 4,
  cxml_refused = 5
};

// Starts to read an XML document. Its bytes must exist until the reader is freed. Returns NULL if there is no memory.
cxml_reader *cxml_start(const uint8_t *bytes, size_t count);

// Moves to the next event, and returns its kind. Comments and processing instructions are skipped.
int cxml_next(cxml_reader *reader);

// The name of the current element, without its prefix.
const char *cxml_name(cxml_reader *reader);

// The prefix of the current element's name, or NULL if it has none.
const char *cxml_prefix(cxml_reader *reader);

// The URL of the current element's namespace, or NULL if it has none.
const char *cxml_namespace(cxml_reader *reader);

// Whether the current element has no end tag, as `<a/>`.
bool cxml_is_empty(cxml_reader *reader);

// Moves to the next attribute of the current element. The first call moves to the first attribute. If there are no
// more attributes, moves back to the element and returns false.
bool cxml_next_attribute(cxml_reader *reader);

// The name of the current attribute, with its prefix.
const char *cxml_full_name(cxml_reader *reader);

// The characters of the current text or attribute. They are valid until the next call.
const char *cxml_characters(cxml_reader *reader);

// The number of the parser's current line, counted from 1.
int cxml_line(cxml_reader *reader);

void cxml_free(cxml_reader *reader);

// A parser of one HTML page.
typedef struct cxml_page cxml_page;

// Functions that the parser calls for the events of a page, on the thread that pushes the bytes of the page. Pointers
// in their arguments are valid only during the call.
typedef struct {
  void *context;
  // An element begins. Its name is in lower case. `attributes` has pointers to a name, its value, the next name, its
  // value, and so on. A value may be NULL, and NULL follows the last value. If there are no attributes, it is NULL.
  void (*start)(void *context, const char *name, const char *const *attributes);
  // An element ends. It may end without an end tag, for example at the end of the page.
  void (*end)(void *context, const char *name);
  // There is a text in UTF-8. Entities are decoded, except in scripts. A text may come in several pieces.
  void (*text)(void *context, const uint8_t *bytes, size_t count);
} cxml_page_handler;

// Starts to read an HTML page. Its markup may be broken. The handler must exist until the page is freed. If `is_utf8`
// is true, the page is read as UTF-8, even if it names another encoding. Otherwise it is read in the encoding that it
// names. Returns NULL if there is no memory.
cxml_page *cxml_page_start(const cxml_page_handler *handler, bool is_utf8);

// Reads the next bytes. A tag is reported after all of its bytes have been pushed, and so is a text outside of scripts.
void cxml_page_push(cxml_page *page, const uint8_t *bytes, size_t count);

// Reads the rest of the page, and ends the elements that are still open.
void cxml_page_end(cxml_page *page);

void cxml_page_free(cxml_page *page);

#endif
