import Base

/// Decides whether and when a request is sent again after a failed attempt.
///
/// The request must be repeatable: a GET, or a POST that changes nothing on the server. (RFC 9110, section 9.2.2) The
/// failure must be temporary: a connection problem, the status 408, 425 or 429, or a status from 500 to 599 except 501
/// and 505.
///
/// The waits grow exponentially and are random. Otherwise many machines that failed at the same time would also retry
/// at the same time.
package struct RetryPolicy: Sendable {
  /// The maximum number of attempts after the first attempt.
  ///
  /// libcurl itself repeats a request if it used an open connection that the server closed before the first byte of the
  /// response. Such repetitions are not counted. (RFC 9112, section 9.3.1)
  package var retries = 4
  /// The upper limit of the first wait.
  ///
  /// The limit doubles with each further wait.
  package var firstDelay = Duration.milliseconds(500)
  /// The upper limit of all waits, except waits that the server asked for with `Retry-After`.
  package var longestDelay = Duration.seconds(30)
  /// The upper limit of a wait that the server asked for with `Retry-After`.
  package var longestRetryAfter = Duration.seconds(60)

  /// Makes the default policy.
  package init() {}

  /// The time after a failed attempt until the next one.
  ///
  /// - Parameters:
  ///   - failure: The failure of the last attempt.
  ///   - attempts: The number of attempts so far.
  ///   - isRepeatable: Whether it is harmless to send the request twice.
  ///   - random: A random number from 0 up to but not including 1.
  /// - Returns: The time, or nil if the failure is to be reported.
  package func delay(
    after failure: TransferFailure,
    attempts: Int,
    isRepeatable: Bool,
    random: Double
  ) -> Duration? {
    guard isRepeatable, attempts <= retries, Self.mayPass(failure) else { return nil }
    if let seconds = failure.retryAfter {
      // A random time is added to the wait, so the wait is never shorter than the server asked for.
      guard Self.isFollowed(seconds) else { return nil }
      let wait = min(.seconds(max(0, seconds)), longestRetryAfter)
      return wait + firstDelay * (random / 2)
    }
    let ceiling = min(firstDelay * Double(1 << min(max(attempts - 1, 0), 20)), longestDelay)
    return ceiling * random
  }

  /// Whether a request waits if the server sends this number of seconds in `Retry-After`.
  ///
  /// The limit is one minute.
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

/// Limits the number of retries in a run, so that most requests are not retries.
///
/// A run can make 20 retries, and one more for every ten requests. If ``RetryPolicy/retries`` is larger than 20, it
/// replaces the 20.
package struct RetryBudget: Sendable {
  private let base: Int
  private var requests = 0
  private var spent = 0

  /// Makes a budget for a new run.
  package init(_ policy: RetryPolicy = RetryPolicy()) {
    base = min(max(20, policy.retries), 1 << 30)
  }

  /// Counts a request.
  package mutating func countRequest() { requests += 1 }

  /// Uses one retry of the budget.
  ///
  /// The result is false if no retry is left.
  package mutating func take() -> Bool {
    guard spent < base + requests / 10 else { return false }
    spent += 1
    return true
  }
}

/// The `Retry-After` field, with which a server asks clients to wait. (RFC 9110, section 10.2.3)
package enum RetryAfter {
  /// The number of seconds to wait.
  ///
  /// - Parameters:
  ///   - value: The value of the field. It is a number of seconds such as `120`, or an HTTP date.
  ///   - now: The current time, with which a date is compared.
  /// - Returns: The number of seconds, or nil if the value is invalid. A date in the past gives 0. A number that is too
  ///   large becomes the largest `Int64`.
  package static func seconds(_ value: String, now: UnixTime) -> Int64? {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    if let seconds = scanner.number() {
      scanner.skipBlanks()
      // Some servers send fractions such as `0.5`. They are rounded up.
      if scanner.skip(UInt8(ascii: ".")), scanner.number() != nil {
        return scanner.isAtEnd ? seconds.addingClamped(1) : nil
      }
      return scanner.isAtEnd ? seconds : nil
    }
    return UnixTime(httpDate: value).map { max(0, $0 - now) }
  }
}
