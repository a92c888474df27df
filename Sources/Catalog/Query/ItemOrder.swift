/// In which order items are listed when not in the catalog's.
public enum ItemOrder: String, CaseIterable, Hashable, Sendable {
  /// The cheapest first, those without a price last.
  case price
  /// The dearest first, those without a price last.
  case dearest = "-price"
  /// By title, without regard to case and width.
  case title

  /// Puts elements into order; those that are equal keep theirs.
  ///
  /// - Parameters:
  ///   - elements: What is put into order.
  ///   - item: The item of an element.
  /// - Returns: The elements in order.
  public func sorted<Element>(
    _ elements: [Element],
    by item: (Element) -> StoreItem
  ) -> [Element] {
    let keyed = elements.enumerated().map { ($0.offset, key(of: item($0.element)), $0.element) }
    return keyed.sorted { first, second in
      switch precedes(first.1, second.1) {
      case true?: true
      case false?: false
      case nil: first.0 < second.0
      }
    }.map(\.2)
  }

  private enum Key {
    case none
    case amount(units: Int, exponent: Int)
    case text(String)
  }

  private func key(of item: StoreItem) -> Key {
    switch self {
    case .title: .text(SearchText.foldedText(item.title))
    case .price, .dearest:
      item.price.map {
        .amount(units: $0.minorUnits, exponent: Currency.exponent(of: $0.currency))
      } ?? .none
    }
  }

  /// Whether one key comes before another; nil when neither does.
  private func precedes(_ first: Key, _ second: Key) -> Bool? {
    switch (first, second) {
    case (.text(let first), .text(let second)): return first == second ? nil : first < second
    case (.amount(let first, let places), .amount(let second, let others)):
      // Units of several currencies are compared as numbers, for want of a rate.
      let (first, second) = (Self.major(first, places), Self.major(second, others))
      if first == second { return nil }
      return self == .dearest ? first > second : first < second
    case (.amount, _): return true
    case (_, .amount): return false
    default: return nil
    }
  }

  /// Minor units as millionths of a major one, exactly while they are below 10^15.
  private static func major(_ units: Int, _ exponent: Int) -> Double {
    Double(units) / (0..<exponent).reduce(1.0) { power, _ in power * 10 }
  }
}

extension StoreItem {
  /// What the item costs: the price to pay, else the normal one.
  public var price: Price? { salePrice ?? normalPrice }
}
