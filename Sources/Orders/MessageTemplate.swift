/// The words of a message to people, with places for what the order says.
///
/// The template is the user's own and may hold anything, mentions too; what fills its places is
/// escaped and cannot.
package struct MessageTemplate: Sendable, Equatable {
  /// Who – how much – what.
  package static let standard = MessageTemplate(
    parts: [.place(.by), .text(" – "), .place(.total), .text(" – "), .place(.what)]
  )

  /// What may stand in braces.
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
  /// - Throws: ``OrdersError`` of code `usage` that names the place it does not know.
  package init(_ text: String) throws(OrdersError) {
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
          throw OrdersError(
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
  func text(for order: Order, _ state: OrderState, limit: Int) -> String {
    var text = SlackText(limit: limit)
    for part in parts {
      switch part {
      case .text(let words): text.append(raw: words)
      case .place(let place): text.append(Self.value(of: place, order, state))
      }
    }
    return text.value
  }

  private static func value(of place: Place, _ order: Order, _ state: OrderState) -> String {
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
