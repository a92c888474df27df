/// JSON Lines: a value a line, read as the array of them. (jsonlines.org, and NDJSON)
package enum JSONLines {
  /// Whether a name or a media type says that a body is JSON Lines.
  ///
  /// - Parameters:
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  /// - Returns: Whether either says so.
  package static func isMeant(name: String, type: String? = nil) -> Bool {
    let path = name.prefix { $0 != "?" && $0 != "#" }.lowercased()
    if path.hasSuffix(".jsonl") || path.hasSuffix(".ndjson") { return true }
    let essence = (type ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return types.contains(essence)
  }

  private static let types: Set<String> = [
    "application/jsonl", "application/x-jsonl", "application/jsonlines", "application/x-jsonlines",
    "application/ndjson", "application/x-ndjson", "application/json-lines",
    "application/x-json-stream", "text/jsonl", "text/x-ndjson",
  ]

  /// The lines as one array, each value on the line where it was, so that faults are placed.
  ///
  /// - Parameter body: A value a line; what is an array already stays what it is.
  /// - Returns: JSON.
  package static func array(of body: [UInt8]) -> [UInt8] {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = body.starts(with: mark) ? body.dropFirst(3) : body[...]
    guard content.first(where: { !isSpace($0) }) != UInt8(ascii: "[") else { return body }
    var array: [UInt8] = [UInt8(ascii: "[")]
    array.reserveCapacity(body.count + body.count / 64 + 2)
    var isFirst = true
    for (number, line) in content.split(separator: 0x0A, omittingEmptySubsequences: false)
      .enumerated()
    {
      if number > 0 { array.append(0x0A) }
      if line.allSatisfy(isSpace) { continue }
      if !isFirst { array.append(UInt8(ascii: ",")) }
      array += line
      isFirst = false
    }
    array.append(UInt8(ascii: "]"))
    return array
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
