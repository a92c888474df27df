/// A text to search for.
///
/// Case, character width, Unicode composition and the amount of white space are ignored.
///
/// A Korean initial consonant matches every syllable that begins with it, as in a phone's search: `ㅂㄱㄱ` and `불ㄱㄱ` find
/// 불고기.
public struct SearchText: Hashable, Sendable {
  /// The pattern, one mark for each character.
  private let pattern: [Mark]
  /// The pattern for texts of common characters (see ``PlainScalars``); nil if the pattern has other characters.
  private let plainPattern: [PlainMark]?

  private enum Mark: Hashable, Sendable {
    case character(Character)
    /// The index of a Korean initial consonant, and the consonant itself.
    case initial(UInt32, Character)
  }

  private struct PlainMark: Hashable, Sendable {
    var scalar: UInt32
    /// The index of the consonant, if the mark is a Korean initial consonant; otherwise nil.
    var initial: UInt32?
  }

  /// Reads a search text; an empty text finds everything.
  public init(_ text: String) {
    pattern = Self.folded(text).map { character in
      Self.initial(of: character).map { .initial($0, character) } ?? .character(character)
    }
    plainPattern = PlainScalars.folded(text).map { scalars in
      scalars.map { scalar in
        let character = Unicode.Scalar(scalar).map(Character.init)
        return PlainMark(scalar: scalar, initial: character.flatMap(Self.initial))
      }
    }
  }

  /// Whether the search text is empty and therefore finds everything.
  public var isEmpty: Bool { pattern.isEmpty }

  /// Whether a text contains the search text.
  public func isIn(_ text: String) -> Bool {
    if pattern.isEmpty { return true }
    if let plainPattern, let scalars = PlainScalars.folded(text) {
      return Self.holds(scalars, plainPattern)
    }
    let text = Self.folded(text)
    guard text.count >= pattern.count else { return false }
    return (0...text.count - pattern.count).contains { start in
      pattern.indices.allSatisfy { Self.fits(pattern[$0], text[start + $0]) }
    }
  }

  private static func fits(_ mark: Mark, _ character: Character) -> Bool {
    switch mark {
    case .character(let wanted): character == wanted
    case .initial(let number, let letter): character == letter || leading(character) == number
    }
  }

  private static func holds(_ text: [UInt32], _ pattern: [PlainMark]) -> Bool {
    guard text.count >= pattern.count else { return false }
    return text.withUnsafeBufferPointer { text in
      (0...text.count - pattern.count).contains { start in
        pattern.indices.allSatisfy { fits(pattern[$0], text[start + $0]) }
      }
    }
  }

  private static func fits(_ mark: PlainMark, _ scalar: UInt32) -> Bool {
    mark.scalar == scalar || mark.initial.map { $0 == leading(scalar) } ?? false
  }

  /// The text in a normal form: usual character widths, lower case, single spaces.
  ///
  /// Texts that should match become equal.
  ///
  /// Swift compares characters by canonical equivalence, so composed and decomposed characters are equal already.
  static func folded(_ text: String) -> [Character] {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { scalars.append(narrowed(scalar)) }
    // Convert to upper case first: ß becomes SS, and both spellings become ss in lower case.
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
    guard let scalars = PlainScalars.folded(text) else { return String(folded(text)) }
    return String(String.UnicodeScalarView(scalars.compactMap(Unicode.Scalar.init)))
  }

  /// The usual form of a full-width or half-width character. (Unicode, UAX 11)
  private static func narrowed(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    Unicode.Scalar(narrowed(scalar.value)) ?? scalar
  }

  /// The usual forms of half-width katakana and their punctuation, U+FF61 to U+FF9F.
  ///
  /// The last two are sound marks that combine with the letter before them. (Unicode, "Halfwidth and Fullwidth Forms")
  private static let katakana: [UInt32] =
    ("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン"
    + "\u{3099}\u{309A}").unicodeScalars.map(\.value)

  /// The usual form of a full-width or half-width character, as a scalar value.
  fileprivate static func narrowed(_ value: UInt32) -> UInt32 {
    switch value {
    case 0xFF01...0xFF5E: value - 0xFEE0
    case 0xFF61...0xFF9F: katakana[Int(value - 0xFF61)]
    case 0x3000, 0xA0: 0x20
    // Half-width Hangul letters have the same order as the usual letters, up to the vowels.
    case 0xFFA1...0xFFBE: value - 0xFFA1 + 0x3131
    default: value
    }
  }

  // MARK: - Korean

  /// The 19 initial consonants of Korean syllables, as separate letters in Unicode's order.
  private static let initials = Array("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")

  /// The index of the consonant, if the character is a single initial consonant; otherwise nil.
  private static func initial(of character: Character) -> UInt32? {
    if let place = initials.firstIndex(of: character) { return UInt32(place) }
    let scalars = character.unicodeScalars
    guard scalars.count == 1, let value = scalars.first?.value, (0x1100...0x1112).contains(value)
    else { return nil }
    return value - 0x1100
  }

  /// The index of the consonant that a syllable begins with; nil for other characters. (Unicode, section 3.12)
  private static func leading(_ character: Character) -> UInt32? {
    character.unicodeScalars.first.flatMap { leading($0.value) }
  }

  private static func leading(_ first: UInt32) -> UInt32? {
    switch first {
    case 0xAC00...0xD7A3: return (first - 0xAC00) / 588
    case 0x1100...0x1112: return first - 0x1100
    default: return nil
    }
  }
}

extension SearchText {
  /// A fast path for texts of common characters.
  ///
  /// Each of these characters is one scalar, combines with no neighbour, and has a single scalar as its lower case.
  ///
  /// The general path uses Unicode's tables and takes forty times as long, and a search reads every text of a catalog.
  enum PlainScalars {
    /// The scalars of ``SearchText/folded(_:)``; nil for a text with other characters.
    static func folded(_ text: String) -> [UInt32]? {
      var scalars: [UInt32] = []
      scalars.reserveCapacity(text.utf8.count)
      for scalar in text.unicodeScalars {
        guard let folded = folded(narrowed(scalar.value)) else { return nil }
        guard folded == 0x20 else {
          scalars.append(folded)
          continue
        }
        if let last = scalars.last, last != 0x20 { scalars.append(0x20) }
      }
      if scalars.last == 0x20 { scalars.removeLast() }
      return scalars
    }

    /// The lower case of a common character, with any white space as a space; nil for another character.
    private static func folded(_ value: UInt32) -> UInt32? {
      switch value {
      case 0x09...0x0D, 0x20: 0x20
      case 0x41...0x5A: value + 0x20
      case 0..<0x80: value
      // Latin letters. ß is left out, because its upper case is two letters; × and ÷ are not letters.
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
}
