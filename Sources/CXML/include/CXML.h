// A C interface to two parsers of libxml2: one that reads a small XML document event by event, and one that reads an XML
// document or an HTML page piece by piece.
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

// The current element's name without its prefix.
const xmlChar *xmlTextReaderConstLocalName(xmlTextReaderPtr);
// Returns 1 if the current element has no end tag, as `<a/>`.
int xmlTextReaderIsEmptyElement(xmlTextReaderPtr);
// The characters of the current text. They are valid until the next call.
const xmlChar *xmlTextReaderConstValue(xmlTextReaderPtr);
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

// A parser of one XML document or HTML page, which gets the bytes piece by piece.
typedef struct {
  struct _xmlParserCtxt *state;
  bool is_html;
} cxml_parser;

typedef enum {
  // XML in the encoding that the document names.
  cxml_xml,
  // XML or HTML in UTF-8, even if the document names another encoding.
  cxml_xml_in_utf8,
  cxml_html
} cxml_language;

// The parser calls these functions for the events of a document, on the thread that pushes the bytes. Pointers in their
// arguments are valid only during the call.
//
// An element begins. Its name has the prefix of the document, and is in lower case in HTML. `attributes` has pointers to a
// name, its value, the next name, its value, and so on. A value may be NULL, and NULL follows the last value. If there
// are no attributes, it is NULL.
typedef void (*cxml_start_handler)(void *context, const xmlChar *name, const xmlChar **attributes);
// An element ends, or there is a reference to an entity that is not one of XML or HTML itself.
typedef void (*cxml_name_handler)(void *context, const xmlChar *name);
// There is a text in UTF-8. Entities are decoded, except in scripts. A text may come in several pieces.
typedef void (*cxml_text_handler)(void *context, const xmlChar *bytes, int count);
// The document has been read to its end.
typedef void (*cxml_handler)(void *context);
// The document type declares an entity.
typedef void (*cxml_entity_handler)(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                                    const xmlChar *system_id, xmlChar *content);

typedef struct {
  cxml_start_handler start;
  // An element ends. In a page, it may end without an end tag, for example at the end of the page.
  cxml_name_handler end;
  cxml_text_handler text;
  cxml_entity_handler entity;
  cxml_name_handler reference;
  // A document that is not well-formed, or has bytes that are not of its encoding, has not been read to its end.
  cxml_handler whole;
} cxml_handlers;

// Starts to read a document. The markup of a page may be broken. The context must exist until the parser is freed. The
// state is NULL if there is no memory.
cxml_parser cxml_parser_start(const cxml_handlers *handlers, void *context, cxml_language language);

// Reads the next bytes. A tag is reported after all of its bytes have been pushed.
void cxml_parser_push(cxml_parser parser, const uint8_t *bytes, size_t count);

// Reads the rest of the document. In a page, this ends the elements that are still open.
void cxml_parser_end(cxml_parser parser);

// Reads nothing more, even if bytes are pushed.
void cxml_parser_stop(cxml_parser parser);

// The number of the current line, counted from 1.
int cxml_parser_line(cxml_parser parser);

// The reason why an XML document is not well-formed, in English, with a line break at its end, and its line; or NULL. It
// can have names of the document's elements in it.
const char *cxml_parser_fault(cxml_parser parser, int *line);

void cxml_parser_free(cxml_parser parser);

#endif
