import Foundation

/// Validates answers against an OpenAPI 3.1 description, for the part of the language that ours
/// uses.
struct OpenAPISchema {
  private let schemas: JSONSchema

  init(_ document: [String: Any]) {
    schemas = JSONSchema(within: document, notes: ["format"])
  }

  /// The differences between an answer and the description of its operation; none if it fits.
  func findings(_ reply: Served.Reply, of operation: [String: Any]) -> [String] {
    let responses = operation["responses"] as? [String: [String: Any]] ?? [:]
    guard let response = responses["\(reply.status)"] else {
      return ["status \(reply.status) is not described"]
    }
    let headers = response["headers"] as? [String: [String: Any]] ?? [:]
    for (name, header) in headers where header["required"] as? Bool == true && reply[name] == nil {
      return ["the header \(name) is missing"]
    }
    guard !reply.body.isEmpty else { return [] }
    let type = reply["Content-Type"]?.split(separator: ";").first.map(String.init) ?? ""
    let content = response["content"] as? [String: [String: Any]] ?? [:]
    guard let media = content[type] else { return ["type \(type) is not described"] }
    guard type.hasSuffix("json"), let schema = media["schema"] as? [String: Any] else { return [] }
    guard let value = reply.json else { return ["the body is no JSON"] }
    return schemas.findings(schema, value, "$")
  }
}
