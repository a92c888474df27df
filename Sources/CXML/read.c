#include "CXML.h"

#include <limits.h>

// These types and functions are declared here because libxml2's headers are in a folder that only pkg-config knows, and
// a package that other packages depend on cannot add such a folder in SwiftPM. The declarations have been the same
// since libxml2 2.6. (libxml/xmlreader.h)
typedef void *xmlTextReaderPtr;
typedef unsigned char xmlChar;

enum {
  XML_PARSE_NOERROR = 1 << 5,
  XML_PARSE_NOWARNING = 1 << 6,
  XML_PARSE_NONET = 1 << 11,
};

enum {
  XML_READER_TYPE_ELEMENT = 1,
  XML_READER_TYPE_TEXT = 3,
  XML_READER_TYPE_CDATA = 4,
  XML_READER_TYPE_ENTITY_REFERENCE = 5,
  XML_READER_TYPE_DOCUMENT_TYPE = 10,
  XML_READER_TYPE_END_ELEMENT = 15,
};

void xmlFreeTextReader(xmlTextReaderPtr);
xmlTextReaderPtr xmlReaderForMemory(const char *, int, const char *, const char *, int);
const xmlChar *xmlTextReaderConstLocalName(xmlTextReaderPtr);
const xmlChar *xmlTextReaderConstName(xmlTextReaderPtr);
const xmlChar *xmlTextReaderConstNamespaceUri(xmlTextReaderPtr);
const xmlChar *xmlTextReaderConstPrefix(xmlTextReaderPtr);
const xmlChar *xmlTextReaderConstValue(xmlTextReaderPtr);
int xmlTextReaderGetParserLineNumber(xmlTextReaderPtr);
int xmlTextReaderIsEmptyElement(xmlTextReaderPtr);
int xmlTextReaderMoveToElement(xmlTextReaderPtr);
int xmlTextReaderMoveToNextAttribute(xmlTextReaderPtr);
int xmlTextReaderNodeType(xmlTextReaderPtr);
int xmlTextReaderRead(xmlTextReaderPtr);

static xmlTextReaderPtr inner(cxml_reader *reader) { return (xmlTextReaderPtr)reader; }

cxml_reader *cxml_start(const uint8_t *bytes, size_t count) {
  if (count > INT_MAX) return NULL;
  // Without XML_PARSE_NOENT, XML_PARSE_DTDLOAD and XML_PARSE_HUGE, libxml2 expands no entities, loads no other
  // documents, and keeps its own limits.
  int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  return (cxml_reader *)xmlReaderForMemory((const char *)bytes, (int)count, NULL, NULL, options);
}

int cxml_next(cxml_reader *reader) {
  while (true) {
    int status = xmlTextReaderRead(inner(reader));
    if (status == 0) return cxml_done;
    if (status < 0) return cxml_broken;
    switch (xmlTextReaderNodeType(inner(reader))) {
      case XML_READER_TYPE_ELEMENT: return cxml_element;
      case XML_READER_TYPE_END_ELEMENT: return cxml_element_end;
      case XML_READER_TYPE_TEXT:
      case XML_READER_TYPE_CDATA: return cxml_text;
      case XML_READER_TYPE_DOCUMENT_TYPE:
      case XML_READER_TYPE_ENTITY_REFERENCE: return cxml_refused;
      default: break;
    }
  }
}

const char *cxml_name(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstLocalName(inner(reader));
}

const char *cxml_namespace(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstNamespaceUri(inner(reader));
}

const char *cxml_prefix(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstPrefix(inner(reader));
}

bool cxml_is_empty(cxml_reader *reader) {
  return xmlTextReaderIsEmptyElement(inner(reader)) == 1;
}

bool cxml_next_attribute(cxml_reader *reader) {
  if (xmlTextReaderMoveToNextAttribute(inner(reader)) == 1) return true;
  xmlTextReaderMoveToElement(inner(reader));
  return false;
}

const char *cxml_full_name(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstName(inner(reader));
}

const char *cxml_characters(cxml_reader *reader) {
  return (const char *)xmlTextReaderConstValue(inner(reader));
}

int cxml_line(cxml_reader *reader) {
  return xmlTextReaderGetParserLineNumber(inner(reader));
}

void cxml_free(cxml_reader *reader) { xmlFreeTextReader(inner(reader)); }
