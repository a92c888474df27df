import Catalog
import Pipeline

/// A fact about an item: a name with its value, such as "Delivery" and "tomorrow".
struct ItemFact: Equatable {
  let name, value: String

  init(_ name: String, _ value: String) {
    (self.name, self.value) = (name, value)
  }

  /// The facts about an item that a page shows beside its texts.
  static func all(
    of shown: ShownItem,
    _ language: PageLanguage,
    _ clock: PageClock
  ) -> [ItemFact] {
    let say = language.of
    let delivery = shown.item.deliveryTypes.map(PlainText.line).filter { !$0.isEmpty }
    var facts = [ItemFact(say("Delivery", "배송"), delivery.joined(separator: ", "))]
    facts += (shown.detail?.notes ?? [:]).sorted { $0.key < $1.key }
      .map { ItemFact(language.note($0.key), PlainText.line($0.value)) }
    if let address = shown.item.address {
      facts.append(ItemFact(say("Place", "위치"), PlainText.line(address)))
    }
    if let since = shown.detailSince {
      facts.append(ItemFact(say("No detail since", "상세 정보 없음"), clock.text(since)))
    }
    if let lowest = PriceLineView(shown, clock, language)?.lowest { facts.append(lowest) }
    return facts.filter { !$0.value.isEmpty }
  }
}

extension PageLanguage {
  /// The label of a note, which is an additional field of an item's detail document, such as `delivery_fee`.
  ///
  /// Three notes of larder's built-in formats have a fixed label. The label of any other note is its key in words.
  func note(_ name: String) -> String {
    switch name {
    case "point": of("Points", "적립금")
    case "delivery_info": of("Delivery days", "배송 안내")
    case "delivery_fee": of("Delivery fee", "배송비")
    default: Self.words(ofKey: PlainText.line(name))
    }
  }

  /// A JSON key in words: both `shippingInfo` and `shipping_info` become "Shipping info".
  ///
  /// A key that has spaces or characters outside ASCII stays as it is.
  static func words(ofKey key: String) -> String {
    guard key.wholeMatch(of: /[-0-z]*/) != nil else { return key }
    let words = key.replacing(/[-_]/, with: " ")
      .replacing(/([a-z])([A-Z])/) { "\($0.output.1) \($0.output.2.lowercased())" }
      .trimmingPrefix { $0 == " " }
    return words.isEmpty ? key : words.prefix(1).uppercased() + words.dropFirst()
  }
}
