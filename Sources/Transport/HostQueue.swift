/// What waits for one host, and whether the host may be asked.
struct HostQueue: Sendable {
  enum Permission: Equatable {
    case go
    case full
    case notBefore(MonotonicTime)
    case dead
  }

  /// The shortest quiet after a 429 or 503 that names none, and the longest.
  private static let quiet = (least: Duration.milliseconds(250), most: Duration.seconds(30))

  var window: ConcurrencyWindow
  var active = 0
  /// Whether something waits that only the window keeps from starting, as of the last look.
  private var isHeldBack = false
  /// When the host last answered, or was asked after nothing was under way.
  private(set) var heard = MonotonicTime(nanoseconds: .min)
  /// Whether the host has answered at all.
  private(set) var hasAnswered = false
  /// How many of its transfers are passed over in the run's count, because it is silent.
  var passedOver = 0
  /// Whether the host takes part in the round.
  var isReady = false
  /// When a timer puts the host back into the round.
  var wakes: MonotonicTime?
  /// Whether the host waits for an answer or a larger share.
  var isHeldToShare = false
  /// Whether the host is counted among those that have work.
  var isCounted = false
  private var waiting: [FIFO<Int>] = Request.Priority.allCases.map { _ in FIFO() }
  private var breaker = CircuitBreaker()
  private var quietUntil: MonotonicTime?
  /// Whether the host asked to be left alone for longer than a run waits.
  private var isClosed = false
  private var overloads = 0

  init(window: ConcurrencyWindow) {
    self.window = window
  }

  /// Whether the host's last response said that it is overloaded.
  var sendsAway: Bool { breaker.sendsAway }

  var isEmpty: Bool { waiting.allSatisfy(\.isEmpty) }

  /// A host that has not answered for so long, with transfers under way, is silent.
  private static let silence: Int64 = 1_000_000_000

  /// Whether transfers are under way and none has been answered for a second.
  func isSilent(at now: MonotonicTime) -> Bool { active > 0 && now - heard >= Self.silence }

  /// Whether the host has answered, and is not silent since.
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
      // Replies to requests of the same volley say the same thing once.
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
