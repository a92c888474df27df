/// The number of transfers that one host gets at once: 16 at the start, half as many when it refuses, more with its
/// answers. (Additive increase, multiplicative decrease: Chiu and Jain 1989)
///
/// Each answer adds one until the host first refuses, as the slow start of RFC 5681 does; from then on every eighth. What
/// the host refused is not asked again for half a minute, and for twice as long with each refusal that follows.
package struct ConcurrencyWindow: Sendable {
  /// How far the window may go.
  package enum Bounds: Hashable, Sendable {
    /// As far as the host lets it, and to this number at most.
    case upTo(Int)
    /// Exactly this number, whatever the host says.
    case fixed(Int)
  }

  private static let start = 16
  private static let patience = (first: Duration.seconds(30), longest: Duration.seconds(600))

  /// Transfers at once, just now.
  package private(set) var limit: Int
  private let most: Int
  private let isFixed: Bool
  /// Answers since the limit last changed.
  private var answers = 0
  /// The transfers that were under way when the window last shrank, and how many of them were refused.
  private var volley: (at: MonotonicTime, count: Int, refusals: Int)?
  private var patience = Self.patience.first

  /// Makes a window at its start; it never holds less than one.
  package init(_ bounds: Bounds) {
    switch bounds {
    case .fixed(let count): (most, isFixed, limit) = (max(1, count), true, max(1, count))
    case .upTo(let count):
      (most, isFixed, limit) = (max(1, count), false, min(max(1, count), Self.start))
    }
  }

  /// The host delivered what was asked for.
  ///
  /// `isHeldBack` says whether more would be under way if the window let it; otherwise nothing is learned.
  package mutating func answered(isHeldBack: Bool, at now: MonotonicTime) {
    guard !isFixed, isHeldBack, limit < room(at: now) else { return }
    answers += 1
    guard volley == nil || answers >= 8 else { return }
    limit += 1
    answers = 0
  }

  /// The host broke a connection or asked for less, with `count` transfers under way.
  ///
  /// Transfers that started before the window last shrank belong to the same volley: their refusals tell how many the
  /// host takes, and shrink nothing.
  package mutating func refused(count: Int, since start: MonotonicTime, at now: MonotonicTime) {
    guard !isFixed else { return }
    if let volley, start <= volley.at {
      self.volley?.refusals += 1
      return
    }
    if volley != nil { patience = min(patience * 2, Self.patience.longest) }
    volley = (now, min(count, limit), 1)
    limit = max(1, limit / 2)
    answers = 0
  }

  /// How far the window may go now: to what the host took of the last volley, while that is remembered.
  private func room(at now: MonotonicTime) -> Int {
    guard let volley, now < volley.at + patience else { return most }
    // A host that took none of them does not mind their number.
    let isPartial = volley.refusals < volley.count
    return min(most, volley.count - (isPartial ? volley.refusals : 1))
  }
}
