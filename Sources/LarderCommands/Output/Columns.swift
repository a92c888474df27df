/// Columns that a text takes on a terminal: two for each Hangul, Han or wide character, and for an emoji, however
/// many characters it is made of. (UAX 11, UTS 51)
func columns(_ text: String) -> Int {
  let count = text.utf8.count
  if text.utf8.allSatisfy({ $0 < 0x80 }) { return count }
  return text.reduce(0) { $0 + columns(of: $1) }
}

/// The columns of what a person takes for one character.
private func columns(of character: Character) -> Int {
  let scalars = character.unicodeScalars
  guard let first = scalars.first else { return 0 }
  guard scalars.count > 1 else { return columns(of: first) }
  // A selector makes an emoji of a letter; two letters of a country are its flag.
  if first.properties.isEmoji, scalars.contains("\u{FE0F}") { return 2 }
  if (0x1F1E6...0x1F1FF).contains(first.value) { return 2 }
  // What is joined to an emoji, or colours its skin, stands within it.
  if first.properties.isEmojiPresentation { return 2 }
  return scalars.reduce(0) { $0 + columns(of: $1) }
}

private func columns(of scalar: Unicode.Scalar) -> Int {
  switch scalar.value {
  case 0x20...0x7E, 0xA0...0x02FF: return 1
  // The vowels and finals of decomposed Hangul stand below and beside its first consonant.
  case 0x1160...0x11FF, 0xD7B0...0xD7FF, 0x200B...0x200F: return 0
  case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3,
    0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD:
    return 2
  default: break
  }
  switch scalar.properties.generalCategory {
  case .nonspacingMark, .enclosingMark: return 0
  default: return scalar.properties.isEmojiPresentation ? 2 : 1
  }
}

/// `text` with spaces to its right, to so many columns.
func padded(_ text: String, to width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - columns(text)))
}
