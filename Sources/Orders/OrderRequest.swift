import Base
import Catalog

/// A customer's request to order items of the catalog.
///
///     var request = OrderRequest(by: "Jiyeon", items: [.init("HDF73", quantity: 2)])
///     request.budget = Price(minorUnits: 20_000, currency: "KRW")
public struct OrderRequest: Sendable, Hashable {
  /// An item and its quantity.
  public struct Item: Hashable, Sendable {
    /// The id of the item.
    public var id: String
    /// The number of pieces, from 1 to 1,000,000.
    public var quantity: Int

    /// Makes a request for a number of pieces of an item.
    public init(_ id: String, quantity: Int = 1) {
      self.id = id
      self.quantity = quantity
    }
  }

  /// The name of the customer.
  ///
  /// It has 1 to 200 characters.
  public var by: String
  /// The requested items.
  ///
  /// An item can occur more than once.
  public var items: [Item]
  /// The note of the customer.
  ///
  /// It has at most 10,000 characters.
  public var note: String?
  /// The maximum total in the currency of the catalog; nil if there is no limit.
  public var budget: Price?
  /// Whether the order is accepted although an item is sold out.
  public var allowsSoldOut = false
  /// The locale for texts about the order, for example `ko_KR`.
  ///
  /// The texts are Korean or English.
  public var locale: String

  /// Makes a request without a note and without a budget.
  public init(by: String, items: [Item], locale: String = "en_US") {
    self.by = by
    self.items = items
    self.locale = locale
  }

  /// The maximum length of a name in characters.
  package static let longestName = 200
  /// The maximum length of a note in characters.
  package static let longestNote = 10_000
  /// The maximum number of pieces of one item.
  package static let mostPieces = 1_000_000

  /// Checks the request, and makes an order with the titles and prices in the catalog.
  ///
  /// - Parameters:
  ///   - catalog: The items of the catalog. The keys are the ids of the items.
  ///   - id: The id of the order.
  ///   - now: The current time.
  /// - Returns: The order, which is not stored yet.
  /// - Throws: ``LarderError`` with one of several codes. The code is `usage` for an invalid name or number, and
  ///   `unknown` for an item that is not in the catalog. It is `refused` if an item is sold out or has no price, or if
  ///   the total exceeds the budget.
  package func order(_ catalog: [ExactText: StoreItem], id: OrderID, at now: OrderTime)
    throws(LarderError) -> PlacedOrder
  {
    let name = PlainText.line(by)
    guard !name.isEmpty, name.count <= Self.longestName else {
      throw LarderError(
        .usage,
        "cannot order: a name has 1 to \(Self.longestName) characters",
        remedy: .giveName
      )
    }
    if let note, note.count > Self.longestNote {
      throw LarderError(
        .usage,
        "cannot order: the note has \(note.count) characters; the limit is \(Self.longestNote)"
      )
    }
    let lines = try lines(catalog)
    let total = try Self.total(of: lines)
    if let budget, budget.currency != total.currency || total.minorUnits > budget.minorUnits {
      throw LarderError(
        .refused,
        "cannot order: \(total.formatted()) is more than the budget of \(budget.formatted())",
        remedy: .budget
      )
    }
    let text = note.map(PlainText.block).flatMap { $0.isEmpty ? nil : $0 }
    return PlacedOrder(
      id: id,
      by: name,
      lines: lines,
      total: total,
      note: text,
      language: Language(locale: locale),
      placed: now
    )
  }

  /// Makes one line for each item, in the order in which the items first occur in the request.
  private func lines(_ catalog: [ExactText: StoreItem]) throws(LarderError) -> [OrderLine] {
    var quantities: [ExactText: Int] = [:]
    var ids: [String] = []
    for item in items {
      if quantities[item.id.exact] == nil { ids.append(item.id) }
      quantities[item.id.exact, default: 0] += min(max(item.quantity, -1), Self.mostPieces + 1)
      guard item.quantity > 0, quantities[item.id.exact, default: 0] <= Self.mostPieces else {
        throw LarderError(
          .usage,
          "cannot order \(item.quantity) of \(item.id): the quantity must be from 1 to \(Self.mostPieces)"
        )
      }
    }
    var lines: [OrderLine] = []
    for id in ids {
      guard let item = catalog[id.exact] else {
        throw LarderError(.unknown, "cannot order \(id): the catalog has no such item", thing: id)
      }
      if !allowsSoldOut, item.isSoldOut {
        throw LarderError(
          .refused,
          "cannot order \(id) (\(item.title)): it is sold out",
          remedy: .anyway,
          thing: id
        )
      }
      guard let price = item.salePrice ?? item.normalPrice else {
        throw LarderError(
          .refused,
          "cannot order \(id) (\(item.title)): the catalog has no price for it; sync again",
          thing: id
        )
      }
      lines.append(
        OrderLine(
          item: id,
          title: PlainText.line(item.title),
          price: price,
          quantity: quantities[id.exact, default: 1]
        )
      )
    }
    return lines
  }

  private static func total(of lines: [OrderLine]) throws(LarderError) -> Price {
    guard let currency = lines.first?.price.currency else {
      throw LarderError(.usage, "cannot order: no item is given; name one")
    }
    var total = Price(minorUnits: 0, currency: currency)
    for line in lines {
      guard line.price.currency == currency else {
        throw LarderError(
          .refused,
          "cannot order \(line.item): its price is in \(line.price.currency), not in \(currency); "
            + "order it separately"
        )
      }
      guard let next = line.price.times(line.quantity).flatMap(total.plus) else {
        throw LarderError(.usage, "cannot order: the total is too large; order less")
      }
      total = next
    }
    return total
  }
}

extension Price {
  /// This price times `count`; nil on overflow.
  package func times(_ count: Int) -> Price? {
    let (units, overflow) = minorUnits.multipliedReportingOverflow(by: count)
    return overflow ? nil : Price(minorUnits: units, currency: currency)
  }

  /// The sum of this price and one in the same currency; nil on overflow.
  package func plus(_ other: Price) -> Price? {
    let (units, overflow) = minorUnits.addingReportingOverflow(other.minorUnits)
    return overflow ? nil : Price(minorUnits: units, currency: currency)
  }
}

extension StoreItem {
  /// Whether the item has a badge such as `Sold out`, `out_of_stock`, `https://schema.org/OutOfStock` or `품절`.
  package var isSoldOut: Bool {
    badges.contains { badge in
      let word = badge.lowercased().filter { $0.isLetter || $0.isNumber }
      return Self.soldOutWords.contains(where: word.contains)
    }
  }

  /// Words for "sold out" in lower case and without spaces and punctuation.
  private static let soldOutWords = [
    "soldout", "outofstock", "discontinued", "품절", "매진", "단종", "재고없음", "판매종료", "판매중지",
  ]
}
