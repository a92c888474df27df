import Base
import Cache
import Catalog

/// The price to pay for an item over time, as steps for a chart.
package struct PriceLine: Sendable, Hashable {
  /// A price, and the time when it was set.
  package struct Step: Sendable, Hashable {
    /// The time when the price was set.
    package let time: UnixTime
    /// The price; nil if the item had none from then on, or no section listed it.
    package let price: Price?

    /// Makes a step from its parts.
    package init(time: UnixTime, price: Price?) { (self.time, self.price) = (time, price) }
  }

  /// The steps, oldest first.
  ///
  /// The price of each step differs from that of the step before.
  package let steps: [Step]

  /// The length of a line in days: a year.
  package static let days: Int64 = 365

  /// Makes a line from steps.
  package init(_ steps: [Step]) { self.steps = steps }

  /// Makes the line of a price history from a moment on; nil if the price has not changed since.
  ///
  /// The line begins with the price that was valid at that moment.
  init?(_ course: PriceCourse, from start: UnixTime) {
    var steps: [Step] = []
    for span in course.spans where steps.isEmpty || span.price != steps.last?.price {
      steps.append(Step(time: span.since, price: span.price))
    }
    let first = steps.lastIndex { $0.time <= start } ?? steps.startIndex
    self.steps = Array(steps[first...].drop { $0.price == nil })
    let isGone = self.steps.last.map { $0.price == nil } ?? false
    guard isGone || Set(self.steps.map(\.price)).subtracting([nil]).count > 1 else { return nil }
  }
}

extension CatalogReader {
  /// Adds price lines of the last year to those items whose price changed.
  ///
  /// - Parameter items: The items.
  /// - Returns: The items, in the same order.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func withPriceLines(_ items: [ShownItem]) throws(LarderError) -> [ShownItem] {
    let found = try recentSteps(
      of: items.map { ($0.sections.first ?? "", $0.id) },
      days: PriceLine.days
    )
    guard let found else { return items }
    return zip(items, found.items).map { item, steps in
      guard !steps.isEmpty else { return item }
      var item = item
      item.priceLine = PriceLine(
        PriceCourse(of: item.item, steps, since: found.beginning),
        from: found.start
      )
      return item
    }
  }
}
