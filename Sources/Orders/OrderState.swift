/// How far the shop is with an order.
package enum OrderState: String, Sendable, CaseIterable {
  /// Placed; may still be cancelled.
  case ordered
  /// Somebody works on it.
  case preparing
  /// Waits to be collected.
  case ready
  /// Handed over.
  case collected
  /// Given up before anybody worked on it.
  case cancelled

  /// The state that one step leads to; nil at an end.
  package var next: OrderState? {
    switch self {
    case .ordered: .preparing
    case .preparing: .ready
    case .ready: .collected
    case .collected, .cancelled: nil
    }
  }

  /// Judges a move.
  ///
  /// - Parameter state: where to.
  /// - Returns: Why it is refused; nil when it is allowed.
  package func refusal(of state: OrderState) -> String? {
    if state == next { return nil }
    if state == .cancelled, self == .ordered { return nil }
    switch (self, state) {
    case (.collected, _): return "it was collected"
    case (.cancelled, _): return "it was cancelled"
    case (_, .cancelled): return "it is \(rawValue) already, and only an ordered one can go"
    case (_, .collected): return "it is \(rawValue), and only a ready one can be collected"
    default:
      return "it is \(rawValue), from where one step leads to \(next?.rawValue ?? "nothing")"
    }
  }
}
