/// A list of texts that a shop writes as one text.
enum ListText {
  /// The texts of a list such as `["/a.jpg", "/b.jpg"]`, without those that are empty or null.
  ///
  /// Exports write such a list into one cell of a table, as JSON or as Python prints it: `['/a.jpg', '/b.jpg']`.
  ///
  /// - Returns: Nil if the text is not a list, or if an element of the list is neither a text nor null.
  static func parts(of text: String) -> [String]? {
    guard text.utf8.first(where: { $0 > 0x20 }) == UInt8(ascii: "["),
      let root = try? JSONDocument(parsing: json(of: text), of: "a list").root, root.kind == .array
    else { return nil }
    let elements = root.elements.filter { $0.kind != .null }
    let texts = elements.compactMap(\.text)
    return texts.count == elements.count ? texts.filter { !$0.isEmpty } : nil
  }

  /// A text in which each string in single quotes is written in double quotes.
  private static func json(of text: String) -> [UInt8] {
    let (single, double, backslash) = (
      UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "\\")
    )
    var json: [UInt8] = []
    var quote: UInt8?
    var isEscaped = false
    for byte in text.utf8 {
      if isEscaped {
        // JSON does not know the escape `\'`.
        json += byte == single ? [byte] : [backslash, byte]
        isEscaped = false
      } else if quote == nil {
        if byte == single || byte == double { quote = byte }
        json.append(quote == nil ? byte : double)
      } else if byte == backslash {
        isEscaped = true
      } else if byte == quote {
        quote = nil
        json.append(double)
      } else {
        json += byte == double ? [backslash, byte] : [byte]
      }
    }
    return json
  }
}
