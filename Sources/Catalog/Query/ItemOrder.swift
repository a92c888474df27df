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
    sorted(elements.map { (key: key(of: item($0)), element: $0) }).map(\.element)
  }

  /// Puts elements into order by their keys, without the items; those that are equal keep theirs.
  package func sorted<Element>(
    _ elements: [(key: Key, element: Element)]
  ) -> [(key: Key, element: Element)] {
    // Swift's sort is stable.
    elements.sorted { precedes($0.key, $1.key) }
  }

  /// What an item is put into order by.
  package enum Key: Sendable {
    /// It has no price.
    case none
    /// A price, in minor units of a currency with so many digits behind the point.
    case amount(units: Int, exponent: Int)
    /// A title, folded.
    case text(String)
  }

  /// What an item is put into order by.
  package func key(of item: StoreItem) -> Key {
    switch self {
    case .title: .text(SearchText.foldedText(item.title))
    case .price, .dearest:
      item.price.map {
        .amount(units: $0.minorUnits, exponent: Currency.exponent(of: $0.currency))
      } ?? .none
    }
  }

  /// Whether one key comes before another.
  private func precedes(_ first: Key, _ second: Key) -> Bool {
    switch (first, second) {
    case (.text(let first), .text(let second)): return first < second
    case (.amount(let first, let places), .amount(let second, let others)):
      // Units of several currencies are compared as numbers, for want of a rate.
      let (first, second) = (Self.major(first, places), Self.major(second, others))
      return self == .dearest ? first > second : first < second
    case (.amount, _): return true
    default: return false
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
