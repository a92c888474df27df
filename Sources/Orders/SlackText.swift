import Catalog

/// Text for Slack, escaped and kept within a limit.
///
/// Exactly `&`, `<` and `>` are escaped, so that no text can make a mention or a link. Where the
/// limit comes, whole graphemes go and an ellipsis ends the text: an entity is never cut, and no
/// character of a family or flag stands alone. Length is counted as Slack's own clients count it,
/// in UTF-16.
struct SlackText {
  private(set) var value = ""
  private var count = 0
  private let limit: Int
  private var isFull = false
  /// Where to cut when one more grapheme does not fit and an ellipsis must.
  private var room: (end: String.Index, count: Int)

  init(limit: Int) {
    self.limit = limit
    room = (value.endIndex, 0)
  }

  /// Adds text from elsewhere.
  mutating func append(_ text: String) {
    // Orders that an older larder took may hold what it let through.
    let plain = String.UnicodeScalarView(
      text.unicodeScalars.filter { $0 == "\n" || !PlainText.isHarmful($0) }
    )
    for character in String(plain) {
      switch character {
      case "&": add("&amp;")
      case "<": add("&lt;")
      case ">": add("&gt;")
      default: add(escaped(character))
      }
      if isFull { return }
    }
  }

  /// Adds text that the user wrote for Slack.
  mutating func append(raw text: String) {
    for character in text where !isFull { add(String(character)) }
  }

  /// A grapheme may hide one of the three among combining marks.
  private func escaped(_ character: Character) -> String {
    guard character.unicodeScalars.contains(where: { "&<>".unicodeScalars.contains($0) }) else {
      return String(character)
    }
    return character.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case "&": text += "&amp;"
      case "<": text += "&lt;"
      case ">": text += "&gt;"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }

  private mutating func add(_ piece: String) {
    guard !isFull else { return }
    let size = piece.utf16.count
    guard count + size <= limit else {
      isFull = true
      value = String(value[..<room.end]) + "…"
      count = room.count + 1
      return
    }
    value += piece
    count += size
    if count < limit { room = (value.endIndex, count) }
  }
}
