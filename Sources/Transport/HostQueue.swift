import Base

/// The requests that wait for one host, and the host's availability.
struct HostQueue: Sendable {
  enum Permission: Equatable {
    case go
    case full
    case notBefore(MonotonicTime)
    case dead
  }

  /// The shortest and the longest pause after a 429 or 503 without `Retry-After`.
  private static let quiet = (least: Duration.milliseconds(250), most: Duration.seconds(30))

  var window: ConcurrencyWindow
  var active = 0
  /// Whether, at the last check, a request waited only because of the limit of the window.
  private var isHeldBack = false
  /// When the host last answered, or got a request while no other was under way.
  private(set) var heard = MonotonicTime(nanoseconds: .min)
  /// Whether the host has answered at all.
  private(set) var hasAnswered = false
  /// The number of the host's transfers that do not count against the run's limit, because the host is silent.
  var passedOver = 0
  /// Whether the host is in the round-robin queue.
  var isReady = false
  /// When a timer puts the host back into the round-robin queue.
  var wakes: MonotonicTime?
  /// Whether the host gets no more transfers until it answers or its share of the run's transfers grows.
  var isHeldToShare = false
  /// Whether the host is counted among those that have work.
  var isCounted = false
  private var waiting: [FIFO<Int>] = Request.Priority.allCases.map { _ in FIFO() }
  private var breaker = CircuitBreaker()
  private var quietUntil: MonotonicTime?
  /// Whether the host's `Retry-After` is longer than a run is willing to wait.
  private var isClosed = false
  private var overloads = 0

  init(window: ConcurrencyWindow) {
    self.window = window
  }

  /// Whether the host's last response reported overload.
  var sendsAway: Bool { breaker.sendsAway }

  var isEmpty: Bool { waiting.allSatisfy(\.isEmpty) }

  /// The number of nanoseconds without an answer after which a host with transfers under way counts as silent.
  private static let silence: Int64 = 1_000_000_000

  /// Whether transfers are under way, but the host has answered none of them for a second.
  func isSilent(at now: MonotonicTime) -> Bool { active > 0 && now - heard >= Self.silence }

  /// Whether the host has answered, and is not silent now.
  func answers(at now: MonotonicTime) -> Bool { hasAnswered && !isSilent(at: now) }

  mutating func push(_ transfer: Int, _ priority: Request.Priority, first: Bool) {
    if first {
      waiting[priority.rawValue].prepend(transfer)
    } else {
      waiting[priority.rawValue].append(transfer)
    }
  }

  mutating func pop() -> Int? {
    for priority in waiting.indices {
      if let transfer = waiting[priority].popFirst() { return transfer }
    }
    return nil
  }

  mutating func remove(where condition: (Int) -> Bool) -> [Int] {
    var removed: [Int] = []
    for priority in waiting.indices {
      var kept = FIFO<Int>()
      while let transfer = waiting[priority].popFirst() {
        if condition(transfer) { removed.append(transfer) } else { kept.append(transfer) }
      }
      waiting[priority] = kept
    }
    return removed
  }

  mutating func permission(
    at now: MonotonicTime,
    breaker limits: CircuitBreaker.Thresholds
  ) -> Permission {
    if isClosed { return .dead }
    isHeldBack = active >= window.limit
    if isHeldBack || passedOver > 0 { return .full }
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
    case .delivered:
      breaker.succeeded()
      overloads = 0
      window.answered(isHeldBack: isHeldBack, at: now)
    case .answered:
      breaker.succeeded()
      overloads = 0
    case .overloaded(let start, let wait):
      window.refused(count: count, since: start, at: now)
      let grown = Self.quiet.least * Double(1 << min(overloads, 6))
      let moment = now + (wait ?? min(grown, Self.quiet.most))
      // Replies to requests that were sent in the same burst count once.
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

/// The number of concurrent transfers to one host: additive increase, multiplicative decrease. (Chiu and Jain 1989)
///
/// The number starts at 16, and halves when the host refuses. Until the first refusal, each answer adds one, as in the
/// slow start of RFC 5681. After that, every eighth answer adds one. For half a minute after a refusal, the window does
/// not exceed the number of transfers that the host accepted at that time. This half minute doubles with each further
/// refusal, up to ten minutes.
package struct ConcurrencyWindow: Sendable {
  /// The limits of the window.
  package enum Bounds: Hashable, Sendable {
    /// As large as the host allows, up to this number.
    case upTo(Int)
    /// Exactly this number, regardless of the host's answers.
    case fixed(Int)
  }

  private static let start = 16
  private static let patience = (first: Duration.seconds(30), longest: Duration.seconds(600))

  /// The current number of concurrent transfers.
  package private(set) var limit: Int
  private let most: Int
  private let isFixed: Bool
  /// The number of answers since the limit last changed.
  private var answers = 0
  /// The time at which the window last shrank, the number of transfers that were then under way, and how many of
  /// those were refused.
  private var volley: (at: MonotonicTime, count: Int, refusals: Int)?
  private var patience = Self.patience.first

  /// Makes a window of the initial size; it is never less than one.
  package init(_ bounds: Bounds) {
    switch bounds {
    case .fixed(let count): (most, isFixed, limit) = (max(1, count), true, max(1, count))
    case .upTo(let count):
      (most, isFixed, limit) = (max(1, count), false, min(max(1, count), Self.start))
    }
  }

  /// Records that the host delivered the requested response.
  ///
  /// `isHeldBack` says whether the window keeps requests waiting. If it does not, the answer says nothing about the
  /// right size.
  package mutating func answered(isHeldBack: Bool, at now: MonotonicTime) {
    guard !isFixed, isHeldBack, limit < room(at: now) else { return }
    answers += 1
    guard volley == nil || answers >= 8 else { return }
    limit += 1
    answers = 0
  }

  /// Records that the host broke a connection, or reported overload, while `count` transfers were under way.
  ///
  /// Transfers that started before the window last shrank belong to the same burst. Their refusals show how many
  /// transfers the host accepts, and do not shrink the window again.
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

  /// The largest size of the window now.
  ///
  /// While the last burst is remembered, that is the number of transfers of the burst that the host accepted.
  private func room(at now: MonotonicTime) -> Int {
    guard let volley, now < volley.at + patience else { return most }
    // If the host refused all transfers of the burst, their number was not the reason.
    let isPartial = volley.refusals < volley.count
    return min(most, volley.count - (isPartial ? volley.refusals : 1))
  }
}

/// A circuit breaker: stops requests to a host that does not answer, or reports overload for a long time.
///
/// After `failures` attempts in a row without an answer, the host gets one probe at a time, at growing intervals. So
/// no request is lost while a server restarts. If the host has also not answered for the duration `grace`, it is
/// dead: waiting requests fail at once. After the duration `rest`, one probe decides whether the host is still dead.
///
/// A host that only reports overload gets another request after each pause. It is dead after `failures` reports in a
/// row over at least `patience`, or `toldPatience` if it says when to come back. Without this limit, a catalog of
/// thousands of pictures would wait for days.
package struct CircuitBreaker: Sendable {
  /// The limits at which a host counts as silent, and as dead.
  package struct Thresholds: Sendable {
    /// The number of attempts in a row without an answer after which only probes are sent.
    package var failures = 5
    /// The number of attempts in a row that one request may make.
    ///
    /// A host is not dead before it has failed that many times, so that a single request gets its configured retries.
    package var persistence = 0
    /// How long a host must have been without an answer before it is dead.
    package var grace = Duration.seconds(3)
    /// How long a host may report overload before it is dead.
    package var patience = Duration.seconds(60)
    /// The same limit for a host that says when to come back; longer than the period of most rate limits.
    package var toldPatience = Duration.seconds(900)
    /// How long a dead host gets no requests.
    package var rest = Duration.seconds(30)
    /// The delay before the first probe; it doubles with each.
    package var probe = Duration.milliseconds(250)

    /// Makes the default thresholds.
    package init() {}
  }

  /// Whether the host may get requests.
  package enum State: Hashable, Sendable {
    /// The host may get requests without a limit.
    case closed
    /// The host may get one request at a time.
    case probe
    /// The host gets no request before that moment.
    case resting(until: MonotonicTime)
    /// The host gets no requests, and the waiting requests fail.
    case dead
  }

  private var failures = 0
  private var silentSince: MonotonicTime?
  private var nextProbe: MonotonicTime?
  private var deadUntil: MonotonicTime?
  /// How many reports of overload came in a row, and since when.
  private var refusals = 0
  private var refusedSince: MonotonicTime?

  /// Makes a closed breaker.
  package init() {}

  /// Whether the host's last response reported overload.
  package var sendsAway: Bool { refusals > 0 }

  /// Judges the host at a moment.
  package func state(at now: MonotonicTime, _ limits: Thresholds) -> State {
    if let deadUntil { return now < deadUntil ? .dead : .probe }
    if failures < limits.failures { return .closed }
    if let nextProbe, now < nextProbe { return .resting(until: nextProbe) }
    return .probe
  }

  /// Records that the host answered, and did not report overload.
  package mutating func succeeded() {
    self = CircuitBreaker()
  }

  /// Records that the host reported overload.
  ///
  /// - Parameters:
  ///   - isAnew: Whether the pause after the previous report was over; reports within a pause count as one.
  ///   - isTold: Whether the host said when to come back.
  ///   - now: The moment.
  ///   - limits: The limits at which the host is dead.
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

  /// Records that an attempt that had started at `start` ended without an answer.
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
