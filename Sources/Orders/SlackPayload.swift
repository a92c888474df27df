import Base
import Catalog

/// The JSON of messages for Slack's incoming webhooks.
///
/// A message is a list of blocks, for example a header and a section.
enum SlackPayload {
  /// The maximum lengths of the text in a header and in a section. (Block Kit reference: header, section)
  static let headerLimit = 150
  static let sectionLimit = 3000

  /// Makes a message from its blocks, and from the text that Slack shows in notifications.
  static func message(_ text: String, _ blocks: [JSONMembers]) -> JSONMembers {
    JSONMembers(["text": text, "blocks": blocks])
  }

  static func header(_ text: String) -> JSONMembers {
    JSONMembers(["type": "header", "text": plain(text)])
  }

  static func context(_ text: String) -> JSONMembers {
    JSONMembers(["type": "context", "elements": [plain(text)]])
  }

  /// Makes a section of a text, with a picture beside the text if `picture` is not nil.
  static func section(_ text: String, picture: JSONMembers? = nil) -> JSONMembers {
    // With `verbatim`, Slack leaves words as they are. Otherwise it makes links to channels, people and URLs.
    let text = JSONMembers(["type": "mrkdwn", "text": text, "verbatim": true])
    var block = JSONMembers(["type": "section", "text": text])
    if let picture { block.values["accessory"] = picture }
    return block
  }

  private static func plain(_ text: String) -> JSONMembers {
    JSONMembers(["type": "plain_text", "text": text, "emoji": false])
  }
}

extension SlackPayload {
  /// The maximum number of an order's items that a message lists.
  private static let mostLines = 50

  /// Makes the message about the state that an order reached.
  static func message(about order: PlacedOrder, _ state: OrderState) -> JSONMembers {
    var words = SlackText(limit: sectionLimit)
    words.append(order.text)
    var title = SlackText(limit: headerLimit)
    title.append("\(order.language.headline(of: state)): \(order.summary)")
    var blocks = [header(title.value), section(words.value)]
    if state == .ordered {
      blocks.append(section(lines(of: order)))
      if let note = order.note {
        var text = SlackText(limit: sectionLimit)
        text.append(note)
        blocks.append(section(text.value))
      }
    }
    blocks.append(context("\(order.id) · \(order.placed.text)"))
    return message(words.value, blocks)
  }

  private static func lines(of order: PlacedOrder) -> String {
    var text = SlackText(limit: sectionLimit)
    for (index, line) in order.lines.prefix(mostLines).enumerated() {
      if index > 0 { text.append("\n") }
      text.append("• \(line.title) × \(line.quantity) (\(line.price.formatted()))")
    }
    if order.lines.count > mostLines { text.append("\n…") }
    return text.value
  }
}

/// Builds a text for Slack with a maximum length.
///
/// The characters `&`, `<` and `>` are escaped, for example as `&amp;`. So no text can contain a mention or a link. A
/// text that is too long is cut between two characters and ends with an ellipsis. Lengths are in UTF-16 code units, as
/// in Slack itself.
struct SlackText {
  private(set) var value = ""
  /// The length of `value`.
  private var count = 0
  private let limit: Int
  private var isFull = false
  /// The end of the longest part of `value` that can be followed by an ellipsis.
  private var room: String.Index

  init(limit: Int) {
    self.limit = limit
    room = value.endIndex
  }

  /// Appends a text, and escapes it.
  mutating func append(_ text: String) {
    // An older larder stored orders with control characters, so they are removed here.
    let plain = String.UnicodeScalarView(
      text.unicodeScalars.filter { $0 == "\n" || !PlainText.isHarmful($0) }
    )
    for character in String(plain) where !isFull { add(escaped(character)) }
  }

  /// Escapes `&`, `<` and `>`, even in a character that also has combining marks.
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
    let size = piece.utf16.count
    guard count + size <= limit else {
      isFull = true
      value = String(value[..<room]) + "…"
      return
    }
    value += piece
    count += size
    if count < limit { room = value.endIndex }
  }
}
