/// One order that arrived whole, whatever became of its answer.
package struct OrderRecord: Hashable, Sendable {
  /// The path that it was posted to.
  package let path: String
  /// The method: `POST`.
  package let method: String
  /// The header lines as sent.
  package let headers: [HeaderField]
  /// The body as sent.
  package let body: [UInt8]
  /// When it was complete, in seconds since 1970.
  package let arrival: Double
  /// The status of the answer, where 200 is "taken"; nil when a fault left none.
  package let status: Int?

  /// One line for the file: the body as text, or as hexadecimal digits if it is not UTF-8.
  var line: String {
    let pairs = headers.map { "[\(JSONText.quoted($0.name)),\(JSONText.quoted($0.value))]" }
    let text = String(validating: body, as: UTF8.self).map { "\"body\":" + JSONText.quoted($0) }
    return "{\"time\":\"\(HTTPDate.rfc3339(Int(arrival)))\",\"method\":\(JSONText.quoted(method)),"
      + "\"path\":\(JSONText.quoted(path)),\"status\":\(status.map(String.init) ?? "null"),"
      + "\"headers\":[\(pairs.joined(separator: ","))],"
      + (text ?? "\"bodyHex\":\"\(Resource.hexadecimal(body))\"") + "}\n"
  }
}
