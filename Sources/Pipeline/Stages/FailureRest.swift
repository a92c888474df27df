import Cache
import Transport

/// How long what fails for a reason of its own is left alone by unattended runs.
///
/// A picture that the origin says it does not have is asked for again after as long as it has
/// already failed, so after 1, 2, 4 hours and so on, and daily in the end.
enum FailureRest {
  /// The longest rest in seconds: a day.
  static let longest: Int64 = 86_400

  /// How many seconds to leave a picture alone that failed at a moment.
  ///
  /// - Parameters:
  ///   - reason: the stable word for why.
  ///   - since: since when every attempt failed.
  ///   - now: the moment.
  /// - Returns: The rest; 0 for what the host, the network or this machine did.
  static func seconds(after reason: String, since: UnixTime, now: UnixTime) -> Int64 {
    isLasting(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether the same answer is likely next time.
  static func isLasting(_ reason: String) -> Bool {
    if reason == "not-a-picture" || reason == "too-large" { return true }
    return reason.hasPrefix("http-4") && !["http-408", "http-425", "http-429"].contains(reason)
  }
}

extension PictureEntry {
  /// Enters that the last attempt failed at a moment.
  ///
  /// `end` is the moment until which the origin itself said that the failure holds; a lasting one
  /// rests at least until then.
  mutating func fail(for reason: String, at now: UnixTime, saidUntil end: UnixTime? = nil) {
    let since = failingSince ?? now
    failure = reason
    failingSince = since
    guard !isHeld else { return }
    checked = now
    let rest = now + FailureRest.seconds(after: reason, since: since, now: now)
    expiry = FailureRest.isLasting(reason) ? max(rest, end ?? rest) : rest
  }
}
