import Transport

/// Decides whether an upload may be sent again.
///
/// Only what certainly was not received, or what the server itself wants later (429 and 503 with
/// `Retry-After`): a photo posted twice is worse than one that its owner has to post again.
package struct UploadPolicy: Sendable {
  /// How often, and how long between.
  package var retry: RetryPolicy

  /// Makes a policy.
  package init(retry: RetryPolicy = RetryPolicy()) {
    self.retry = retry
  }

  /// Judges a failure after `attempts` tries; `random` is in 0..<1.
  func decision(
    after failure: TransferFailure,
    attempts: Int,
    random: Double
  ) -> RetryPolicy.Decision {
    if let status = failure.status {
      guard status == 429 || status == 503, let seconds = failure.retryAfter,
        // Who asks for an hour means a later run.
        Duration.seconds(min(seconds, 86_400)) <= retry.longestRetryAfter
      else { return .giveUp }
    } else if failure.mayHaveBeenSent {
      return .giveUp
    }
    // Nothing has come of the request, so that repeating it is as harmless as repeating a GET.
    return retry.decision(after: failure, attempts: attempts, isRepeatable: true, random: random)
  }
}
