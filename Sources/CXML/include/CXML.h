// libxml2's pull parser for XML and its push parser for HTML.
#ifndef LARDER_CXML_H
#define LARDER_CXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of the loaded library, with two digits for each number after the first: "20914" for 2.9.14.
const char *cxml_release(void);

typedef struct cxml_reader cxml_reader;

// The parser's next event. A document type declaration is refused, so there are no entities except the five of XML
// itself. So no entity is expanded into more text, and nothing is fetched.
enum {
  cxml_done = 0,
  cxml_element = 1,
  cxml_element_end = 2,
  cxml_text = 3,
  cxml_broken = 4,
  cxml_refused = 5
};

// Starts to read `bytes`, which must exist until the reader is freed. Returns NULL when there is no memory.
cxml_reader *cxml_start(const uint8_t *bytes, size_t count);

// Moves to the next event; comments and processing instructions are skipped.
int cxml_next(cxml_reader *reader);

// Parts of an element: its name without the prefix; the prefix or NULL; the namespace or NULL; and whether it has no
// end tag (`<a/>`).
const char *cxml_name(cxml_reader *reader);
const char *cxml_prefix(cxml_reader *reader);
const char *cxml_namespace(cxml_reader *reader);
bool cxml_is_empty(cxml_reader *reader);

// Moves to an element's next attribute; the first call moves to the first attribute. After the last attribute,
// returns false and moves back to the element.
bool cxml_next_attribute(cxml_reader *reader);

// An attribute's name, including its prefix.
const char *cxml_full_name(cxml_reader *reader);

// The characters of a text or an attribute, valid until the next call.
const char *cxml_characters(cxml_reader *reader);

// The number of the parser's current line, counted from 1.
int cxml_line(cxml_reader *reader);

void cxml_free(cxml_reader *reader);

typedef struct cxml_page cxml_page;

// The callbacks for the events of a page. They are called on the thread that pushes the page's bytes. Pointers in
// their arguments are valid only during the call.
typedef struct {
  void *context;
  // An element begins: its name in lower case, and its attributes, a name and a value or NULL in turn, ended by NULL;
  // NULL for none.
  void (*start)(void *context, const char *name, const char *const *attributes);
  // An element ends: by its tag, by the markup after it, or with the page.
  void (*end)(void *context, const char *name);
  // Called with characters in UTF-8. Entities are decoded, except in scripts. A text may be delivered in pieces.
  void (*text)(void *context, const uint8_t *bytes, size_t count);
} cxml_page_handler;

// Starts to read a page of HTML, which may be malformed. The handler must exist until the page is freed. If
// `is_utf8`, the page is read as UTF-8, even if it names another encoding. Otherwise it is read in the encoding that
// it names. Returns NULL when there is no memory.
cxml_page *cxml_page_start(const cxml_page_handler *handler, bool is_utf8);

// Reads the next bytes. A tag, or a text outside of scripts, is reported only after all of its bytes were pushed.
void cxml_page_push(cxml_page *page, const uint8_t *bytes, size_t count);

// Reads the rest of the page, and ends the open elements.
void cxml_page_end(cxml_page *page);

void cxml_page_free(cxml_page *page);

#endif
