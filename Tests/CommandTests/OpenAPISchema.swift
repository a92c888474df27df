import Foundation

/// Holds answers against a description in OpenAPI 3.1, as far as ours uses the language.
struct OpenAPISchema {
  private let document: [String: Any]

  init(_ document: [String: Any]) {
    self.document = document
  }

  /// What is wrong with an answer to an operation; nothing when it fits.
  func findings(_ reply: Served.Reply, of operation: [String: Any]) -> [String] {
    let responses = operation["responses"] as? [String: [String: Any]] ?? [:]
    guard let response = responses["\(reply.status)"] else {
      return ["status \(reply.status) is not described"]
    }
    guard !reply.body.isEmpty else { return [] }
    let type = reply["Content-Type"]?.split(separator: ";").first.map(String.init) ?? ""
    let content = response["content"] as? [String: [String: Any]] ?? [:]
    guard let media = content[type] else { return ["type \(type) is not described"] }
    guard type.hasSuffix("json"), let schema = media["schema"] as? [String: Any] else { return [] }
    guard let value = reply.json else { return ["the body is no JSON"] }
    return findings(schema, value, "$")
  }

  private func findings(_ schema: [String: Any], _ value: Any, _ place: String) -> [String] {
    schema.flatMap { keyword, rule -> [String] in
      switch (keyword, rule) {
      case ("$ref", let name as String):
        var target: Any? = document
        for part in name.dropFirst(2).split(separator: "/") {
          target = (target as? [String: Any])?[String(part)]
        }
        guard let target = target as? [String: Any] else { return ["\(place): no \(name)"] }
        return findings(target, value, place)
      case ("anyOf", let branches as [[String: Any]]):
        let all = branches.map { findings($0, value, place) }
        return all.contains { $0.isEmpty } ? [] : all.flatMap(\.self)
      case ("type", _):
        let names = rule as? [String] ?? [rule as? String ?? ""]
        return names.contains { JSONSchema.has(value, $0) }
          ? [] : ["\(place): \(value) is no \(names)"]
      case ("enum", let values as [String]):
        return values.contains(value as? String ?? "") ? [] : ["\(place): \(value)"]
      case ("items", let element as [String: Any]):
        return (value as? [Any] ?? []).enumerated().flatMap {
          findings(element, $1, "\(place)[\($0)]")
        }
      case ("properties", let members as [String: [String: Any]]):
        let object = value as? [String: Any] ?? [:]
        return members.flatMap { name, schema in
          object[name].map { findings(schema, $0, "\(place).\(name)") } ?? []
        }
      case ("required", let names as [String]):
        guard let object = value as? [String: Any] else { return [] }
        return names.filter { object[$0] == nil }.map { "\(place): no \($0)" }
      case ("additionalProperties", let schema as [String: Any]):
        return (value as? [String: Any] ?? [:]).flatMap { findings(schema, $1, "\(place).\($0)") }
      case ("additionalProperties", _):
        let known = Set((schema["properties"] as? [String: Any] ?? [:]).keys)
        return (value as? [String: Any] ?? [:]).keys.filter { !known.contains($0) }
          .map { "\(place): \($0) is not described" }
      case ("description", _), ("format", _): return []
      default: return ["\(place): the keyword \(keyword) is not known"]
      }
    }
  }
}
