import Transport

/// Requests at a constant rate: when each is due, whatever became of those before it.
///
/// Latency counted from these moments has no coordinated omission: while an answer is late, the
/// requests that were due meanwhile are late too, and say so.
struct ArrivalSchedule: Sendable, Equatable {
  /// When the first is due.
  let start: MonotonicTime
  /// Requests a second.
  let rate: Double

  /// When the request of that number is due; numbers count from 0.
  func moment(of number: Int) -> MonotonicTime {
    start + .nanoseconds(Int64((Double(number) * 1e9 / rate).rounded()))
  }
}
