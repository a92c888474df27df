// libxml2's pull parser, opened when the first feed in XML is read rather than when the program starts.
#ifndef LARDER_CXML_H
#define LARDER_CXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Opens the library; safe from any thread; later calls cost nothing. NULL when it is there, else the
// dynamic loader's words, which stay valid. Before, no other function may be called.
const char *cxml_open(void);

typedef struct cxml_reader cxml_reader;

// What the parser came to. A document type is refused, and with it every entity but the five of XML itself: nothing
// is expanded, and nothing is fetched.
enum {
  cxml_done = 0,
  cxml_element = 1,
  cxml_element_end = 2,
  cxml_text = 3,
  cxml_broken = 4,
  cxml_refused = 5
};

// Starts to read `bytes`, which have to stay until the reader is freed. NULL when memory is out.
cxml_reader *cxml_start(const uint8_t *bytes, size_t count);

// Moves to the next node, skipping comments and the like.
int cxml_next(cxml_reader *reader);

// For an element: its name without prefix, its namespace or NULL, and whether it has no end tag (`<a/>`).
const char *cxml_name(cxml_reader *reader);
const char *cxml_namespace(cxml_reader *reader);
bool cxml_is_empty(cxml_reader *reader);

// An element's attribute; NULL when it has none of that name. Valid until the next call.
const char *cxml_attribute(cxml_reader *reader, const char *name);

// The characters of a text.
const char *cxml_characters(cxml_reader *reader);

// The line that the parser has come to, from 1.
int cxml_line(cxml_reader *reader);

void cxml_free(cxml_reader *reader);

#endif
