/// A text to search for in other texts.
///
/// Differences of case, character width, Unicode composition and the amount of white space are ignored.
///
/// A Korean consonant finds all syllables that begin with it, as in the contacts of a phone. For example, `ㅂㄱㄱ` and
/// `불ㄱㄱ` find 불고기.
public struct SearchText: Hashable, Sendable {
  /// The characters to find.
  private let pattern: [Character]
  /// The scalars to find in a text of common characters, which ``foldedScalars(_:)`` defines.
  ///
  /// It is nil if not all characters of the pattern are common.
  private let plainPattern: [UInt32]?

  /// Makes a search text.
  ///
  /// An empty text finds everything.
  public init(_ text: String) {
    pattern = Self.folded(text)
    plainPattern = Self.foldedScalars(text)
  }

  /// Whether the search text is empty, so that it finds everything.
  public var isEmpty: Bool { pattern.isEmpty }

  /// Whether a text contains the search text.
  public func isIn(_ text: String) -> Bool {
    if let plainPattern, let scalars = Self.foldedScalars(text) {
      return Self.holds(scalars, plainPattern, initial: Self.initial)
    }
    return Self.holds(Self.folded(text), pattern) { character in
      character.unicodeScalars.first.flatMap { Self.initial(of: $0.value) }
        .flatMap(Unicode.Scalar.init).map(Character.init)
    }
  }

  private static func holds<Unit: Equatable>(
    _ text: [Unit],
    _ pattern: [Unit],
    initial: (Unit) -> Unit?
  ) -> Bool {
    guard text.count >= pattern.count else { return false }
    return (0...text.count - pattern.count).contains { start in
      zip(pattern, text[start...]).allSatisfy { $0 == $1 || $0 == initial($1) }
    }
  }

  /// The characters of a text in lower case, in the usual character widths, and with single spaces.
  ///
  /// Texts that a search does not distinguish become equal. Composed and decomposed characters, such as é, remain as
  /// they are, because Swift treats them as equal anyway.
  static func folded(_ text: String) -> [Character] {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(Unicode.Scalar(narrowed(scalar.value)) ?? scalar)
    }
    // ß and ss must become equal. Upper case turns both into SS, and lower case then turns them into ss.
    let plain = String(scalars).uppercased().lowercased()
    var characters: [Character] = []
    for character in plain {
      guard character.isWhitespace else {
        characters.append(character)
        continue
      }
      if let last = characters.last, last != " " { characters.append(" ") }
    }
    if characters.last == " " { characters.removeLast() }
    return characters
  }

  /// The result of ``folded(_:)`` as a string.
  static func foldedText(_ text: String) -> String {
    guard let scalars = Self.foldedScalars(text) else { return String(folded(text)) }
    return String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init)))
  }

  /// The usual forms of the half-width characters U+FF61 to U+FF9F, which are katakana and their punctuation.
  ///
  /// The last two are sound marks, which combine with the letter before them. (Unicode, "Halfwidth and Fullwidth
  /// Forms")
  private static let katakana: [UInt32] =
    ("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
    + "\u{3099}\u{309A}").unicodeScalars.map(\.value)

  /// A full-width or half-width character in its usual width, for example A for Ａ. (Unicode, UAX 11)
  private static func narrowed(_ value: UInt32) -> UInt32 {
    switch value {
    case 0xFF01...0xFF5E: value - 0xFEE0
    case 0xFF61...0xFF9F: katakana[Int(value - 0xFF61)]
    case 0x3000, 0xA0: 0x20
    // The half-width consonants of Hangul are in the same order as the usual ones.
    case 0xFFA1...0xFFBE: value - 0xFFA1 + 0x3131
    default: value
    }
  }

  /// The 19 consonants that can begin a Korean syllable, in the order of Unicode.
  private static let initials = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ".unicodeScalars.map(\.value)

  /// The consonant with which a Korean syllable begins, or nil if the scalar begins no syllable. (Unicode, section 3.12)
  private static func initial(of scalar: UInt32) -> UInt32? {
    switch scalar {
    case 0xAC00...0xD7A3: initials[Int(scalar - 0xAC00) / 588]
    case 0x1100...0x1112: initials[Int(scalar - 0x1100)]
    default: nil
    }
  }

  /// The scalars of the result of ``folded(_:)``, or nil if a character is not common.
  ///
  /// A common character is one scalar, never combines with the next one, and has a lower case of one scalar. For texts
  /// that have only common characters, as nearly all have, this takes a fortieth of the time of ``folded(_:)``, which
  /// uses Unicode's tables. A search looks into all texts of a catalog.
  static func foldedScalars(_ text: String) -> [UInt32]? {
    var scalars: [UInt32] = []
    scalars.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      guard let folded = foldedScalar(narrowed(scalar.value)) else { return nil }
      guard folded == 0x20 else {
        scalars.append(folded)
        continue
      }
      if let last = scalars.last, last != 0x20 { scalars.append(0x20) }
    }
    if scalars.last == 0x20 { scalars.removeLast() }
    return scalars
  }

  /// The lower case of a common character, or a space for white space, or nil for other characters.
  private static func foldedScalar(_ value: UInt32) -> UInt32? {
    switch value {
    case 0x09...0x0D, 0x20: 0x20
    case 0x41...0x5A: value + 0x20
    case 0..<0x80: value
    // Latin letters, except ß, because the upper case of ß is two letters. × and ÷ are not letters.
    case 0xC0...0xDE where value != 0xD7: value + 0x20
    case 0xE0...0xFF, 0xD7: value
    // Dashes, quotation marks and the ellipsis.
    case 0x2010...0x2027: value
    // Ideographic punctuation, Hiragana, Katakana and Hangul letters, without combining marks.
    case 0x3001...0x3029, 0x3041...0x3096, 0x30A1...0x30FC, 0x3131...0x318E: value
    // Ideographs and Hangul syllables.
    case 0x4E00...0x9FFF, 0xAC00...0xD7A3: value
    default: nil
    }
  }
}
