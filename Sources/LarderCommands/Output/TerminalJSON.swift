import Catalog

/// JSON that is safe to print on a terminal: characters that move the cursor or change the direction of text are
/// escaped, and no value changes.
enum TerminalJSON {
  /// The document with DEL, C1, separators, bidirectional controls and their like as `\u…`.
  ///
  /// The encoder escapes C0 itself. (RFC 8259, section 7) Such characters stand in strings only,
  /// where an escape means the same.
  static func bytes(_ document: [UInt8]) -> [UInt8] {
    // The first bytes of everything that is to be escaped; Hangul and Han begin with others.
    let suspects: [UInt8] = [0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF0, 0xF1, 0xF2, 0xF3, 0xF4]
    guard document.contains(where: { $0 >= 0x7F && suspects.contains($0) }) else {
      return document
    }
    var escaped: [UInt8] = []
    escaped.reserveCapacity(document.count)
    var rest = document[...]
    while let first = rest.first {
      let length = first < 0xC0 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
      let bytes = rest.prefix(length)
      rest = rest.dropFirst(length)
      guard first >= 0x7F, suspects.contains(first),
        let scalar = String(decoding: bytes, as: UTF8.self).unicodeScalars.first,
        PlainText.isHarmful(scalar)
      else {
        escaped += bytes
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        escaped += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
      }
    }
    return escaped
  }

  /// The same as text.
  static func text(_ document: [UInt8]) -> String {
    String(decoding: bytes(document), as: UTF8.self)
  }
}
