/// How many transfers one host gets at once: more while that pays, half when it hurts.
///
/// It starts as a browser does and looks once a round, which is as long as an answer takes:
/// - one more transfer for each answer, so twice as many after a round, while the host answers more for it (the slow
///   start of RFC 5681);
/// - back to where it last paid, when two rounds of more transfers brought no more (as BBR judges a full pipe);
/// - after that by an eighth a round while answers come as quickly as ever, and back when they take twice as long
///   (as TCP Vegas does, Brakmo and Peterson 1995);
/// - half when the host refuses, then half of the way to what it refused with each round, and not beyond for a
///   while (binary increase, Xu, Harfoush and Rhee 2004).
package struct ConcurrencyWindow: Sendable {
  /// Where the window starts, and how far it may go; equal bounds fix it.
  package struct Bounds: Hashable, Sendable {
    /// The first value.
    package let start: Int
    /// The largest value.
    package let ceiling: Int

    /// Makes bounds of at least 1.
    package init(start: Int, ceiling: Int) {
      self.ceiling = max(1, ceiling)
      self.start = min(max(1, start), self.ceiling)
    }

    /// Bounds that leave nothing to adapt.
    package static func fixed(_ count: Int) -> Bounds { Bounds(start: count, ceiling: count) }
  }

  /// Shorter rounds, as with a host next door, would measure chance.
  private static let shortestRound: Int64 = 10_000_000
  /// What did not pay is not tried again for so long.
  private static let rest = Duration.seconds(2)
  /// A refusal is minded for so long, and twice as long with each that follows, up to the second.
  private static let patience = (first: Duration.seconds(30), longest: Duration.seconds(600))

  /// Transfers at once, just now.
  package private(set) var limit: Int
  private let bounds: Bounds
  private var round: Round?
  /// Whether each answer still lets one more transfer start.
  private var isStarting = true
  /// The last window that brought more than those before it, with its answers and bytes per nanosecond.
  ///
  /// Answers and bytes are judged separately: after long lists, small pictures bring fewer bytes, however many come.
  private var paid = (limit: 0, answers: 0.0, bytes: 0.0)
  /// Rounds in a row that brought no more than that.
  private var idleRounds = 0
  private var restsUntil: MonotonicTime?
  private var leastWait = SlidingLeast()
  /// The fewest transfers at once that the host refused, and how long that is minded.
  private var refused: (count: Int, until: MonotonicTime)?
  private var patience = Self.patience.first
  private var shrunk: MonotonicTime?
  /// How many were under way when the window last shrank, and how many of them were refused.
  private var volley = (count: 0, refusals: 0)

  /// What arrives while a window stands.
  private struct Round {
    let start: MonotonicTime
    /// The window when the round began.
    let limit: Int
    var bytes: ByteCount = 0
    var answers = 0
    var waited: Int64 = 0
  }

  /// Makes a window at its start.
  package init(_ bounds: Bounds) {
    self.bounds = bounds
    limit = bounds.start
  }

  /// A body of `bytes` arrived whole, its first byte `waited` nanoseconds after its request could leave.
  ///
  /// `isHeldBack` says whether more would be under way if the window let it; otherwise nothing is learned about what
  /// the host could do.
  package mutating func succeeded(
    bytes: ByteCount,
    waited: Int64,
    isHeldBack: Bool,
    at now: MonotonicTime
  ) {
    guard bounds.start < bounds.ceiling else { return }
    guard isHeldBack, var round else {
      self.round = Round(start: now, limit: limit)
      return
    }
    round.answers += 1
    round.bytes = ByteCount(round.bytes.count.addingClamped(bytes.count))
    round.waited = round.waited.addingClamped(waited)
    if isStarting, idleRounds == 0 { limit = min(limit + 1, 2 * round.limit, room(at: now)) }
    let wait = Double(round.waited) / Double(round.answers)
    let time = now - round.start
    guard round.answers >= max(8, round.limit), time >= Self.shortestRound, Double(time) >= wait
    else {
      self.round = round
      return
    }
    leastWait.add(wait, at: now)
    let speed = (Double(round.answers) / Double(time), Double(round.bytes.count) / Double(time))
    judge(speed, wait: wait, at: now)
    self.round = Round(start: now, limit: limit)
  }

  /// The host broke a connection or asked for less, with `count` transfers under way.
  ///
  /// Transfers that started before the window last shrank belong to the same volley. Their refusals do not shrink the
  /// window again; each only counts as one transfer fewer that the host accepted.
  package mutating func refused(count: Int, since start: MonotonicTime, at now: MonotonicTime) {
    guard bounds.start < bounds.ceiling else { return }
    if let shrunk, start <= shrunk {
      volley.refusals += 1
      // When none was taken, it was not their number.
      let taken = max(limit, volley.count - volley.refusals)
      refused?.count = volley.refusals < volley.count ? taken + 1 : max(2, volley.count)
      return
    }
    if shrunk != nil { patience = min(patience * 2, Self.patience.longest) }
    shrunk = now
    volley = (min(count, limit), 1)
    refused = (max(2, volley.count), now + patience)
    limit = max(1, limit / 2)
    isStarting = false
    forget(at: now)
  }

  private mutating func judge(
    _ speed: (answers: Double, bytes: Double),
    wait: Double,
    at now: MonotonicTime
  ) {
    if speed.answers > 1.1 * paid.answers || speed.bytes > 1.1 * paid.bytes {
      paid = (limit, speed.answers, speed.bytes)
      idleRounds = 0
    } else {
      idleRounds += 1
      if idleRounds >= 2, limit > paid.limit + paid.limit / 3 {
        limit = max(paid.limit, min(bounds.start, limit))
        isStarting = false
        restsUntil = now + Self.rest
        forget(at: now)
        return
      }
    }
    guard !isStarting else {
      isStarting = idleRounds < 4
      return
    }
    let least = leastWait.value
    // Below what every browser asks for, only refusals press it.
    if wait > 2 * least, limit > bounds.start {
      limit = max(bounds.start, limit - max(1, limit / 8))
    } else if limit < room(at: now), refused != nil {
      limit += max(1, (room(at: now) - limit) / 2)
    } else if wait < 1.25 * least, restsUntil.map({ now >= $0 }) ?? true {
      limit = min(room(at: now), limit + max(1, limit / 8))
    }
  }

  /// Measures anew: what came before was another window, or another host in all but name.
  private mutating func forget(at now: MonotonicTime) {
    paid = (limit, 0, 0)
    idleRounds = 0
    round = Round(start: now, limit: limit)
  }

  /// How far the window may go at that moment.
  private mutating func room(at now: MonotonicTime) -> Int {
    if let refused, now >= refused.until { self.refused = nil }
    return min(bounds.ceiling, refused.map { $0.count - 1 } ?? bounds.ceiling)
  }
}

/// The least of what was added in the last ten to twenty seconds.
private struct SlidingLeast: Sendable {
  private static let span: Int64 = 10_000_000_000

  private var started: MonotonicTime?
  private var present = Double.infinity
  private var previous = Double.infinity

  var value: Double { min(present, previous) }

  mutating func add(_ sample: Double, at now: MonotonicTime) {
    guard let started, now - started < Self.span else {
      previous = present
      present = sample
      started = now
      return
    }
    present = min(present, sample)
  }
}
