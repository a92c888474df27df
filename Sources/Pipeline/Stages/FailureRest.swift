import Cache
import Transport

/// How long an unattended run does not ask again for a picture after a lasting failure.
///
/// The rest is as long as the picture has already failed: 1, 2, 4 hours and so on, and a day at most.
enum FailureRest {
  /// The longest rest in seconds: a day.
  static let longest: Int64 = 86_400

  /// How many seconds to leave a picture alone that failed at a moment.
  ///
  /// - Parameters:
  ///   - reason: why it failed.
  ///   - since: since when every attempt failed.
  ///   - now: the moment.
  /// - Returns: The rest; 0 for a reason after which every run asks again.
  static func seconds(after reason: FailureReason, since: UnixTime, now: UnixTime) -> Int64 {
    isRested(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether a picture rests after a failure.
  ///
  /// A 401 or 403 is lasting, but ends as soon as the user corrects a token: every run asks again.
  static func isRested(_ reason: FailureReason) -> Bool {
    reason.isLasting && !reason.isUnauthorized
  }
}

extension PictureEntry {
  /// Enters that the last attempt failed at a moment.
  ///
  /// `end` is the moment until which the origin itself said that the failure holds; a picture that rests does so at
  /// least until then.
  mutating func fail(for reason: FailureReason, at now: UnixTime, saidUntil end: UnixTime? = nil) {
    let since = failingSince ?? now
    failure = reason.rawValue
    failingSince = since
    guard !isHeld else { return }
    checked = now
    let rest = now + FailureRest.seconds(after: reason, since: since, now: now)
    expiry = FailureRest.isRested(reason) ? max(rest, end ?? rest) : rest
  }
}
