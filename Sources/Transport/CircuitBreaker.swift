/// Stops asking a host that does not answer, or sends everybody away.
///
/// After `failures` attempts in a row without an answer, one probe at a time goes there, at growing distances: a
/// server that restarts loses nothing. A host that has not answered for `grace` as well is dead: whatever waits
/// for it fails at once, for `rest`; after that one probe decides. A host that says nothing but that it is
/// overloaded is asked again each time after the quiet that it needs; when that has happened as often and for
/// `patience`, or `toldPatience` if it says when to come back, it is dead too, or a catalog of thousands would
/// wait for days.
package struct CircuitBreaker: Sendable {
  /// When a host counts as silent, and as dead.
  package struct Thresholds: Sendable {
    /// Attempts in a row without an answer before only probes go out.
    package var failures = 5
    /// Attempts in a row that one request may make: before so many the host is not dead, or a request that is
    /// alone would not get the retries that it was given.
    package var persistence = 0
    /// How long there must have been no answer before the host is dead.
    package var grace = Duration.seconds(3)
    /// How long a host may send everybody away before it is dead.
    package var patience = Duration.seconds(60)
    /// The same for a host that says when to come back: longer than most limits of a rate look at.
    package var toldPatience = Duration.seconds(900)
    /// How long a dead host is not asked again.
    package var rest = Duration.seconds(30)
    /// The distance to the first probe; doubles with each.
    package var probe = Duration.milliseconds(250)

    /// Makes the thresholds above.
    package init() {}
  }

  /// Whether the host may be asked.
  package enum State: Hashable, Sendable {
    /// As often as one likes.
    case closed
    /// By one request at a time.
    case probe
    /// Not before that moment.
    case resting(until: MonotonicTime)
    /// Not at all: fail what waits.
    case dead
  }

  private var failures = 0
  private var silentSince: MonotonicTime?
  private var nextProbe: MonotonicTime?
  private var deadUntil: MonotonicTime?
  /// How often in a row the host was overloaded, and since when.
  private var refusals = 0
  private var refusedSince: MonotonicTime?

  /// Makes a closed breaker.
  package init() {}

  /// Whether the host's last response said that it is overloaded.
  package var sendsAway: Bool { refusals > 0 }

  /// Judges the host at a moment.
  package func state(at now: MonotonicTime, _ limits: Thresholds) -> State {
    if let deadUntil { return now < deadUntil ? .dead : .probe }
    if failures < limits.failures { return .closed }
    if let nextProbe, now < nextProbe { return .resting(until: nextProbe) }
    return .probe
  }

  /// The host answered, whatever it said but that it is overloaded.
  package mutating func succeeded() {
    self = CircuitBreaker()
  }

  /// The host answered that it is overloaded.
  ///
  /// - Parameters:
  ///   - isAnew: Whether it was left alone before; answers to several requests at once count as one.
  ///   - isTold: Whether it said when to come back.
  ///   - now: The moment.
  ///   - limits: When it is dead.
  package mutating func sentAway(
    isAnew: Bool,
    isTold: Bool,
    at now: MonotonicTime,
    _ limits: Thresholds
  ) {
    // It is not silent.
    (failures, silentSince, nextProbe) = (0, nil, nil)
    guard isAnew else { return }
    let since = refusedSince ?? now
    refusedSince = since
    refusals = min(refusals + 1, 1 << 20)
    let patience = isTold ? limits.toldPatience : limits.patience
    let isDead =
      refusals >= max(limits.failures, limits.persistence)
      && now - since >= patience.wholeNanoseconds
    deadUntil = isDead ? now + limits.rest : nil
  }

  /// An attempt that had started at `start` ended without an answer.
  package mutating func failed(
    since start: MonotonicTime,
    at now: MonotonicTime,
    _ limits: Thresholds
  ) {
    failures = min(failures + 1, 1 << 20)
    let silence = silentSince ?? start
    silentSince = silence
    guard failures >= limits.failures else { return }
    if failures >= limits.persistence, now - silence >= limits.grace.wholeNanoseconds {
      deadUntil = now + limits.rest
    } else {
      nextProbe = now + limits.probe * Double(1 << min(failures - limits.failures, 4))
    }
  }
}
