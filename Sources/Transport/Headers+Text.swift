extension Headers {
  /// The fields as text, `Name: value` a line, each byte a character of its own: a value need not be UTF-8, and
  /// what ``init(text:)`` reads back is what came.
  package var text: String {
    guard lines.contains(where: { $0 >= 0x80 }) else {
      return String(decoding: lines, as: UTF8.self)
    }
    return String(String.UnicodeScalarView(lines.map { Unicode.Scalar($0) }))
  }

  /// Reads back the UTF-8 of what ``text`` gave; for text of our own making only.
  package init(text: UnsafeBufferPointer<UInt8>) {
    guard text.contains(where: { $0 >= 0x80 }) else {
      self.init(lines: Array(text))
      return
    }
    let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
    self.init(lines: scalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") })
  }

  /// The fields but those that `Connection` names, which were for one connection alone. (RFC 9111, section 3.1)
  package var endToEnd: Headers {
    guard let value = combined("Connection"), !value.equalsIgnoringCase("keep-alive") else {
      return self
    }
    let named = value.split(separator: ",").map { name in name.filter { $0 != " " && $0 != "\t" } }
      .filter { !$0.equalsIgnoringCase("close") && !$0.equalsIgnoringCase("keep-alive") }
    guard !named.isEmpty else { return self }
    return Headers(fields: { line in !named.contains { line.isNamed(text: $0) } }, of: self)
  }

  /// The lines of `headers` that are wanted.
  private init(fields isKept: (HeaderLines.Line) -> Bool, of headers: Headers) {
    let kept = headers.lines.withUnsafeBufferPointer { bytes in
      var kept: [UInt8] = []
      for line in HeaderLines(bytes) where isKept(line) { line.append(to: &kept) }
      return kept
    }
    self.init(lines: kept)
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
