/// The keys of catalog files, grouped by the mapping that holds them; the parsers and the schema share this list.
enum CatalogKeys: String, CaseIterable, Sendable {
  case root, format, section, sections, envelope, item, images, price, detail, paging, size
  case request, texts, token, pictures, identity, xml, table

  /// The names of the keys, in the order in which a file has them.
  var names: [String] { keys.map(\.name) }

  /// The keys that must be there.
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

  /// The keys.
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

  /// The keys that say how a response is read, for a whole catalog file or for one section.
  static let mappingKeys = [
    CatalogKey(
      "format",
      .anyOf([.oneOf(FormatFiles.names), .path]),
      "A built-in format, or the path of a format file; banchan when nothing else is said"
    ),
    CatalogKey(
      "read",
      .orNull(.oneOf(BodyFormat.Kind.allCases.map(\.rawValue))),
      "What a response is written in; its content tells when left out"
    ),
    CatalogKey("xml", .orNull(.reference("xml")), "How XML becomes records"),
    CatalogKey("table", .orNull(.reference("table")), "How a table becomes records"),
    CatalogKey(
      "text",
      .oneOf(["plain", "html"]),
      "html takes the tags out of texts and undoes entities such as &amp;, which are undone in URLs too"
    ),
    CatalogKey(
      "none",
      .orNull(.anyOf([.scalar, .list])),
      "Values that say that there is nothing, such as N/A"
    ),
    CatalogKey(
      "items",
      .reference("paths"),
      "Leads from the body to an array of items, or picks items out of one"
    ),
    CatalogKey("envelope", .reference("envelope"), "What stands around the items"),
    CatalogKey("item", .reference("item"), "Where the fields of one item are, from the item"),
    CatalogKey(
      "transform",
      .orNull(.text),
      "A jq program that a response goes through first; it makes {\"items\": […]} or "
        + "{\"sections\": […]}"
    ),
    CatalogKey(
      "records",
      .orNull(.text),
      "A jq program that each item goes through before its fields are read"
    ),
  ]

  /// The keys of a format file: those keys of a catalog file that are the same for every shop of a system, and the
  /// signature of its responses.
  private static let formatKeys =
    [
      CatalogKey("about", .text, "What the format reads, in a line"),
      CatalogKey("links", .list, "Where the system's responses are documented"),
      CatalogKey(
        "signature",
        .reference("signature"),
        "What a response of the system always has: lists of paths, of which all of one lead to something"
      ),
    ] + rootKeys.filter { !["name", "sections", "token", "format"].contains($0.name) }

  private static let xmlKeys = [
    CatalogKey(
      "record",
      .anyOf([.text, .list]),
      "The elements that are records; without it the document is one tree"
    ),
    CatalogKey("roots", .anyOf([.text, .list]), "The names that the outermost element may have"),
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
      "plain writes the names of columns in lower case, with _ for spaces and without g:"
    ),
    CatalogKey(
      "lists",
      .anyOf([.text, .list]),
      "Columns that hold several values, with commas between"
    ),
  ]

  private static let rootKeys =
    [
      CatalogKey("name", .scalar, "The catalog's name, also in the cache; fit to be a file name"),
      CatalogKey("currency", .oneOf(Currency.codes), "The ISO 4217 code that prices are in"),
      CatalogKey("base", .text, "What relative URLs are relative to: http, https or file"),
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
      CatalogKey("pictures", .reference("pictures"), "How pictures are asked for and told apart"),
      CatalogKey(
        "token",
        .reference("token"),
        "How new credentials are had when an origin that gets headers answers 401"
      ),
      CatalogKey(
        "paging",
        .orNull(.reference("paging")),
        "How a listing continues on further pages; null removes the format's own paging"
      ),
      CatalogKey(
        "request",
        .orNull(.reference("request")),
        "How sections are asked for, when not by GET; null takes away the format's way"
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
        "Its name for people; else the body's word, else the key; with each, a path"
      ),
      CatalogKey("subtitle", .scalar, "A line under the title; with each, a path"),
      CatalogKey("url", .text, "Where it is, relative to base or absolute"),
      CatalogKey(
        "each",
        .reference("path"),
        "Leads from the body to sections, when the response holds many"
      ),
      CatalogKey(
        "paging",
        .orNull(.reference("paging")),
        "How this section continues on further pages; null when one response is all of it"
      ),
      CatalogKey(
        "request",
        .orNull(.reference("request")),
        "How this section is requested; null for a plain GET"
      ),
    ] + mappingKeys

  private static let combinedKeys = [
    CatalogKey("url", .text, "Where the response with all sections is"),
    CatalogKey("each", .reference("path"), "Leads from the body to the sections"),
    CatalogKey("key", .reference("path"), "A section's key, from the section"),
    CatalogKey("title", .reference("path"), "Its title, from the section"),
    CatalogKey("subtitle", .reference("path"), "A line under the title, from the section"),
  ]

  private static let envelopeKeys = [
    CatalogKey("title", .reference("paths"), "The section's title"),
    CatalogKey("subtitle", .reference("paths"), "The section's subtitle"),
    CatalogKey("status", .reference("paths"), "A number that means failure from 400 on"),
  ]

  private static let itemKeys = [
    CatalogKey("id", .reference("paths"), "Text or a whole number; each item has one of its own"),
    CatalogKey("title", .reference("paths"), "What the item is called"),
    CatalogKey("description", .reference("paths"), "A text about it"),
    CatalogKey("badges", .reference("paths"), "Why it stands out: text, or a list of texts"),
    CatalogKey("deliveryTypes", .reference("paths"), "How it is delivered: text, or a list"),
    CatalogKey("normalPrice", .reference("prices"), "The price before a reduction"),
    CatalogKey("salePrice", .reference("prices"), "The price to pay"),
    CatalogKey("latitude", .reference("paths"), "Degrees north; needs longitude"),
    CatalogKey("longitude", .reference("paths"), "Degrees east; needs latitude"),
    CatalogKey("address", .reference("paths"), "Where it is in words"),
    CatalogKey("images", .orNull(.reference("images")), "Pictures by the part that they play"),
  ]

  private static let imageKeys = [
    CatalogKey("thumbnail", .reference("textsRules"), "The small picture in a list"),
    CatalogKey("top", .reference("textsRules"), "The large picture on top of a detail"),
    CatalogKey("gallery", .reference("textsRules"), "The pictures to leaf through"),
    CatalogKey("section", .reference("textsRules"), "Parts of the long description"),
  ]

  private static let priceKeys = [
    CatalogKey("path", .reference("path"), "Where the price is"),
    CatalogKey(
      "scale",
      .anyOf([.number(0...9), .reference("path")]),
      "How many of a whole number's digits are decimals, or where the item says so"
    ),
    CatalogKey(
      "divisor",
      .anyOf([.number(1...1_000_000_000), .reference("path")]),
      "By what the number is divided: 10, 100, …, or where the item says so"
    ),
    CatalogKey("units", .reference("path"), "Where its whole units are, in place of path"),
    CatalogKey("nanos", .reference("path"), "Where the thousand millionths beside units are"),
    CatalogKey("none", .anyOf([.scalar, .list]), "Values that say that there is no such price"),
    CatalogKey("minorUnits", .flag, "The number counts cents, or what the currency has"),
    CatalogKey(
      "currency",
      .anyOf([.oneOf(Currency.codes), .reference("path")]),
      "Another currency than the catalog's, or where the item names it"
    ),
  ]

  private static let detailKeys = [
    CatalogKey(
      "url",
      .text,
      "Where a detail is; {id} is the item's id, {NAME} its field NAME; without either all are in one"
    ),
    CatalogKey("values", .notes, "Where {NAME} is in an item, when not in the field NAME"),
    CatalogKey("request", .reference("request"), "How a detail is asked for, when not by GET"),
    CatalogKey("entries", .reference("paths"), "Leads to the details in the body"),
    CatalogKey("id", .reference("paths"), "The item's id, from an entry"),
    CatalogKey("root", .reference("paths"), "The object with the fields, from an entry"),
    CatalogKey("description", .reference("paths"), "A text about the item"),
    CatalogKey("prices", .reference("prices"), "What it costs: one price or a list"),
    CatalogKey("images", .orNull(.reference("images")), "Pictures by the part that they play"),
    CatalogKey("notes", .notes, "Further texts by name"),
  ]

  private static let pagingKeys = [
    CatalogKey("page", .text, "The query parameter that counts pages, until an empty page"),
    CatalogKey("parameter", .text, "The same as page"),
    CatalogKey("offset", .text, "The query parameter that counts the elements before a page"),
    CatalogKey("cursor", .text, "The query parameter that takes what from finds in the body"),
    CatalogKey("next", .reference("path"), "Where the body names the next page's URL"),
    CatalogKey("link", .flag, "Follow the response's Link header with rel=next"),
    CatalogKey(
      "first",
      .number(0...1_000_000),
      "The first page's value of page (1) or offset (0)"
    ),
    CatalogKey("from", .reference("path"), "Where the body has the cursor"),
    CatalogKey("size", .reference("size"), "How many elements a page is asked to have"),
    CatalogKey("limit", .number(1...1_000_000), "How many pages are read at most"),
  ]

  private static let requestKeys = [
    CatalogKey("method", .oneOf(["GET", "POST"]), "POST when there is a body"),
    CatalogKey("type", .text, "The body's media type; application/json unless given"),
    CatalogKey("body", .text, "What is sent, with places such as {cursor} in it"),
  ]

  private static let textsKeys = [
    CatalogKey("path", .reference("path"), "Where the texts are"),
    CatalogKey("all", .reference("paths"), "Where they are, when in several places"),
    CatalogKey("split", .text, "What parts one text into several"),
    CatalogKey(
      "template",
      .text,
      "What each becomes: {value} is the text, {NAME} the item's field NAME, {A.B} the field B of its A"
    ),
    CatalogKey(
      "largest",
      .reference("path"),
      "Where each of several sizes of a picture says how large it is; the largest counts"
    ),
    CatalogKey("url", .reference("path"), "Where a size has its URL, with largest"),
  ]

  private static let tokenKeys = [
    CatalogKey("header", .text, "The request header that takes what the command prints"),
    CatalogKey(
      "command",
      .list,
      "A program and its arguments; run once a run, without a shell, and its first line is the value"
    ),
  ]

  private static let identityKeys = [
    CatalogKey(
      "without",
      .list,
      "Query parameters that are no part of a picture's identity; * stands for any characters"
    )
  ]

  private static let pictureKeys = [
    CatalogKey(
      "identity",
      .anyOf([.oneOf(["path"]), .reference("identity")]),
      "What tells one picture from another when that is not the whole URL: path for host and path alone"
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

/// A key of catalog files: the parsers allow it, and the schema describes it.
struct CatalogKey: Sendable {
  /// The key.
  let name: String
  /// The allowed values, as JSON Schema.
  let value: ValueSchema
  /// The meaning of the key, in a sentence without a full stop.
  let meaning: String

  /// A key with its allowed values and its meaning.
  init(_ name: String, _ value: ValueSchema, _ meaning: String) {
    self.name = name
    self.value = value
    self.meaning = meaning
  }

  /// The allowed values of a key.
  enum ValueSchema: Sendable {
    /// Text.
    case text
    /// Text or a number, because YAML reads unquoted digits as a number.
    case scalar
    /// Text that is one of these.
    case oneOf([String])
    /// A whole number within bounds.
    case number(ClosedRange<Int>)
    /// True or false.
    case flag
    /// The path of a file.
    case path
    /// A list of texts that is not empty.
    case list
    /// A mapping from any names to texts.
    case texts
    /// A mapping from any names to such mappings.
    case textsByName
    /// A mapping from any names to paths.
    case notes
    /// A definition of the schema, by its name.
    case reference(String)
    /// Any of several.
    case anyOf([ValueSchema])
    /// The given schema, or `null`, which removes the value inherited from above.
    indirect case orNull(ValueSchema)
  }
}

/// The JSON Schema of catalog files, for editors that complete and check them. (JSON Schema,
/// draft-07)
///
/// Made from ``CatalogKeys``, which the parsers use too, so that both know the same keys.
package enum CatalogSchema {
  /// The schema as JSON text, one key a line.
  package static var text: String {
    let definitions = CatalogKeys.allCases.filter { $0 != .root }
      .map { "\(quoted($0.rawValue)): \(object($0, indent: "    "))" }
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
      "\(indent)  \(quoted(key.name)): \(property(key))"
    }
    var lines = ["\(indent)\"type\": \"object\"", "\(indent)\"additionalProperties\": false"]
    if !keys.required.isEmpty {
      let names = keys.required.map(quoted).joined(separator: ", ")
      lines.append("\(indent)\"required\": [\(names)]")
    }
    lines.append("\(indent)\"properties\": {\n\(properties.joined(separator: ",\n"))\n\(indent)}")
    return lines.joined(separator: ",\n")
  }

  /// A key's schema; this draft ignores the keys beside a `$ref`, hence `allOf`.
  private static func property(_ key: CatalogKey) -> String {
    let description = "\"description\": \(quoted(key.meaning))"
    if case .reference = key.value {
      return "{\(description), \"allOf\": [\(schema(key.value))]}"
    }
    return "{\(description), \(schema(key.value).dropFirst())"
  }

  private static func schema(_ value: CatalogKey.ValueSchema) -> String {
    switch value {
    case .text: #"{"type": "string"}"#
    case .scalar: #"{"type": ["string", "number", "boolean"]}"#
    case .oneOf(let words): "{\"enum\": [\(words.map(quoted).joined(separator: ", "))]}"
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

  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { quoted += "\\" }
      quoted.unicodeScalars.append(scalar)
    }
    return quoted + "\""
  }
}
