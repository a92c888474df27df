/// The JSON Schema of catalog files, for editors that complete and check them. (JSON Schema, draft-07)
///
/// Made from ``CatalogKeys``, which the parsers hold to: what one knows, the other knows too.
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

  /// A key's schema; what stands beside a `$ref` is ignored in this draft, hence `allOf`.
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
