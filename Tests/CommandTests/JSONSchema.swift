import Foundation

/// A JSON Schema validator for the part of the language that `docs/schemas` and the server's
/// description use.
///
/// An unknown keyword is reported, so that no rule is skipped.
struct JSONSchema {
  private let root: [String: Any]
  /// Keywords without a constraint, such as `title`.
  private let silent: Set<String>

  /// Reads `docs/schemas/NAME.schema.json`.
  init(_ name: String) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/schemas/\(name).schema.json")
    let root = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
    self.init(within: root as? [String: Any] ?? [:])
  }

  /// The schemas inside a document.
  ///
  /// - Parameters:
  ///   - document: The document that holds them.
  ///   - notes: Further keywords without a constraint.
  init(within document: [String: Any], notes: Set<String> = []) {
    root = document
    silent = notes.union(["$schema", "$defs", "title", "description"])
  }

  /// Validates a document and returns each violation with its path.
  func findings(in text: some StringProtocol) throws -> [String] {
    let value = try JSONSerialization.jsonObject(
      with: Data(text.utf8),
      options: .fragmentsAllowed
    )
    return findings(root, value, "$")
  }

  /// Validates a value against a schema of the document.
  func findings(_ schema: [String: Any], _ value: Any, _ place: String) -> [String] {
    schema.flatMap { keyword, rule -> [String] in
      switch (keyword, rule) {
      case ("$ref", let name as String):
        var target: Any? = root
        for part in name.dropFirst("#/".count).split(separator: "/") {
          target = (target as? [String: Any])?[String(part)]
        }
        guard let target = target as? [String: Any] else {
          return ["\(place): no definition \(name)"]
        }
        return findings(target, value, place)
      case ("anyOf", let branches as [[String: Any]]):
        let all = branches.map { findings($0, value, place) }
        return all.contains { $0.isEmpty } ? [] : all.flatMap(\.self)
      case ("type", _):
        let names = rule as? [String] ?? [rule as? String ?? ""]
        return names.contains { Self.has(value, $0) } ? [] : ["\(place): \(value) is no \(names)"]
      case ("enum", let values as [Any]):
        let found = values.contains { allowed in
          if let text = allowed as? String { return text == value as? String }
          return allowed is NSNull && value is NSNull
        }
        return found ? [] : ["\(place): \(value) is none of \(values)"]
      case ("minimum", let least as NSNumber):
        guard let number = value as? NSNumber, number.doubleValue < least.doubleValue else {
          return []
        }
        return ["\(place): \(number) is less than \(least)"]
      case ("maximum", let most as NSNumber):
        guard let number = value as? NSNumber, number.doubleValue > most.doubleValue else {
          return []
        }
        return ["\(place): \(number) is more than \(most)"]
      case ("pattern", let pattern as String):
        guard let text = value as? String else { return [] }
        let found = text.range(of: pattern, options: .regularExpression) != nil
        return found ? [] : ["\(place): \(text) does not match \(pattern)"]
      case ("items", let element as [String: Any]):
        return (value as? [Any] ?? []).enumerated().flatMap {
          findings(element, $1, "\(place)[\($0)]")
        }
      case ("properties", let properties as [String: [String: Any]]):
        let object = value as? [String: Any] ?? [:]
        return properties.flatMap { key, schema in
          object[key].map { findings(schema, $0, "\(place).\(key)") } ?? []
        }
      case ("required", let keys as [String]):
        guard let object = value as? [String: Any] else { return [] }
        return keys.filter { object[$0] == nil }.map { "\(place): no \($0)" }
      case ("additionalProperties", _):
        let known = (schema["properties"] as? [String: Any] ?? [:]).keys
        let others = (value as? [String: Any] ?? [:]).filter { !known.contains($0.key) }
        guard let schema = rule as? [String: Any] else {
          return others.keys.map { "\(place): \($0) is not described" }
        }
        return others.flatMap { findings(schema, $1, "\(place).\($0)") }
      default:
        return silent.contains(keyword) ? [] : ["\(place): unknown keyword \(keyword)"]
      }
    }
  }

  static func has(_ value: Any, _ type: String) -> Bool {
    switch type {
    case "null": value is NSNull
    case "boolean": isBoolean(value)
    case "integer":
      !isBoolean(value)
        && (value as? NSNumber).map { $0.doubleValue.rounded() == $0.doubleValue }
          ?? false
    case "number": !isBoolean(value) && value is NSNumber
    case "string": value is String
    case "array": value is [Any]
    case "object": value is [String: Any]
    default: false
    }
  }

  /// Foundation reads both `true` and `1` as numbers, which differ only in their encoding.
  private static func isBoolean(_ value: Any) -> Bool {
    guard let number = value as? NSNumber else { return false }
    return ["c", "B"].contains(String(cString: number.objCType))
  }
}
