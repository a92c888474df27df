#include "CXML.h"

#include <limits.h>

// These types and functions are declared here because libxml2's headers are in a folder that only pkg-config knows; see
// CXML.h. The layout of the handlers has been the same since libxml2 2.6. (libxml/parser.h, libxml/HTMLparser.h)
typedef struct _xmlParserCtxt *xmlParserCtxtPtr;
typedef void (*unused_handler)(void);

typedef struct {
  unused_handler internal_subset[6];
  cxml_entity_handler entityDecl;
  unused_handler declarations[5];
  void (*startDocument)(void *);
  void (*endDocument)(void *);
  cxml_start_handler startElement;
  cxml_name_handler endElement;
  cxml_name_handler reference;
  cxml_text_handler characters;
  cxml_text_handler ignorableWhitespace;
  unused_handler processing_instruction[6];
  cxml_text_handler cdataBlock;
  unused_handler external_subset;
  unsigned initialized;
  void *own;
  unused_handler namespaces[3];
} handlers;

enum {
  PARSE_RECOVER = 1 << 0,
  PARSE_NOENT = 1 << 1,
  PARSE_NOERROR = 1 << 5,
  PARSE_NOWARNING = 1 << 6,
  PARSE_NONET = 1 << 11,
  PARSE_IGNORE_ENC = 1 << 21,
};

enum { XML_CHAR_ENCODING_UTF8 = 1 };

// The beginning of xmlError. (libxml/xmlerror.h)
typedef struct {
  int domain;
  int code;
  const char *message;
  int level;
  const char *file;
  int line;
} error_beginning;

enum { XML_ERR_FATAL = 3 };

xmlParserCtxtPtr xmlCreatePushParserCtxt(handlers *, void *, const char *, int, const char *);
int xmlCtxtUseOptions(xmlParserCtxtPtr, int);
int xmlParseChunk(xmlParserCtxtPtr, const char *, int, int);
void xmlStopParser(xmlParserCtxtPtr);
void xmlFreeParserCtxt(xmlParserCtxtPtr);
int xmlSAX2GetLineNumber(void *);
const error_beginning *xmlCtxtGetLastError(void *);
xmlParserCtxtPtr htmlCreatePushParserCtxt(handlers *, void *, const char *, int, const char *, int);
int htmlCtxtUseOptions(xmlParserCtxtPtr, int);
int htmlParseChunk(xmlParserCtxtPtr, const char *, int, int);
void htmlFreeParserCtxt(xmlParserCtxtPtr);
void xmlSetGenericErrorFunc(void *, void (*)(void *, const char *, ...));

static void ignore(void *context, const char *message, ...) {
  (void)context;
  (void)message;
}

cxml_parser cxml_parser_start(const cxml_handlers *own, void *context, cxml_language language) {
  // Since `initialized` is 0, libxml2 calls the handlers for names with prefixes, and adds no attributes that a document
  // type declares.
  handlers all = {
      .entityDecl = own->entity,
      .endDocument = own->whole,
      .startElement = own->start,
      .endElement = own->end,
      .reference = own->reference,
      .characters = own->text,
      .ignorableWhitespace = own->text,
      .cdataBlock = own->text,
  };
  cxml_parser parser = {.is_html = language == cxml_html};
  // Otherwise, libxml2 writes some errors of encodings to stderr. The setting is one of the thread.
  xmlSetGenericErrorFunc(NULL, ignore);
  int options = PARSE_NOERROR | PARSE_NOWARNING | PARSE_NONET;
  if (!parser.is_html) {
    // Without XML_PARSE_DTDLOAD and XML_PARSE_HUGE, libxml2 loads no other documents, and keeps its own limits. With
    // XML_PARSE_NOENT, `&amp;` in an attribute is `&` and not `&#38;`. Other entities are unknown, since there is no handler
    // that finds them.
    options |= PARSE_NOENT;
    if (language == cxml_xml_in_utf8) options |= PARSE_IGNORE_ENC;
    parser.state = xmlCreatePushParserCtxt(&all, context, NULL, 0, NULL);
    if (parser.state != NULL) xmlCtxtUseOptions(parser.state, options);
    return parser;
  }
  parser.state = htmlCreatePushParserCtxt(&all, context, NULL, 0, NULL, XML_CHAR_ENCODING_UTF8);
  if (parser.state == NULL) return parser;
  // Without HTML_PARSE_RECOVER, a script would end at the first end tag inside it. The JSON in a script may have such a
  // tag in a string, for example "<p>…</p>".
  htmlCtxtUseOptions(parser.state, options | PARSE_RECOVER | PARSE_IGNORE_ENC);
  return parser;
}

static void parse(cxml_parser parser, const uint8_t *bytes, size_t count, bool is_last) {
  if (count > INT_MAX) return;
  (parser.is_html ? htmlParseChunk : xmlParseChunk)(parser.state, (const char *)bytes, (int)count, is_last);
}

void cxml_parser_push(cxml_parser parser, const uint8_t *bytes, size_t count) {
  if (count > 0) parse(parser, bytes, count, false);
}

void cxml_parser_end(cxml_parser parser) { parse(parser, NULL, 0, true); }

void cxml_parser_stop(cxml_parser parser) { xmlStopParser(parser.state); }

int cxml_parser_line(cxml_parser parser) { return xmlSAX2GetLineNumber(parser.state); }

const char *cxml_parser_fault(cxml_parser parser, int *line) {
  const error_beginning *error = parser.is_html ? NULL : xmlCtxtGetLastError(parser.state);
  if (error == NULL || error->level < XML_ERR_FATAL) return NULL;
  *line = error->line;
  return error->message == NULL ? "" : error->message;
}

void cxml_parser_free(cxml_parser parser) {
  (parser.is_html ? htmlFreeParserCtxt : xmlFreeParserCtxt)(parser.state);
}
