import Cache
import Transport

/// How much it is worth to ask for a picture before others, when not all can be asked for.
///
/// What is smaller goes first: pictures that were never had, then those of items that just changed,
/// then the rest, whoever was seen longest ago first. So what did not fit into one run is first in the
/// next.
struct PictureValue: Comparable, Sendable {
  /// 0 for new, 1 for changed, 2 for known.
  var rank: Int
  /// When the origin last said anything of it, in seconds since 1970.
  var seen: Int64

  /// The value of a picture.
  ///
  /// - Parameters:
  ///   - state: what is known of it; nil when it was never asked for.
  ///   - isChanged: whether an item that shows it just changed.
  init(of state: PictureState?, isChanged: Bool) {
    seen = state?.checked ?? 0
    switch state {
    case nil: rank = 0
    case let state? where state.isHeld && isChanged: rank = 1
    default: rank = 2
    }
  }

  /// Orders by rank, then by when they were seen.
  static func < (left: PictureValue, right: PictureValue) -> Bool {
    (left.rank, left.seen) < (right.rank, right.seen)
  }
}

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
  ///   - since: since when every attempt failed, in seconds since 1970.
  ///   - now: the moment.
  /// - Returns: The rest; 0 for what the host, the network or this machine did.
  static func seconds(after reason: String, since: Int64, now: Int64) -> Int64 {
    isLasting(reason) ? min(longest, max(0, now - since)) : 0
  }

  /// Whether the same answer is likely next time.
  static func isLasting(_ reason: String) -> Bool {
    if reason == "not-a-picture" || reason == "too-large" { return true }
    return reason.hasPrefix("http-4") && !["http-408", "http-425", "http-429"].contains(reason)
  }
}

extension PictureEntry {
  /// Enters that the last attempt failed at a moment, in seconds since 1970.
  ///
  /// `end` is until when the origin itself said that this holds; a lasting refusal is left alone as long.
  mutating func fail(for reason: String, at now: Int64, saidUntil end: Int64? = nil) {
    let since = failingSince ?? now
    failure = reason
    failingSince = since
    guard !isHeld else { return }
    checked = now
    let rest = now + FailureRest.seconds(after: reason, since: since, now: now)
    expiry = FailureRest.isLasting(reason) ? max(rest, end ?? rest) : rest
  }
}

extension RunContext {
  /// Reports pictures that an unattended run leaves alone as what they are: not to be had.
  func noteResting(_ ids: [PictureID]) {
    let entries = (try? index.pictures(ids)) ?? [:]
    for id in ids {
      let text = entries[id]?.url ?? ""
      let url = (try? transport.parse(text, relativeTo: nil))?.redacted ?? text
      let reason = FailureReason(rawValue: entries[id]?.failure ?? "")
      let detail = "left alone for a while after it failed"
      failures.note(id, TransferFailure(reason: reason, url: url, detail: detail))
    }
  }
}
