import FoundationEssentials

/// A message as Slack's incoming webhooks take it: blocks, and a text for notifications.
struct SlackPayload: Encodable {
  /// Slack's limits. (Block Kit reference: header, section)
  static let headerLimit = 150
  static let sectionLimit = 3000
  /// The most lines of an order that are spelled out.
  private static let mostLines = 50

  private struct Text: Encodable {
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

  private struct Block: Encodable {
    let type: String
    var text: Text?
    var elements: [Text]?
  }

  private let text: String
  private let blocks: [Block]

  /// Writes a message.
  ///
  /// - Parameters:
  ///   - order: the order.
  ///   - state: what the message is about.
  ///   - template: the words of the text.
  init(_ order: Order, _ state: OrderState, _ template: MessageTemplate) {
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
  func json() -> [UInt8]? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(self)).map { [UInt8]($0) }
  }

  private static func lines(of order: Order) -> String {
    var text = SlackText(limit: sectionLimit)
    for (index, line) in order.lines.prefix(mostLines).enumerated() {
      if index > 0 { text.append(raw: "\n") }
      text.append("• \(line.title) × \(line.quantity) (\(line.price.formatted()))")
    }
    if order.lines.count > mostLines { text.append(raw: "\n…") }
    return text.value
  }
}
