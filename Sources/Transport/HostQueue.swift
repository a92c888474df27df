import Base

/// The requests that wait for one host, and the knowledge about the host's availability.
struct HostQueue: Sendable {
  /// Whether the next request is allowed to be sent to the host.
  enum Permission: Equatable {
    case go
    /// The host has as many transfers as it is allowed to have at the moment.
    case full
    case notBefore(MonotonicTime)
    /// Waiting requests fail.
    case dead
  }

  /// The shortest and the longest pause after a 429 or 503 without `Retry-After`.
  private static let quiet = (least: Duration.milliseconds(250), most: Duration.seconds(30))

  var window: ConcurrencyWindow
  /// The number of transfers under way.
  var active = 0
  /// Whether the limit of the ``ConcurrencyWindow`` was reached when a request was last considered.
  private var isHeldBack = false
  /// The time of the host's last answer.
  ///
  /// It is also set when a transfer starts while no other is under way.
  private(set) var heard = MonotonicTime(nanoseconds: .min)
  /// Whether the host has answered at least once.
  private(set) var hasAnswered = false
  /// Whether the host is in the round-robin queue of the ``TransferSchedule``.
  var isReady = false
  /// The time at which a timer puts the host back into the round-robin queue.
  var wakes: MonotonicTime?
  /// Whether the schedule counts the host among the hosts that have work.
  var isCounted = false
  /// The waiting requests: for each priority, those that go first, and then the others.
  private var waiting = [ArraySlice<Int>](
    repeating: [],
    count: 2 * Request.Priority.allCases.count
  )
  private(set) var breaker = CircuitBreaker()
  private var quietUntil: MonotonicTime?
  /// Whether the host asked with `Retry-After` for a longer wait than a run makes.
  private var isClosed = false
  private var overloads = 0

  init(window: ConcurrencyWindow) {
    self.window = window
  }

  /// Whether no request waits.
  var isEmpty: Bool { waiting.allSatisfy { $0.isEmpty } }

  /// The number of nanoseconds without an answer after which a host with transfers under way is silent.
  private static let silence: Int64 = 1_000_000_000

  /// Whether the host has answered, and is not silent now.
  func answers(at now: MonotonicTime) -> Bool {
    hasAnswered && (active == 0 || now - heard < Self.silence)
  }

  mutating func push(_ transfer: Int, _ priority: Request.Priority, first: Bool) {
    waiting[2 * priority.rawValue + (first ? 0 : 1)].append(transfer)
  }

  mutating func pop() -> Int? {
    guard let queue = waiting.firstIndex(where: { !$0.isEmpty }) else { return nil }
    return waiting[queue].popFirst()
  }

  mutating func removeAll() -> [Int] {
    defer { for queue in waiting.indices { waiting[queue] = [] } }
    return Array(waiting.joined())
  }

  mutating func permission(
    at now: MonotonicTime,
    breaker limits: CircuitBreaker.Thresholds
  ) -> Permission {
    if isClosed { return .dead }
    isHeldBack = active >= window.limit
    if isHeldBack { return .full }
    let state = breaker.state(at: now, limits)
    if state != .dead, let quietUntil, now < quietUntil { return .notBefore(quietUntil) }
    switch state {
    case .closed: return .go
    case .dead: return .dead
    case .probe: return active == 0 ? .go : .full
    case .resting(let moment): return .notBefore(moment)
    }
  }

  mutating func started(at now: MonotonicTime) {
    if active == 0 { heard = now }
    active += 1
  }

  mutating func finished(
    _ outcome: TransferSchedule.Outcome,
    at now: MonotonicTime,
    breaker limits: CircuitBreaker.Thresholds
  ) {
    let count = active
    active -= 1
    switch outcome {
    case .delivered, .answered, .overloaded, .closed:
      heard = now
      hasAnswered = true
    case .unreachable, .abandoned: break
    }
    switch outcome {
    case .delivered, .answered:
      breaker.succeeded()
      overloads = 0
      if outcome == .delivered { window.answered(isHeldBack: isHeldBack, at: now) }
    case .overloaded(let start, let wait):
      window.refused(count: count, since: start, at: now)
      let grown = Self.quiet.least * Double(1 << min(overloads, 6))
      let moment = now + (wait ?? min(grown, Self.quiet.most))
      // Reports of overload that arrive during the pause are for requests that were sent before it. They do not count.
      let isAnew = quietUntil.map { now >= $0 } ?? true
      if isAnew { overloads += 1 }
      breaker.sentAway(isAnew: isAnew, isTold: wait != nil, at: now, limits)
      quietUntil = max(quietUntil ?? moment, moment)
    case .closed:
      isClosed = true
    case .unreachable(let start):
      breaker.failed(since: start, at: now, limits)
      window.refused(count: count, since: start, at: now)
    case .abandoned:
      break
    }
  }
}

/// The limit for the number of concurrent transfers to one host.
///
/// It adapts to the host, with additive increase and multiplicative decrease. (Chiu and Jain 1989)
///
/// The limit starts at 16. It halves when the host refuses a transfer: it breaks the connection or reports overload.
/// Until the first refusal, each answer adds one to the limit, as in the slow start of RFC 5681. Later, every eighth
/// answer adds one. For 30 seconds after a refusal, the limit does not exceed the number of transfers that the host
/// accepted at that time. These 30 seconds double with each further refusal, up to ten minutes.
package struct ConcurrencyWindow: Sendable {
  /// The range of the limit.
  package enum Bounds: Hashable, Sendable {
    /// The limit adapts to the host, and is at most this number.
    case upTo(Int)
    /// The limit is always this number.
    case fixed(Int)
  }

  private static let start = 16
  private static let patience = (first: Duration.seconds(30), longest: Duration.seconds(600))

  /// The largest number of concurrent transfers at the moment.
  package private(set) var limit: Int
  private let most: Int
  private let isFixed: Bool
  /// The number of answers since the limit last changed.
  private var answers = 0
  /// The last time at which the limit was halved, the number of transfers that were under way at that time, and the
  /// number of these transfers that the host refused.
  private var volley: (at: MonotonicTime, count: Int, refusals: Int)?
  /// The time for which the last refusal limits the growth.
  private var patience = Self.patience.first

  /// Makes a window with the initial limit, which is at least 1.
  package init(_ bounds: Bounds) {
    switch bounds {
    case .fixed(let count): (most, isFixed, limit) = (max(1, count), true, max(1, count))
    case .upTo(let count):
      (most, isFixed, limit) = (max(1, count), false, min(max(1, count), Self.start))
    }
  }

  /// Records that the host delivered a requested response.
  ///
  /// `isHeldBack` is true if requests wait because of the limit. If no request waits, the limit need not grow.
  package mutating func answered(isHeldBack: Bool, at now: MonotonicTime) {
    guard !isFixed, isHeldBack, limit < room(at: now) else { return }
    answers += 1
    guard volley == nil || answers >= 8 else { return }
    limit += 1
    answers = 0
  }

  /// Records that the host refused a transfer while `count` transfers were under way.
  ///
  /// A refused transfer that started before the limit was last halved does not halve it again. It is only counted,
  /// because these refusals show how many concurrent transfers the host accepts.
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

  /// The largest limit that is allowed now.
  ///
  /// For a while after a refusal, this is the number of transfers that were under way and that the host accepted.
  private func room(at now: MonotonicTime) -> Int {
    guard let volley, now < volley.at + patience else { return most }
    // If the host refused all transfers, their number was not the reason. Then only one of these transfers counts as
    // refused.
    let isPartial = volley.refusals < volley.count
    return min(most, volley.count - (isPartial ? volley.refusals : 1))
  }
}

/// A circuit breaker: it stops requests to a host that does not answer, or that reports overload for a long time.
///
/// After `failures` attempts in a row without an answer, the host gets only one request at a time, at growing
/// intervals. Such a request is called a probe. The other requests wait, so none of them fails while a server restarts.
/// If the host has not answered for the duration `grace` either, the host is dead, and waiting requests fail at once.
/// After the duration `rest`, one probe shows whether the host is still dead.
///
/// A host that reports overload gets another request after each pause. It is dead after `failures` reports in a row
/// that span at least the duration `patience`. If the host sends `Retry-After`, the duration is `toldPatience`. Without
/// this limit, a catalog with thousands of pictures could wait for days.
package struct CircuitBreaker: Sendable {
  /// The limits after which a host gets only probes, or is dead.
  package struct Thresholds: Sendable {
    /// The number of attempts in a row without an answer after which the host gets only probes.
    package var failures = 5
    /// The number of attempts that one request can make.
    ///
    /// A host is not dead before this number of attempts has failed, so that a single request gets all its retries.
    package var persistence = 0
    /// The time without an answer after which a host can be dead.
    package var grace = Duration.seconds(3)
    /// The time after which a host that reports overload can be dead.
    package var patience = Duration.seconds(60)
    /// The time after which a host that reports overload with `Retry-After` can be dead.
    ///
    /// It is longer than the period of most rate limits.
    package var toldPatience = Duration.seconds(900)
    /// The time during which a dead host gets no requests.
    package var rest = Duration.seconds(30)
    /// The pause before the first probe.
    ///
    /// It doubles with each further probe.
    package var probe = Duration.milliseconds(250)

    /// Makes the default thresholds.
    package init() {}
  }

  /// Whether the host is allowed to get requests.
  package enum State: Hashable, Sendable {
    /// The breaker allows all requests.
    case closed
    /// The host gets only one request at a time.
    case probe
    /// The host gets no request before the given time.
    case resting(until: MonotonicTime)
    /// The host gets no requests, and waiting requests fail.
    case dead
  }

  private var failures = 0
  private var silentSince: MonotonicTime?
  private var nextProbe: MonotonicTime?
  private var deadUntil: MonotonicTime?
  /// The number of reports of overload in a row.
  private var refusals = 0
  /// The time of the first of these reports.
  private var refusedSince: MonotonicTime?

  /// Whether the host's last response reported overload.
  package var sendsAway: Bool { refusals > 0 }

  /// Whether the host is allowed to get requests at the given time.
  package func state(at now: MonotonicTime, _ limits: Thresholds) -> State {
    if let deadUntil { return now < deadUntil ? .dead : .probe }
    if failures < limits.failures { return .closed }
    if let nextProbe, now < nextProbe { return .resting(until: nextProbe) }
    return .probe
  }

  /// Records that the host answered without reporting overload.
  package mutating func succeeded() {
    self = CircuitBreaker()
  }

  /// Records that the host reported overload.
  ///
  /// - Parameters:
  ///   - isAnew: Whether the pause after the previous report was over. Reports during a pause are not counted.
  ///   - isTold: Whether the host sent `Retry-After`.
  ///   - now: The current time.
  ///   - limits: The limits after which the host is dead.
  package mutating func sentAway(
    isAnew: Bool,
    isTold: Bool,
    at now: MonotonicTime,
    _ limits: Thresholds
  ) {
    // A host that reports overload is not silent.
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

  /// Records that an attempt ended without an answer.
  ///
  /// `start` is the time at which the attempt started.
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
