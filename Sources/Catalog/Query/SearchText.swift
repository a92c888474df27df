/// What a person searches for, compared as people compare: without regard to case, to the width of
/// characters, to how Unicode composes them, or to how much white space stands between.
///
/// A Korean initial consonant stands for every syllable that begins with it, as on a phone: `ㅂㄱㄱ` and
/// `불ㄱㄱ` find 불고기.
public struct SearchText: Hashable, Sendable {
  /// What is looked for, character by character.
  private let pattern: [Mark]

  private enum Mark: Hashable, Sendable {
    case character(Character)
    /// The number of a Korean initial consonant, and the consonant written by itself.
    case initial(UInt32, Character)
  }

  /// Reads what is searched for; text without any character finds everything.
  public init(_ text: String) {
    pattern = Self.folded(text).map { character in
      Self.initial(of: character).map { .initial($0, character) } ?? .character(character)
    }
  }

  /// Whether everything is found.
  public var isEmpty: Bool { pattern.isEmpty }

  /// Whether a text holds what is searched for.
  public func isIn(_ text: String) -> Bool {
    if pattern.isEmpty { return true }
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

  /// A text with everything taken out in which texts may differ and mean the same.
  ///
  /// Characters are compared by canonical equivalence, so composed and decomposed ones are equal already.
  static func folded(_ text: String) -> [Character] {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { scalars.append(narrowed(scalar)) }
    // Upper case first, for ß is SS there and both are ss below.
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

  /// The usual form of a full-width or half-width character. (Unicode, UAX 11)
  private static func narrowed(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0xFF01...0xFF5E: Unicode.Scalar(scalar.value - 0xFEE0) ?? scalar
    case 0x3000, 0xA0: " "
    // Half-width Hangul letters stand in the order of the usual ones, up to the vowels.
    case 0xFFA1...0xFFBE: Unicode.Scalar(scalar.value - 0xFFA1 + 0x3131) ?? scalar
    default: scalar
    }
  }

  // MARK: - Korean

  /// The 19 consonants that begin a syllable, as they are typed alone, in Unicode's order.
  private static let initials = Array("ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ")

  /// The number of an initial consonant that stands alone; nil for anything else.
  private static func initial(of character: Character) -> UInt32? {
    if let place = initials.firstIndex(of: character) { return UInt32(place) }
    let scalars = character.unicodeScalars
    guard scalars.count == 1, let value = scalars.first?.value, (0x1100...0x1112).contains(value)
    else { return nil }
    return value - 0x1100
  }

  /// The number of the consonant that a syllable begins with; nil for anything else.
  /// (Unicode, section 3.12)
  private static func leading(_ character: Character) -> UInt32? {
    guard let first = character.unicodeScalars.first?.value else { return nil }
    switch first {
    case 0xAC00...0xD7A3: return (first - 0xAC00) / 588
    case 0x1100...0x1112: return first - 0x1100
    default: return nil
    }
  }
}
