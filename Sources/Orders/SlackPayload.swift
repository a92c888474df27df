import Base
import Catalog
import FoundationEssentials

/// A message as Slack's incoming webhooks take it: blocks, and a text for notifications.
struct SlackPayload: Encodable {
  /// Slack's limits. (Block Kit reference: header, section)
  static let headerLimit = 150
  static let sectionLimit = 3000
  /// The most lines of an order that are spelled out.
  private static let mostLines = 50

  struct Text: Encodable {
    let type: String
    let text: String
    /// Keeps Slack from finding channels, people and links in plain words.
    let verbatim: Bool?
    let emoji: Bool?

    static func plain(_ text: String) -> Text {
      Text(type: "plain_text", text: text, verbatim: nil, emoji: false)
    }

    static func marked(_ text: String) -> Text {
      Text(type: "mrkdwn", text: text, verbatim: true, emoji: nil)
    }
  }

  /// A picture by its URL, which Slack fetches.
  struct Image: Encodable {
    private let type = "image"
    let imageURL: String
    let altText: String

    private enum CodingKeys: String, CodingKey {
      case type
      case imageURL = "image_url"
      case altText = "alt_text"
    }

    init(imageURL: String, altText: String) {
      (self.imageURL, self.altText) = (imageURL, altText)
    }
  }

  struct Block: Encodable {
    let type: String
    var text: Text?
    var elements: [Text]?
    var accessory: Image?
  }

  private let text: String
  private let blocks: [Block]

  /// A message from its parts.
  init(text: String, blocks: [Block]) {
    (self.text, self.blocks) = (text, blocks)
  }

  /// Writes a message.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - state: the state that the message reports.
  ///   - template: the words of the text.
  init(_ order: PlacedOrder, _ state: OrderState, _ template: MessageTemplate) {
    let words = template.text(for: order, state, limit: Self.sectionLimit)
    text = words
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
    self.blocks = blocks
  }

  /// The message as JSON.
  func json() -> [UInt8]? { JSONBytes.of(self) }

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

/// The text of a message to people, with placeholders for the order's data.
///
/// The template is the user's own and may hold anything, mentions too; the values of its
/// placeholders are escaped.
package struct MessageTemplate: Sendable, Equatable {
  /// Customer – total – items, for example `Kim – 15,200원 – Tea × 2`.
  package static let standard = MessageTemplate(
    parts: [.place(.by), .text(" – "), .place(.total), .text(" – "), .place(.what)]
  )

  /// The names of placeholders.
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

  /// Reads a template such as `{by} – {total} – {what}`.
  ///
  /// - Parameter text: the template; `{{` and `}}` are braces.
  /// - Throws: ``LarderError`` of code `usage` that names the place it does not know.
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

  /// The words for an order, escaped and at most so long.
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
    // Orders of an older larder may contain characters that it accepted.
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
