/// What one run of a courier did, and what it leaves.
package struct CourierReport: Hashable, Sendable {
  /// A message that was not delivered, and why.
  package struct Trouble: Hashable, Sendable {
    /// The order.
    package let order: OrderID
    /// Where its message is now: queued, ambiguous or dead.
    package let delivery: Delivery
  }

  /// Orders whose messages were delivered, in their order; one with two messages stands twice.
  package var delivered: [OrderID] = []
  /// Messages that this run gave up, or has to try again, the last word of each.
  package var troubles: [Trouble] = []
  /// Orders that somebody has to decide about, from this run and those before.
  package var held: [OrderID] = []
  /// Messages by state afterwards.
  package var counts = DeliveryCounts([:])
  /// Why the webhook takes nothing any more; nil while it does.
  package var stopped: String?
  /// Why the last attempt reached nobody; nil when it did.
  package var unreachable: String?
  /// When the next message is due, when that is too far away to wait for.
  package var nextDue: OrderTime?
  /// Whether ``Courier/stop()`` ended it.
  package var wasInterrupted = false

  /// The report where nothing was ever ordered.
  package static let nothing = CourierReport()

  /// An empty report.
  init() {}

  /// Orders whose messages this run found dead.
  package var dead: [OrderID] {
    troubles.filter { $0.delivery.state == .dead }.map(\.order)
  }

  /// The report as far as it concerns one order.
  package func about(_ order: OrderID) -> CourierReport {
    var report = self
    report.delivered = delivered.filter { $0 == order }
    report.troubles = troubles.filter { $0.order == order }
    report.held = held.filter { $0 == order }
    if !report.delivered.isEmpty, report.troubles.isEmpty { report.unreachable = nil }
    return report
  }

  /// Keeps the last word on a message.
  mutating func note(_ order: OrderID, _ delivery: Delivery) {
    troubles.removeAll { $0.order == order }
    if delivery.state == .delivered {
      delivered.append(order)
    } else {
      troubles.append(Trouble(order: order, delivery: delivery))
    }
  }
}
