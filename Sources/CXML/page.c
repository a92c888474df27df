#include "CXML.h"

#include <limits.h>

// These types and functions are declared here because libxml2's headers are in a folder that only pkg-config knows; see
// CXML.h. The layout of the handlers has been the same since libxml2 2.6. (libxml/parser.h, libxml/HTMLparser.h)
typedef void *htmlParserCtxtPtr;
typedef void (*unused_handler)(void);

typedef struct {
  unused_handler internal_subset[12];
  void (*startDocument)(void *);
  void (*endDocument)(void *);
  cxml_page_start_handler startElement;
  cxml_page_end_handler endElement;
  unused_handler reference;
  cxml_page_text_handler characters;
  cxml_page_text_handler ignorableWhitespace;
  unused_handler processing_instruction[6];
  cxml_page_text_handler cdataBlock;
  unused_handler external_subset;
  unsigned initialized;
  void *own;
  unused_handler namespaces[3];
} html_handlers;

enum {
  HTML_PARSE_RECOVER = 1 << 0,
  HTML_PARSE_NOERROR = 1 << 5,
  HTML_PARSE_NOWARNING = 1 << 6,
  HTML_PARSE_NONET = 1 << 11,
  HTML_PARSE_IGNORE_ENC = 1 << 21,
};

enum { XML_CHAR_ENCODING_NONE = 0, XML_CHAR_ENCODING_UTF8 = 1 };

htmlParserCtxtPtr htmlCreatePushParserCtxt(html_handlers *, void *, const char *, int, const char *, int);
int htmlCtxtUseOptions(htmlParserCtxtPtr, int);
int htmlParseChunk(htmlParserCtxtPtr, const char *, int, int);
void htmlFreeParserCtxt(htmlParserCtxtPtr);

cxml_page *cxml_page_start(void *context, cxml_page_start_handler start, cxml_page_end_handler end,
                           cxml_page_text_handler text, bool is_utf8) {
  html_handlers handlers = {
      .startElement = start,
      .endElement = end,
      .characters = text,
      .ignorableWhitespace = text,
      .cdataBlock = text,
  };
  htmlParserCtxtPtr page =
      htmlCreatePushParserCtxt(&handlers, context, NULL, 0, NULL,
                               is_utf8 ? XML_CHAR_ENCODING_UTF8 : XML_CHAR_ENCODING_NONE);
  if (page == NULL) return NULL;
  // Without HTML_PARSE_RECOVER, a script would end at the first end tag inside it. The JSON in a script may have such a
  // tag in a string, for example "<p>…</p>".
  int options = HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET;
  htmlCtxtUseOptions(page, is_utf8 ? options | HTML_PARSE_IGNORE_ENC : options);
  return (cxml_page *)page;
}

void cxml_page_push(cxml_page *page, const uint8_t *bytes, size_t count) {
  if (count > 0 && count <= INT_MAX) {
    htmlParseChunk((htmlParserCtxtPtr)page, (const char *)bytes, (int)count, 0);
  }
}

void cxml_page_end(cxml_page *page) {
  htmlParseChunk((htmlParserCtxtPtr)page, NULL, 0, 1);
}

void cxml_page_free(cxml_page *page) { htmlFreeParserCtxt((htmlParserCtxtPtr)page); }
