/// Makes text from a shop, a server or an order safe to show on a terminal or in a file.
///
/// Safe text cannot move the cursor, and it cannot hide or reorder the text that follows it.
public enum PlainText {
  /// The text on one line, without white space at its ends.
  ///
  /// Several spaces, tabs or line breaks in a row become one space. Characters that are ``isHarmful(_:)`` are removed.
  public static func line(_ text: String) -> String {
    if isPlainLine(text) { return text }
    return without(text, keepingBreaks: false).split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
  }

  /// The text on one line, with all its spaces.
  ///
  /// Use this for a line whose columns are aligned already.
  ///
  /// Tabs and line breaks become spaces. Characters that are ``isHarmful(_:)`` are removed.
  public static func row(_ text: String) -> String {
    if isPlain(text) { return text }
    return without(text, keepingBreaks: false)
  }

  /// The text on several lines, each of them as ``line(_:)`` returns it.
  ///
  /// Empty lines at the ends are removed.
  public static func block(_ text: String) -> String {
    without(text, keepingBreaks: true)
      .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map { line(String($0)) }.joined(separator: "\n").trimmed
  }

  /// Whether a text is certainly equal to its ``line(_:)``, as most texts are.
  ///
  /// The test is quick, because it only compares scalars with ranges. A text with other scalars can be equal too.
  private static func isPlainLine(_ text: String) -> Bool {
    var previous: UInt32 = 0x20
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x20: if previous == 0x20 { return false }
      case 0x21...0x7E, 0xA1...0x02FF, 0x20A0...0x20BF: break
      // Kana, Han and Hangul.
      case 0x3041...0x3096, 0x30A0...0x9FFF, 0xAC00...0xD7A3: break
      default: return false
      }
      previous = scalar.value
    }
    return previous != 0x20 || text.isEmpty
  }

  /// Whether a character must be removed from text that is shown.
  ///
  /// The harmful characters are controls (C0, DEL, C1), separators of lines and paragraphs, characters that change the
  /// direction of text (Unicode, UAX 9), most invisible characters, and noncharacters. Joiners are not harmful, because
  /// emoji and some scripts need them. Tag characters are harmful, except in the flags for which they were made.
  public static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x20...0x7E, 0xA0...0x061B: false
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E: true
    case 0x2060...0x206F, 0xFDD0...0xFDEF, 0xFEFF, 0xFFF9...0xFFFB, 0xE0000...0xE007F: true
    case let value: value & 0xFFFE == 0xFFFE
    }
  }

  /// Whether the text has no harmful characters.
  public static func isPlain(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { !isHarmful($0) }
  }

  /// The text without harmful characters.
  ///
  /// Tabs become spaces. Line breaks become line feeds if `keepingBreaks` is true, otherwise spaces.
  private static func without(_ text: String, keepingBreaks: Bool) -> String {
    var plain = String.UnicodeScalarView()
    var isFlag = false
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      // CR and LF together are one line break.
      let endsBreak = scalar == "\n" && last == "\r"
      last = scalar
      if endsBreak { continue }
      switch scalar.value {
      case 0x0A...0x0D, 0x85, 0x2028, 0x2029: plain.append(keepingBreaks ? "\n" : " ")
      case 0x09, 0x1C...0x1F: plain.append(" ")
      // The flags of England, Scotland and Wales: a black flag followed by tag characters.
      case 0xE0020...0xE007F where isFlag:
        plain.append(scalar)
        continue
      default: if !isHarmful(scalar) { plain.append(scalar) }
      }
      isFlag = scalar.value == 0x1F3F4
    }
    return String(plain)
  }
}

extension StringProtocol {
  /// The text without white space at its ends.
  ///
  /// Scalars are read, as a space forms one character with a U+06DD before it.
  package var trimmed: String {
    let scalars = unicodeScalars
    // Unicode's tables take long, and nearly all texts begin and end in ASCII.
    func isSpace(_ scalar: Unicode.Scalar) -> Bool {
      scalar.isASCII
        ? scalar == " " || ("\t"..."\r").contains(scalar) : scalar.properties.isWhitespace
    }
    guard let first = scalars.firstIndex(where: { !isSpace($0) }),
      let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return String(self[first..<scalars.index(after: last)])
  }
}
