import Catalog
import FoundationEssentials
import Orders
import Pipeline

/// What `order send` did, as JSON: two counts of this run, then two of what is left.
struct CourierDocument: Encodable {
  private struct Trouble: Encodable {
    let order: String
    let delivery: String
    @OrNull var lastError: String?
    @OrNull var nextAttempt: String?
  }

  private let report: CourierReport

  private enum Key: String, CodingKey {
    case delivered, dead, queued, ambiguous, stopped, unreachable, held, troubles
  }

  init(_ report: CourierReport) {
    self.report = report
  }

  func encode(to encoder: any Encoder) throws {
    var body = encoder.container(keyedBy: Key.self)
    try body.encode(report.delivered.count, forKey: .delivered)
    try body.encode(report.dead.count, forKey: .dead)
    try body.encode(report.counts[.queued] + report.counts[.sending], forKey: .queued)
    try body.encode(report.held.count, forKey: .ambiguous)
    try body.encode(report.stopped, forKey: .stopped)
    try body.encode(report.unreachable, forKey: .unreachable)
    try body.encode(report.held.map(\.rawValue), forKey: .held)
    try body.encode(
      report.troubles.map {
        Trouble(
          order: $0.order.rawValue,
          delivery: $0.delivery.state.rawValue,
          lastError: $0.delivery.lastError,
          nextAttempt: $0.delivery.nextAttempt?.text
        )
      },
      forKey: .troubles
    )
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }
}
