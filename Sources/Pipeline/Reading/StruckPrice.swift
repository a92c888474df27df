import Base
import Cache
import Catalog

/// The struck (crossed-out) price of an item on sale, if it is above the item's lowest price in the 30 days before the
/// sale.
///
/// If an item has a normal price and a lower sale price, the normal price is struck. The sale began with the first run
/// that found the item as it is now: listed, at this sale price, and with a higher normal price. The 30 days end just
/// before that run. Every price to pay that was valid in this period counts, even if it was set earlier. Times when no
/// section listed the item do not count. (Directive 98/6/EC, article 6a)
package struct StruckPrice: Sendable, Hashable, Encodable {
  private enum CodingKeys: String, CodingKey {
    case price = "normalPrice"
    case salePrice
    case began = "saleSince"
    case lowest = "lowest30Days"
  }

  /// The item's id.
  package let id: String
  /// The struck price.
  package let price: Price
  /// The sale price.
  package let salePrice: Price
  /// The time when the sale began.
  package let began: UnixTime
  /// The lowest price in the 30 days before the sale.
  package let lowest: LowestPrice

  /// The judgement of the struck price of an item on sale.
  package enum Judgement: Sendable, Hashable {
    /// The struck price is not above the lowest price in the 30 days.
    case lowest
    /// The struck price is above the lowest price in the 30 days.
    case higher(StruckPrice)
    /// The history does not cover the 30 days before the sale, or has no price in that time.
    case unknown

    /// Judges an item; nil if it is not on sale.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - course: The history of its prices.
    package init?(of item: StoreItem, _ course: PriceCourse) {
      guard let sale = item.salePrice, let struck = item.struckPrice else { return nil }
      let spans = course.spans
      let isPresent = { (span: PriceCourse.Span) in
        span.isListed && span.salePrice == sale && span.normalPrice?.isAbove(sale) ?? false
      }
      let first = spans.lastIndex { !isPresent($0) }.map { $0 + 1 } ?? 0
      guard first > 0, first < spans.count else {
        self = .unknown
        return
      }
      let began = spans[first].since
      let start = began + -LowestPrice.days * 86_400
      guard course.known <= start,
        let lowest = course.lowest(from: start, before: first, in: struck.currency)
      else {
        self = .unknown
        return
      }
      let isHigher = struck.minorUnits > lowest.price.minorUnits
      self =
        isHigher
        ? .higher(
          StruckPrice(id: item.id, price: struck, salePrice: sale, began: began, lowest: lowest)
        ) : .lowest
    }
  }
}

/// The judgement of all items on sale in one section, which is a list of items.
package struct StruckPrices: Sendable {
  /// The section.
  package let section: RunSection
  /// The number of items that it lists.
  package internal(set) var itemCount = 0
  /// The number of items on sale.
  package internal(set) var saleCount = 0
  /// The number of items on sale whose history is too short to judge.
  package internal(set) var unknownCount = 0
  /// The struck prices that are above the lowest price in the 30 days before the sale, in the section's order.
  package internal(set) var higher: [StruckPrice] = []
}

extension CatalogReader {
  /// The time when the history of the catalog begins; nil if no run has ended yet.
  package func historyBeginning() throws(LarderError) -> UnixTime? {
    try index.priceSteps(of: [], catalog: catalog.id, since: .distantPast, through: 0)?.beginning
  }

  /// Judges the struck price of every item on sale, section by section.
  ///
  /// No request is sent.
  ///
  /// - Throws: ``LarderError`` if nothing was synced yet, or the index cannot be read.
  package func struckPrices() throws(LarderError) -> [StruckPrices] {
    let last = try lastRun()
    var found: [StruckPrices] = []
    for section in try sections() {
      var own = StruckPrices(section: section)
      if let listing = section.listing {
        try index.forEachBatch(of: listing) { records throws(LarderError) in
          try judge(records.storeItems(), through: last.id, into: &own)
        }
      }
      found.append(own)
    }
    return found
  }

  private func judge(
    _ items: [StoreItem],
    through last: RunID,
    into found: inout StruckPrices
  ) throws(LarderError) {
    found.itemCount += items.count
    let priced = items.filter { $0.normalPrice != nil && $0.salePrice != nil }
    let steps = try index.priceSteps(
      of: priced.map { (section: found.section.key, id: $0.id) },
      catalog: catalog.id,
      since: .distantPast,
      through: last
    )
    guard let steps else { return }
    for (item, own) in zip(priced, steps.items) {
      let course = PriceCourse(of: item, own, since: steps.beginning)
      guard let judgement = StruckPrice.Judgement(of: item, course) else { continue }
      found.saleCount += 1
      switch judgement {
      case .higher(let struck): found.higher.append(struck)
      case .unknown: found.unknownCount += 1
      case .lowest: break
      }
    }
  }
}
