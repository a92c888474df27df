// A C interface to two parsers of libxml2: one that reads an XML document event by event, and one that reads an HTML
// page piece by piece.
#ifndef LARDER_CXML_H
#define LARDER_CXML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// These types and functions of libxml2 are declared here because its headers are in a folder that only pkg-config knows,
// and a package that other packages depend on cannot add such a folder in SwiftPM. The declarations have been the same
// since libxml2 2.6. (libxml/xmlreader.h)
typedef unsigned char xmlChar;
typedef struct _xmlTextReader *xmlTextReaderPtr;

// The current element's name without its prefix, and the URL of its namespace, which can be NULL.
const xmlChar *xmlTextReaderConstLocalName(xmlTextReaderPtr);
const xmlChar *xmlTextReaderConstNamespaceUri(xmlTextReaderPtr);
// Returns 1 if the current element has no end tag, as `<a/>`.
int xmlTextReaderIsEmptyElement(xmlTextReaderPtr);
// Moves to the next attribute of the current element, and returns 1 if there is one. The first call moves to the first
// attribute.
int xmlTextReaderMoveToNextAttribute(xmlTextReaderPtr);
// Moves from an attribute back to its element.
int xmlTextReaderMoveToElement(xmlTextReaderPtr);
// The name of the current element or attribute, with its prefix.
const xmlChar *xmlTextReaderConstName(xmlTextReaderPtr);
// The characters of the current text or attribute. They are valid until the next call.
const xmlChar *xmlTextReaderConstValue(xmlTextReaderPtr);
// The number of the parser's current line, counted from 1.
int xmlTextReaderGetParserLineNumber(xmlTextReaderPtr);
void xmlFreeTextReader(xmlTextReaderPtr);

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
xmlTextReaderPtr cxml_start(const uint8_t *bytes, size_t count);

// Moves to the next event, and returns its kind. Comments and processing instructions are skipped.
int cxml_next(xmlTextReaderPtr reader);

// The reason of the last `cxml_broken` on this thread, in English, with a line break at its end; or NULL. It can have
// names of the document's elements in it.
const char *cxml_fault(void);

// A parser of one HTML page.
typedef struct cxml_page cxml_page;

// The parser calls these functions for the events of a page, on the thread that pushes the bytes of the page. Pointers
// in their arguments are valid only during the call.
//
// An element begins. Its name is in lower case. `attributes` has pointers to a name, its value, the next name, its
// value, and so on. A value may be NULL, and NULL follows the last value. If there are no attributes, it is NULL.
typedef void (*cxml_page_start_handler)(void *context, const xmlChar *name, const xmlChar **attributes);
// An element ends. It may end without an end tag, for example at the end of the page.
typedef void (*cxml_page_end_handler)(void *context, const xmlChar *name);
// There is a text in UTF-8. Entities are decoded, except in scripts. A text may come in several pieces.
typedef void (*cxml_page_text_handler)(void *context, const xmlChar *bytes, int count);

// Starts to read an HTML page. Its markup may be broken. The context must exist until the page is freed. If `is_utf8`
// is true, the page is read as UTF-8, even if it names another encoding. Otherwise it is read in the encoding that it
// names. Returns NULL if there is no memory.
cxml_page *cxml_page_start(void *context, cxml_page_start_handler start, cxml_page_end_handler end,
                           cxml_page_text_handler text, bool is_utf8);

// Reads the next bytes. A tag is reported after all of its bytes have been pushed, and so is a text outside of scripts.
void cxml_page_push(cxml_page *page, const uint8_t *bytes, size_t count);

// Reads the rest of the page, and ends the elements that are still open.
void cxml_page_end(cxml_page *page);

void cxml_page_free(cxml_page *page);

#endif
