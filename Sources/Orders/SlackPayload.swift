import Base
import Catalog
import FoundationEssentials

/// The JSON payload for Slack's incoming webhooks: blocks, and a text for notifications.
struct SlackPayload: Encodable {
  /// Slack's limits. (Block Kit reference: header, section)
  static let headerLimit = 150
  static let sectionLimit = 3000

  struct Text: Encodable {
    let type: String
    let text: String
    /// Whether Slack must not turn words into links to channels, people or URLs.
    let verbatim: Bool?
    let emoji: Bool?

    static func plain(_ text: String) -> Text {
      Text(type: "plain_text", text: text, verbatim: nil, emoji: false)
    }

    static func marked(_ text: String) -> Text {
      Text(type: "mrkdwn", text: text, verbatim: true, emoji: nil)
    }
  }

  /// An image block element; Slack fetches the picture from its URL.
  struct Image: Encodable {
    let type = "image"
    let imageURL: String
    let altText: String

    private enum CodingKeys: String, CodingKey {
      case type
      case imageURL = "image_url"
      case altText = "alt_text"
    }
  }

  struct Block: Encodable {
    let type: String
    var text: Text?
    var elements: [Text]?
    var accessory: Image?
  }

  let text: String
  let blocks: [Block]
}

extension SlackPayload {
  /// The maximum number of an order's items that a message lists.
  private static let mostLines = 50

  /// Makes the message about an order.
  ///
  /// - Parameters:
  ///   - order: The order.
  ///   - state: The state that the message reports.
  ///   - template: The template of the text.
  init(_ order: PlacedOrder, _ state: OrderState, _ template: MessageTemplate) {
    let words = template.text(for: order, state, limit: Self.sectionLimit)
    var header = SlackText(limit: Self.headerLimit)
    header.append("\(order.language.headline(of: state)): \(order.summary)")
    var blocks = [
      Block(type: "header", text: .plain(header.value)),
      Block(type: "section", text: .marked(words)),
    ]
    if state == .ordered {
      blocks.append(Block(type: "section", text: .marked(Self.lines(of: order))))
      if let note = order.note {
        var text = SlackText(limit: Self.sectionLimit)
        text.append(note)
        blocks.append(Block(type: "section", text: .marked(text.value)))
      }
    }
    let origin = Text.plain("\(order.id) · \(order.placed.text)")
    blocks.append(Block(type: "context", elements: [origin]))
    self.init(text: words, blocks: blocks)
  }

  private static func lines(of order: PlacedOrder) -> String {
    var text = SlackText(limit: sectionLimit)
    for (index, line) in order.lines.prefix(mostLines).enumerated() {
      if index > 0 { text.append(raw: "\n") }
      text.append("• \(line.title) × \(line.quantity) (\(line.price.formatted()))")
    }
    if order.lines.count > mostLines { text.append(raw: "\n…") }
    return text.value
  }
}

/// The template of a message to people, with placeholders for the order's data, such as `{by} – {total}`.
///
/// The user writes the template, so it may contain anything, even mentions; the values of placeholders are escaped.
package struct MessageTemplate: Sendable, Equatable {
  /// The default template: customer – total – items, for example `Kim – 15,200원 – Tea × 2`.
  package static let standard = MessageTemplate(
    parts: [.place(.by), .text(" – "), .place(.total), .text(" – "), .place(.what)]
  )

  /// A placeholder; the raw value is its name.
  enum Place: String, CaseIterable {
    case by, total, what, quantity, note, order, state
  }

  private enum Part: Equatable {
    case text(String)
    case place(Place)
  }

  private let parts: [Part]

  private init(parts: [Part]) {
    self.parts = parts
  }

  /// Parses a template such as `{by} – {total} – {what}`.
  ///
  /// - Parameter text: The template; `{{` and `}}` stand for braces.
  /// - Throws: ``LarderError`` of code `usage` that names the unknown placeholder.
  package init(_ text: String) throws(LarderError) {
    var parts: [Part] = []
    var plain = ""
    var rest = text[...]
    while let character = rest.popFirst() {
      if (character == "{" || character == "}") && rest.first == character {
        plain.append(character)
        rest.removeFirst()
      } else if character == "{" {
        let name = rest.prefix { $0 != "}" }
        guard let place = Place(rawValue: String(name)), rest.count > name.count else {
          let known = Place.allCases.map { "{\($0.rawValue)}" }.joined(separator: " ")
          throw LarderError(
            .usage,
            "cannot use the template: there is no {\(name.prefix(40))}; there are \(known)"
          )
        }
        rest = rest.dropFirst(name.count + 1)
        parts += [.text(plain), .place(place)]
        plain = ""
      } else {
        plain.append(character)
      }
    }
    self.parts = parts + [.text(plain)]
  }

  /// The text for an order, escaped and of at most `limit` UTF-16 code units.
  func text(for order: PlacedOrder, _ state: OrderState, limit: Int) -> String {
    var text = SlackText(limit: limit)
    for part in parts {
      switch part {
      case .text(let words): text.append(raw: words)
      case .place(let place): text.append(Self.value(of: place, order, state))
      }
    }
    return text.value
  }

  private static func value(of place: Place, _ order: PlacedOrder, _ state: OrderState) -> String {
    switch place {
    case .by: order.by
    case .total: order.total.formatted()
    case .what: order.summary
    case .quantity: String(order.quantity)
    case .note: order.note ?? ""
    case .order: order.id.rawValue
    case .state: order.language.name(of: state)
    }
  }
}

/// Builds a text for Slack, escaped and within a limit.
///
/// Exactly `&`, `<` and `>` are escaped, so that no text can make a mention or a link. A text above the limit is cut at
/// a grapheme boundary and ends with an ellipsis. So no entity and no emoji sequence is split. Lengths are in UTF-16
/// code units, as in Slack's own clients.
struct SlackText {
  private(set) var value = ""
  private var count = 0
  private let limit: Int
  private var isFull = false
  /// The position to cut at when the next grapheme does not fit, with room for the ellipsis.
  private var room: (end: String.Index, count: Int)

  init(limit: Int) {
    self.limit = limit
    room = (value.endIndex, 0)
  }

  /// Appends and escapes a text that the user did not write.
  mutating func append(_ text: String) {
    // Orders of an older larder may contain harmful characters, which that version accepted.
    let plain = String.UnicodeScalarView(
      text.unicodeScalars.filter { $0 == "\n" || !PlainText.isHarmful($0) }
    )
    for character in String(plain) where !isFull { add(escaped(character)) }
  }

  /// Appends a text that the user wrote for Slack, without escaping.
  mutating func append(raw text: String) {
    for character in text where !isFull { add(String(character)) }
  }

  /// Escapes `&`, `<` and `>`, even in a grapheme with combining marks.
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
