import Transport

/// Decides whether a failed attempt is made again, and when, within what the run may spend on that.
struct AttemptBudget {
  private let options: TransportOptions
  private var budget: RetryBudget
  private var random = SystemRandomNumberGenerator()

  init(_ options: TransportOptions) {
    self.options = options
    budget = RetryBudget(options.retry)
  }

  /// Counts a request, which earns the run a part of a retry.
  mutating func countRequest() { budget.countRequest() }

  /// When a transfer may be attempted again; nil when it may not, or not before its deadline.
  mutating func retry(
    _ transfer: Transfer,
    after failure: TransferFailure,
    at now: MonotonicTime
  ) -> MonotonicTime? {
    let decision = options.retry.decision(
      after: failure,
      attempts: transfer.attempts,
      isRepeatable: transfer.request.isRepeatable,
      random: Double.random(in: 0..<1, using: &random)
    )
    guard case .retry(let wait) = decision, now + wait < options.deadline ?? .distantFuture,
      now + wait < transfer.request.deadline ?? .distantFuture, budget.take()
    else { return nil }
    return now + wait
  }
}
