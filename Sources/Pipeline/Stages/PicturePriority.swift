import Cache
import Transport

/// How much it is worth to ask for a picture before others, when not all can be asked for.
///
/// What is smaller goes first: pictures that were never had, then those of items that just changed,
/// then the rest, whoever was seen longest ago first. So what did not fit into one run is first in the
/// next.
struct PicturePriority: Comparable, Sendable {
  /// 0 for new, 1 for changed, 2 for known.
  var rank: Int
  /// When the origin last said anything of it.
  var seen: UnixTime

  /// The value of a picture.
  ///
  /// - Parameters:
  ///   - state: what is known of it; nil when it was never asked for.
  ///   - isChanged: whether an item that shows it just changed.
  init(of state: PictureState?, isChanged: Bool) {
    seen = state?.checked ?? 0
    switch state {
    case nil: rank = 0
    // Noted, and never asked for.
    case let state? where !state.isHeld && state.checked == 0: rank = 0
    case let state? where state.isHeld && isChanged: rank = 1
    default: rank = 2
    }
  }

  /// Orders by rank, then by when they were seen.
  static func < (left: PicturePriority, right: PicturePriority) -> Bool {
    (left.rank, left.seen) < (right.rank, right.seen)
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
