extension Headers {
  /// The fields as text, `Name: value` a line: what ``init(text:)`` reads back.
  package var text: String { String(decoding: lines, as: UTF8.self) }

  /// Reads back what ``text`` gave; for text of our own making only.
  package init(text: Substring) {
    self.init(lines: Array(text.utf8))
  }

  /// Only the fields of these names, in lower case or not, in their order.
  ///
  /// One pass over the raw lines: a cache keeps a few fields of each of many thousand responses.
  package func only(_ names: [String]) -> Headers {
    var kept: [UInt8] = []
    kept.reserveCapacity(lines.count)
    var start = 0
    while start < lines.count {
      let end = lines[start...].firstIndex(of: 10) ?? lines.count
      defer { start = end + 1 }
      let line = lines[start..<end]
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = line[..<colon]
      let isKept = names.contains { wanted in
        wanted.utf8.count == name.count
          && zip(wanted.utf8, name).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
      }
      if isKept {
        kept.append(contentsOf: line)
        kept.append(10)
      }
    }
    return Headers(lines: kept)
  }
}
