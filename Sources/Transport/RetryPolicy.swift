import Base

/// Decides whether and when a failed attempt is repeated.
///
/// Only repeatable requests are retried: a GET, or a POST that is only a query. (RFC 9110, section 9.2.2) The failure
/// must be temporary: a connection problem, 408, 425, 429, or any 5xx except 501 and 505. The waits grow
/// exponentially, with full jitter, so that many machines that failed at the same time do not retry at the same time.
package struct RetryPolicy: Sendable {
  /// The action after a failed attempt.
  package enum Decision: Hashable, Sendable {
    /// Try again after that wait.
    case retry(after: Duration)
    /// Report the failure.
    case giveUp
  }

  /// The maximum number of attempts after the first.
  ///
  /// An attempt that resumes a body counts like any other. Requests that libcurl repeats by itself, because a kept
  /// connection was closed before the first byte of the response, do not count. (RFC 9112, section 9.3.1)
  package var retries = 4
  /// The upper limit of the first wait; the limit doubles with each further wait.
  package var firstDelay = Duration.milliseconds(500)
  /// The upper limit of every wait that the server did not ask for.
  package var longestDelay = Duration.seconds(30)
  /// The longest wait for a server's `Retry-After`.
  package var longestRetryAfter = Duration.seconds(60)

  /// Makes the default policy.
  package init() {}

  /// Judges a failure after `attempts` tries; `random` is in 0..<1.
  package func decision(
    after failure: TransferFailure,
    attempts: Int,
    isRepeatable: Bool,
    random: Double
  ) -> Decision {
    guard isRepeatable, attempts <= retries, Self.mayPass(failure) else { return .giveUp }
    if let seconds = failure.retryAfter {
      // A little jitter is added to the server's wait, so the wait is never shorter than the server asked for.
      guard Self.isFollowed(seconds) else { return .giveUp }
      let wait = min(.seconds(max(0, seconds)), longestRetryAfter)
      return .retry(after: wait + firstDelay * (random / 2))
    }
    let ceiling = min(firstDelay * Double(1 << min(max(attempts - 1, 0), 20)), longestDelay)
    return .retry(after: ceiling * random)
  }

  /// Whether a run waits for a `Retry-After` of this many seconds: up to a minute.
  package static func isFollowed(_ seconds: Int64) -> Bool { seconds <= 60 }

  /// Whether the failure is temporary, so that another attempt may succeed.
  package static func mayPass(_ failure: TransferFailure) -> Bool {
    if let status = failure.status, failure.reason == .http(status) {
      switch status {
      case 408, 425, 429: return true
      case 501, 505: return false
      default: return (500...599).contains(status)
      }
    }
    return transient.contains(failure.reason)
  }

  private static let transient: Set<FailureReason> = [
    .dnsFailed, .connectRefused, .connectFailed, .timeoutConnect, .timeoutIdle, .timeoutTotal,
    .reset, .truncated, .proxyFailed, .askedToWait,
  ]
}

/// Limits the retries of a run, so that they cannot become most of its requests.
///
/// A run may make 20 retries, or the number that one request may have if that is larger. Every ten requests allow one
/// more.
package struct RetryBudget: Sendable {
  private let base: Int
  private var requests = 0
  private var spent = 0

  /// Makes a fresh budget.
  package init(_ policy: RetryPolicy = RetryPolicy()) {
    base = min(max(20, policy.retries), 1 << 30)
  }

  /// Counts a request.
  package mutating func countRequest() { requests += 1 }

  /// Takes one retry from the budget, if there is one left.
  package mutating func take() -> Bool {
    guard spent < base + requests / 10 else { return false }
    spent += 1
    return true
  }
}

/// The `Retry-After` field: how long a server asks clients to wait. (RFC 9110, section 10.2.3)
package enum RetryAfter {
  /// Reads the field; the result is 0 for a date in the past, and nil for an invalid value.
  ///
  /// - Parameters:
  ///   - value: The field's value: seconds or an HTTP date.
  ///   - now: The time to compare a date with.
  /// - Returns: The seconds, never negative; a number that is too large becomes the largest `Int64`.
  package static func seconds(_ value: String, now: UnixTime) -> Int64? {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    if let seconds = scanner.number() {
      scanner.skipBlanks()
      // Some servers send fractions; they are rounded up.
      if scanner.skip(UInt8(ascii: ".")), scanner.number() != nil {
        return scanner.isAtEnd ? seconds.addingClamped(1) : nil
      }
      return scanner.isAtEnd ? seconds : nil
    }
    return UnixTime(httpDate: value, now: now).map { max(0, $0 - now) }
  }
}
