extension Headers {
  /// The fields as text, `Name: value` a line: what ``init(text:)`` reads back.
  package var text: String { String(decoding: lines, as: UTF8.self) }

  /// Reads back the UTF-8 of what ``text`` gave; for text of our own making only.
  package init(text: UnsafeBufferPointer<UInt8>) {
    self.init(lines: Array(text))
  }

  /// Only the fields of these names, in lower case or not, in their order.
  ///
  /// One pass over the raw lines: a cache keeps a few fields of each of many thousand responses.
  package func only(_ names: [StaticString]) -> Headers {
    // Most lines begin with a letter that none of the names begins with.
    let initials = names.reduce(UInt32(0)) { $0 | 1 << ($1.utf8Start[0] & 31) }
    let kept = lines.withUnsafeBufferPointer { bytes in
      var kept: [UInt8] = []
      kept.reserveCapacity(bytes.count)
      for line in HeaderLines(bytes) where initials >> (bytes[line.whole.lowerBound] & 31) & 1 == 1
      {
        let isKept = names.contains { line.isNamed($0) }
        if isKept { line.append(to: &kept) }
      }
      return kept
    }
    return Headers(lines: kept)
  }
}
