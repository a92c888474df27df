/// The keys of catalog files, grouped by their YAML mapping, such as `item:` or `paging:`.
///
/// The parsers allow exactly these keys, and the JSON Schema describes them.
enum CatalogKeys: String, CaseIterable, Sendable {
  case root, format, section, sections, envelope, item, images, price, detail, paging, size
  case request, texts, token, pictures, identity, xml, table

  /// The names of the keys in their usual order.
  var names: [String] { keys.map(\.name) }

  /// The names of the keys that the mapping must have.
  var required: [String] {
    switch self {
    case .root: ["name", "currency", "sections"]
    case .section: ["key", "url"]
    case .sections, .detail: ["url"]
    case .size: ["name", "value"]
    case .token: ["header", "command"]
    case .identity: ["without"]
    case .format, .price, .envelope, .item, .images, .paging, .request, .texts, .pictures, .xml,
      .table:
      []
    }
  }

  var keys: [CatalogKey] {
    switch self {
    case .root: Self.rootKeys
    case .format: Self.formatKeys
    case .section: Self.sectionKeys
    case .sections: Self.combinedKeys
    case .envelope: Self.envelopeKeys
    case .item: Self.itemKeys
    case .images: Self.imageKeys
    case .price: Self.priceKeys
    case .detail: Self.detailKeys
    case .paging: Self.pagingKeys
    case .size: Self.sizeKeys
    case .request: Self.requestKeys
    case .texts: Self.textsKeys
    case .token: Self.tokenKeys
    case .pictures: Self.pictureKeys
    case .identity: Self.identityKeys
    case .xml: Self.xmlKeys
    case .table: Self.tableKeys
    }
  }

  /// The keys that say how a response is read.
  ///
  /// They are allowed at the top level of a catalog file and in a section.
  static let mappingKeys = [
    CatalogKey(
      "format",
      .anyOf([.oneOf(FormatFiles.names), .path]),
      "A built-in format, or the path of a format file (default: banchan)"
    ),
    CatalogKey(
      "read",
      .orNull(.oneOf(BodyFormat.Kind.allCases.map(\.rawValue))),
      "The notation of a response (default: detected from its content)"
    ),
    CatalogKey("xml", .orNull(.reference("xml")), "How XML is converted to records"),
    CatalogKey("table", .orNull(.reference("table")), "How a table is converted to records"),
    CatalogKey(
      "text",
      .oneOf(["plain", "html"]),
      "html removes tags from texts and decodes entities such as &amp;, also in URLs"
    ),
    CatalogKey(
      "none",
      .orNull(.anyOf([.scalar, .list])),
      "Placeholders for a missing value, such as N/A"
    ),
    CatalogKey(
      "items",
      .reference("paths"),
      "A path from the body to an array of items, or to the items one by one"
    ),
    CatalogKey("envelope", .reference("envelope"), "Fields of the response beside the items"),
    CatalogKey("item", .reference("item"), "Where an item's fields are, relative to the item"),
    CatalogKey(
      "transform",
      .orNull(.text),
      "A jq program that a response goes through first; it makes {\"items\": […]} or "
        + "{\"sections\": […]}"
    ),
    CatalogKey(
      "records",
      .orNull(.text),
      "A jq program applied to each item before its fields are read"
    ),
  ]

  /// The keys of a format file: three keys of its own, and the keys of a catalog file that all shops of one system
  /// share.
  private static let formatKeys =
    [
      CatalogKey("about", .text, "A description of the format in one line"),
      CatalogKey("links", .list, "Where the system's responses are documented"),
      CatalogKey(
        "signature",
        .reference("signature"),
        "The signature of the system's responses: lists of paths; a response matches if all paths of one list lead to something"
      ),
    ] + rootKeys.filter { !["name", "sections", "token", "format"].contains($0.name) }

  private static let xmlKeys = [
    CatalogKey(
      "record",
      .anyOf([.text, .list]),
      "The elements that are records (default: the whole document is one tree)"
    ),
    CatalogKey("roots", .anyOf([.text, .list]), "Allowed names of the outermost element"),
    CatalogKey(
      "plain",
      .anyOf([.text, .list]),
      "Namespaces whose elements are named without prefix, before others of the same name"
    ),
  ]

  private static let tableKeys = [
    CatalogKey(
      "names",
      .oneOf(["plain"]),
      "plain converts column names to lower case, with _ for spaces and without g:"
    ),
    CatalogKey(
      "lists",
      .anyOf([.text, .list]),
      "Columns with several values, separated by commas"
    ),
  ]

  private static let rootKeys =
    [
      CatalogKey(
        "name",
        .scalar,
        "The catalog's name, also in the cache; it must be usable as a file name"
      ),
      CatalogKey("currency", .oneOf(Currency.codes), "The currency of prices, an ISO 4217 code"),
      CatalogKey("base", .text, "The base of relative URLs: an http, https or file URL"),
      CatalogKey(
        "sections",
        .anyOf([.reference("listedSections"), .reference("sections")]),
        "A list of sections with a URL each, or one response that holds them all"
      ),
      CatalogKey("detail", .reference("detail"), "Where the details of items are"),
      CatalogKey(
        "headers",
        .texts,
        "Request headers, for the origins of base and the section URLs only, pictures too; ${NAME} is taken from "
          + "the environment"
      ),
      CatalogKey("pictures", .reference("pictures"), "How pictures are requested and identified"),
      CatalogKey(
        "token",
        .reference("token"),
        "How to get new credentials when an origin that receives headers answers 401"
      ),
      CatalogKey(
        "paging",
        .orNull(.reference("paging")),
        "How a listing continues on further pages; null removes the format's own paging"
      ),
      CatalogKey(
        "request",
        .orNull(.reference("request")),
        "How sections are requested, if not by GET; null removes the format's request"
      ),
    ] + mappingKeys

  private static let sectionKeys =
    [
      CatalogKey(
        "key",
        .scalar,
        "The section's name in the cache and on the command line; with each, a path to it"
      ),
      CatalogKey(
        "title",
        .scalar,
        "The title (default: the one in the body, else the key); with each, a path"
      ),
      CatalogKey("subtitle", .scalar, "A line under the title; with each, a path"),
      CatalogKey("url", .text, "The section's URL, relative to base or absolute"),
      CatalogKey(
        "each",
        .reference("path"),
        "A path from the body to its sections, if the response has several"
      ),
      CatalogKey(
        "paging",
        .orNull(.reference("paging")),
        "How this section continues on further pages; null if one response has the whole section"
      ),
      CatalogKey(
        "request",
        .orNull(.reference("request")),
        "How this section is requested; null for a plain GET"
      ),
    ] + mappingKeys

  private static let combinedKeys = [
    CatalogKey("url", .text, "Where the response with all sections is"),
    CatalogKey("each", .reference("path"), "A path from the body to the sections"),
    CatalogKey("key", .reference("path"), "A path to a section's key, relative to the section"),
    CatalogKey("title", .reference("path"), "Its title, from the section"),
    CatalogKey(
      "subtitle",
      .reference("path"),
      "A path to the line under the title, relative to the section"
    ),
  ]

  private static let envelopeKeys = [
    CatalogKey("title", .reference("paths"), "The section's title"),
    CatalogKey("subtitle", .reference("paths"), "The section's subtitle"),
    CatalogKey("status", .reference("paths"), "A status in the body: 400 or more means failure"),
  ]

  private static let itemKeys = [
    CatalogKey("id", .reference("paths"), "Text or a whole number, unique for each item"),
    CatalogKey("title", .reference("paths"), "The item's name"),
    CatalogKey("description", .reference("paths"), "A text about it"),
    CatalogKey(
      "badges",
      .reference("paths"),
      "Labels such as new or sale: text, or a list of texts"
    ),
    CatalogKey("deliveryTypes", .reference("paths"), "How it is delivered: text, or a list"),
    CatalogKey("normalPrice", .reference("prices"), "The price before a reduction"),
    CatalogKey("salePrice", .reference("prices"), "The price to pay"),
    CatalogKey("latitude", .reference("paths"), "Degrees north; needs longitude"),
    CatalogKey("longitude", .reference("paths"), "Degrees east; needs latitude"),
    CatalogKey("address", .reference("paths"), "The address as text"),
    CatalogKey("images", .orNull(.reference("images")), "Pictures by their role"),
  ]

  private static let imageKeys = [
    CatalogKey("thumbnail", .reference("textsRules"), "The small picture in a list"),
    CatalogKey("top", .reference("textsRules"), "The large picture on top of a detail"),
    CatalogKey("gallery", .reference("textsRules"), "The pictures of the gallery"),
    CatalogKey("section", .reference("textsRules"), "Parts of the long description"),
  ]

  private static let priceKeys = [
    CatalogKey("path", .reference("path"), "The path to the price"),
    CatalogKey(
      "scale",
      .anyOf([.number(0...9), .reference("path")]),
      "The number of decimals in a whole number, or a path to it"
    ),
    CatalogKey(
      "divisor",
      .anyOf([.number(1...1_000_000_000), .reference("path")]),
      "The divisor of the number: 10, 100, …, or a path to it"
    ),
    CatalogKey(
      "units",
      .reference("path"),
      "The path to the price's whole units, instead of path"
    ),
    CatalogKey("nanos", .reference("path"), "The path to the billionths, used with units"),
    CatalogKey("none", .anyOf([.scalar, .list]), "Values that mean that there is no such price"),
    CatalogKey("minorUnits", .flag, "True if the number counts minor units, such as cents"),
    CatalogKey(
      "currency",
      .anyOf([.oneOf(Currency.codes), .reference("path")]),
      "A currency other than the catalog's, or a path to it"
    ),
  ]

  private static let detailKeys = [
    CatalogKey(
      "url",
      .text,
      "The URL of a detail; {id} is the item's id, {NAME} its field NAME; without either, one response has all details"
    ),
    CatalogKey("values", .notes, "Paths to the values of {NAME}, if not the item's field NAME"),
    CatalogKey("request", .reference("request"), "How a detail is requested, if not by GET"),
    CatalogKey("entries", .reference("paths"), "A path from the body to the details"),
    CatalogKey("id", .reference("paths"), "The item's id, from an entry"),
    CatalogKey("root", .reference("paths"), "The object with the fields, from an entry"),
    CatalogKey("description", .reference("paths"), "A text about the item"),
    CatalogKey("prices", .reference("prices"), "Its price, or a list of prices"),
    CatalogKey("images", .orNull(.reference("images")), "Pictures by their role"),
    CatalogKey("notes", .notes, "Further texts by name"),
  ]

  private static let pagingKeys = [
    CatalogKey("page", .text, "The query parameter that counts pages, until an empty page"),
    CatalogKey("parameter", .text, "The same as page"),
    CatalogKey("offset", .text, "The query parameter that counts the elements before a page"),
    CatalogKey(
      "cursor",
      .text,
      "The query parameter for the cursor, which from reads from the body"
    ),
    CatalogKey("next", .reference("path"), "The path to the next page's URL in the body"),
    CatalogKey("link", .flag, "Follow the response's Link header with rel=next"),
    CatalogKey(
      "first",
      .number(0...1_000_000),
      "The first page's value of page (1) or offset (0)"
    ),
    CatalogKey("from", .reference("path"), "The path to the next cursor in the body"),
    CatalogKey("size", .reference("size"), "The page size to request"),
    CatalogKey("limit", .number(1...1_000_000), "The most pages to read"),
  ]

  private static let requestKeys = [
    CatalogKey("method", .oneOf(["GET", "POST"]), "POST when there is a body"),
    CatalogKey("type", .text, "The body's media type; application/json unless given"),
    CatalogKey("body", .text, "The request body; placeholders such as {cursor} are replaced"),
  ]

  private static let textsKeys = [
    CatalogKey("path", .reference("path"), "The path to the texts"),
    CatalogKey("all", .reference("paths"), "Paths to the texts, if there are several places"),
    CatalogKey("split", .text, "The separator that splits one text into several"),
    CatalogKey(
      "template",
      .text,
      "The template for each text: {value} is the text, {NAME} the item's field NAME, {A.B} the field B of its A"
    ),
    CatalogKey(
      "largest",
      .reference("path"),
      "The path to the width of each size of a picture; the largest is used"
    ),
    CatalogKey("url", .reference("path"), "The path to each size's URL; used with largest"),
  ]

  private static let tokenKeys = [
    CatalogKey("header", .text, "The request header for the command's output"),
    CatalogKey(
      "command",
      .list,
      "A program and its arguments, run without a shell, once per run of larder; the first line of its output is the value"
    ),
  ]

  private static let identityKeys = [
    CatalogKey(
      "without",
      .list,
      "Query parameters that are not part of a picture's identity; * matches any characters"
    )
  ]

  private static let pictureKeys = [
    CatalogKey(
      "identity",
      .anyOf([.oneOf(["path"]), .reference("identity")]),
      "The part of a URL that identifies a picture, if not the whole URL: path means host and path"
    ),
    CatalogKey(
      "headers",
      .textsByName,
      "Request headers for pictures by host, such as cdn.example or cdn.example:8080; they go to that host only"
    ),
  ]

  private static let sizeKeys = [
    CatalogKey("name", .text, "The query parameter"),
    CatalogKey("value", .number(1...1_000_000), "How many elements"),
  ]
}

/// A key of catalog files.
struct CatalogKey: Sendable {
  let name: String
  let value: ValueSchema
  /// The meaning of the key for the schema, in a sentence without a full stop.
  let meaning: String

  init(_ name: String, _ value: ValueSchema, _ meaning: String) {
    self.name = name
    self.value = value
    self.meaning = meaning
  }

  /// The allowed values of a key.
  enum ValueSchema: Sendable {
    /// Text.
    case text
    /// Text, a number or a flag, because YAML takes an unquoted `0123` or `no` for these types.
    case scalar
    /// One of these words.
    case oneOf([String])
    /// A whole number within bounds.
    case number(ClosedRange<Int>)
    /// True or false.
    case flag
    /// The path of a format file.
    case path
    /// A list of texts with at least one element.
    case list
    /// A mapping from any names to texts, such as `{Accept: application/json}`.
    case texts
    /// A mapping from any names to mappings of texts, such as `{cdn.example: {Referer: "https://shop.example/"}}`.
    case textsByName
    /// A mapping from any names to JSONPaths, such as `{weight: $.weight}`.
    case notes
    /// The definition of the schema with this name.
    case reference(String)
    /// A value that matches at least one of these schemas.
    case anyOf([ValueSchema])
    /// A value that matches the given schema, or `null`. `null` removes the value that the key would inherit.
    indirect case orNull(ValueSchema)
  }
}

/// The JSON Schema of catalog files, for editors that complete and check them. (JSON Schema, draft-07)
///
/// The schema is made from ``CatalogKeys``, which the parsers use too.
package enum CatalogSchema {
  /// The schema as JSON text.
  ///
  /// Each key of a catalog file is on a line of its own.
  package static var text: String {
    let definitions = CatalogKeys.allCases.filter { $0 != .root }
      .map { "\(StoredFormWriter.quoted($0.rawValue)): \(object($0, indent: "    "))" }
    return """
      {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "larder catalog file",
        "description": "Where a shop's sections are, and how its JSON is read",
      \(members(.root, indent: "  ")),
        "definitions": {
          "path": {
            "type": "string",
            "pattern": "^\\\\$",
            "description": "A JSONPath (RFC 9535), such as $.products[0].price"
          },
          "paths": {
            "description": "A path, or alternatives of which the first that is not empty counts",
            "anyOf": [
              {"$ref": "#/definitions/path"},
              {"type": "array", "items": {"$ref": "#/definitions/path"}},
              {"type": "null"}
            ]
          },
          "priceRule": {
            "anyOf": [{"$ref": "#/definitions/path"}, {"$ref": "#/definitions/price"}]
          },
          "prices": {
            "description": "Where a price is, or alternatives",
            "anyOf": [
              {"$ref": "#/definitions/priceRule"},
              {"type": "array", "items": {"$ref": "#/definitions/priceRule"}},
              {"type": "null"}
            ]
          },
          "textsRule": {
            "anyOf": [{"$ref": "#/definitions/path"}, {"$ref": "#/definitions/texts"}]
          },
          "textsRules": {
            "description": "Where pictures are, or alternatives",
            "anyOf": [
              {"$ref": "#/definitions/textsRule"},
              {"type": "array", "items": {"$ref": "#/definitions/textsRule"}},
              {"type": "null"}
            ]
          },
          "signature": {
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/definitions/paths"}
          },
          "listedSections": {
            "type": "array",
            "minItems": 1,
            "items": {"$ref": "#/definitions/section"}
          },
          \(definitions.joined(separator: ",\n    "))
        }
      }
      """
  }

  private static func object(_ keys: CatalogKeys, indent: String) -> String {
    "{\n\(members(keys, indent: indent + "  "))\n\(indent)}"
  }

  private static func members(_ keys: CatalogKeys, indent: String) -> String {
    let properties = keys.keys.map { key in
      "\(indent)  \(StoredFormWriter.quoted(key.name)): \(property(key))"
    }
    var lines = ["\(indent)\"type\": \"object\"", "\(indent)\"additionalProperties\": false"]
    if !keys.required.isEmpty {
      let names = keys.required.map(StoredFormWriter.quoted).joined(separator: ", ")
      lines.append("\(indent)\"required\": [\(names)]")
    }
    lines.append("\(indent)\"properties\": {\n\(properties.joined(separator: ",\n"))\n\(indent)}")
    return lines.joined(separator: ",\n")
  }

  /// The schema of a key, with its description.
  ///
  /// Draft-07 ignores a description beside a `$ref`. A reference is therefore put into `allOf`.
  private static func property(_ key: CatalogKey) -> String {
    let description = "\"description\": \(StoredFormWriter.quoted(key.meaning))"
    if case .reference = key.value {
      return "{\(description), \"allOf\": [\(schema(key.value))]}"
    }
    return "{\(description), \(schema(key.value).dropFirst())"
  }

  private static func schema(_ value: CatalogKey.ValueSchema) -> String {
    switch value {
    case .text: #"{"type": "string"}"#
    case .scalar: #"{"type": ["string", "number", "boolean"]}"#
    case .oneOf(let words):
      "{\"enum\": [\(words.map(StoredFormWriter.quoted).joined(separator: ", "))]}"
    case .number(let range):
      "{\"type\": \"integer\", \"minimum\": \(range.lowerBound), \"maximum\": \(range.upperBound)}"
    case .flag: #"{"type": "boolean"}"#
    case .path: #"{"type": "string", "pattern": "/|\\.ya?ml$"}"#
    case .list:
      #"{"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}}"#
    case .texts: #"{"type": "object", "additionalProperties": {"type": ["string", "number"]}}"#
    case .textsByName:
      #"{"type": "object", "additionalProperties": "# + schema(.texts) + "}"
    case .notes:
      ##"{"type": "object", "additionalProperties": {"$ref": "#/definitions/paths"}}"##
    case .reference(let name): "{\"$ref\": \"#/definitions/\(name)\"}"
    case .anyOf(let all): "{\"anyOf\": [\(all.map(schema).joined(separator: ", "))]}"
    case .orNull(let other): "{\"anyOf\": [\(schema(other)), {\"type\": \"null\"}]}"
    }
  }
}
