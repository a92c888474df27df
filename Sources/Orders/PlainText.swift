/// Text from elsewhere, made harmless: nothing in it can move a cursor, hide or reorder what follows.
enum PlainText {
  /// The text on one line: control characters and runs of white space become one space.
  static func line(_ text: String) -> String {
    text.split { $0.isWhitespace || $0.unicodeScalars.allSatisfy(isControl) }
      .joined(separator: " ").filtered
  }

  /// The text with its line breaks, each a line feed, and no other control character.
  static func block(_ text: String) -> String {
    text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { line(String($0)) }
      .joined(separator: "\n").trimmed
  }

  /// Controls, and the marks that turn the direction of what follows. (Unicode, UAX 9)
  fileprivate static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }
}

extension String {
  /// The text without control characters that stand inside a grapheme.
  fileprivate var filtered: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { !PlainText.isControl($0) }))
  }

  /// The text without empty lines at its ends.
  fileprivate var trimmed: String {
    let lines = split(separator: "\n", omittingEmptySubsequences: false)
    guard let first = lines.firstIndex(where: { !$0.isEmpty }),
      let last = lines.lastIndex(where: { !$0.isEmpty })
    else { return "" }
    return lines[first...last].joined(separator: "\n")
  }
}
