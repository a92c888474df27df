#include "CXML.h"

#include <limits.h>

// These constants are declared here for the reason that CXML.h gives. (libxml/xmlreader.h)
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

xmlTextReaderPtr xmlReaderForMemory(const char *, int, const char *, const char *, int);
int xmlTextReaderNodeType(xmlTextReaderPtr);
int xmlTextReaderRead(xmlTextReaderPtr);

xmlTextReaderPtr cxml_start(const uint8_t *bytes, size_t count) {
  if (count > INT_MAX) return NULL;
  // Without XML_PARSE_NOENT, XML_PARSE_DTDLOAD and XML_PARSE_HUGE, libxml2 expands no entities, loads no other
  // documents, and keeps its own limits.
  int options = XML_PARSE_NONET | XML_PARSE_NOERROR | XML_PARSE_NOWARNING;
  return xmlReaderForMemory((const char *)bytes, (int)count, NULL, NULL, options);
}

int cxml_next(xmlTextReaderPtr reader) {
  while (true) {
    int status = xmlTextReaderRead(reader);
    if (status == 0) return cxml_done;
    if (status < 0) return cxml_broken;
    switch (xmlTextReaderNodeType(reader)) {
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
