import Base

/// Decides which transfer starts next, and when.
///
/// It is a state machine without clocks and threads.
///
/// Hosts and transfers have numbers. Each host has a queue for each priority. Transfers start in the order in which
/// they were added to their queue. The hosts take turns (round robin), so that one dead host does not delay the others.
///
/// A host gets no transfer while it has as many as its ``ConcurrencyWindow`` allows, while it has asked for a pause, or
/// while its ``CircuitBreaker`` allows none. A host that has not answered yet, or has stopped answering, gets at most
/// its share of the run's transfers.
///
/// Starting and finishing a transfer take constant time.
package struct TransferSchedule: Sendable {
  /// The limits of the whole run.
  package struct Limits: Sendable {
    /// The maximum number of concurrent transfers to all hosts together.
    package var parallel = 64
    /// The maximum number of concurrent transfers to one host.
    package var perHost = ConcurrencyWindow.Bounds.upTo(16)
    /// The maximum number of transfers to start per second, for all hosts together.
    ///
    /// Nil if there is no limit.
    package var rate: Double?
    /// The limits after which a host is dead.
    package var breaker = CircuitBreaker.Thresholds()

    /// Makes the limits of the option `--parallel auto`.
    package init() {}
  }

  /// The next step of the transport.
  package enum Step: Hashable, Sendable {
    /// Start this transfer now.
    case start(transfer: Int, host: Int)
    /// Let this transfer fail now, because its host is dead.
    case fail(transfer: Int)
    /// Wait until the given time, or until a transfer finishes or is added.
    case wait(until: MonotonicTime?)
  }

  /// The result of an attempt, in terms of its host's availability.
  package enum Outcome: Hashable, Sendable {
    /// The host delivered the requested response.
    case delivered
    /// The host sent another response than the requested one.
    case answered
    /// The host reported overload, with the status 429 or 503.
    ///
    /// `since` is the start of the attempt. `wait` is the pause that the host asked for, shortened to the longest
    /// allowed pause.
    case overloaded(since: MonotonicTime, wait: Duration?)
    /// The host asked for a longer pause than a run makes.
    ///
    /// From now on, every request to the host fails.
    case closed
    /// There was no connection, or it was interrupted, or the host stopped sending.
    ///
    /// `since` is the start of the attempt.
    case unreachable(since: MonotonicTime)
    /// larder itself ended the attempt, so the result says nothing about the host.
    case abandoned
  }

  private var limits: Limits
  private var bucket: TokenBucket?
  private var hosts: [HostQueue] = []
  private var ready: ArraySlice<Int> = []
  private var timers = TimerQueue<Timer>()
  /// The number of transfers under way.
  private(set) var active = 0
  /// The number of hosts that have transfers under way or waiting.
  private var busyHosts = 0
  /// The hosts that have used up their share.
  ///
  /// They get no more transfers until they answer, or until their share grows.
  private var heldToShare: Set<Int> = []

  private enum Timer: Sendable {
    case host(Int)
    case transfer(Int, host: Int, priority: Request.Priority)
  }

  /// Makes an empty schedule.
  package init(_ limits: Limits = Limits()) {
    self.limits = limits
    bucket = limits.rate.map { TokenBucket(rate: $0) }
  }

  /// Adds a host and returns its number.
  package mutating func addHost() -> Int {
    hosts.append(HostQueue(window: ConcurrencyWindow(limits.perHost)))
    return hosts.count - 1
  }

  /// Queues a transfer, at once or at a later time.
  ///
  /// - Parameters:
  ///   - transfer: The number of the transfer.
  ///   - host: The number of the host.
  ///   - priority: The priority among the transfers to the host.
  ///   - first: Whether the transfer starts before all others with its host and priority that were added without
  ///     `first`. This is used for the request that follows a redirect.
  ///   - moment: The time at which the transfer is queued, for example to retry it; nil to queue it now.
  package mutating func add(
    _ transfer: Int,
    host: Int,
    priority: Request.Priority,
    first: Bool = false,
    at moment: MonotonicTime? = nil
  ) {
    if let moment {
      return timers.push(.transfer(transfer, host: host, priority: priority), at: moment)
    }
    hosts[host].push(transfer, priority, first: first)
    count(host)
    consider(host)
  }

  /// Returns the next step.
  ///
  /// The transport calls this function repeatedly until the step is to wait.
  package mutating func next(at now: MonotonicTime) -> Step {
    releaseTimers(at: now)
    while let host = ready.first {
      guard !hosts[host].isEmpty else {
        drop(host)
        continue
      }
      switch hosts[host].permission(at: now, breaker: limits.breaker) {
      case .dead:
        guard let transfer = hosts[host].pop() else { continue }
        count(host)
        return .fail(transfer: transfer)
      case .full:
        drop(host)
      case .notBefore(let moment):
        drop(host)
        wake(host, at: moment)
      case .go where hosts[host].active >= share && !hosts[host].answers(at: now):
        drop(host)
        heldToShare.insert(host)
      case .go:
        guard active < limits.parallel else { return .wait(until: timers.earliest) }
        if let moment = bucket?.take(at: now) {
          return .wait(until: min(moment, timers.earliest ?? .distantFuture))
        }
        guard let transfer = hosts[host].pop() else { continue }
        hosts[host].started(at: now)
        active += 1
        drop(host)
        consider(host)
        return .start(transfer: transfer, host: host)
      }
    }
    return .wait(until: timers.earliest)
  }

  /// Whether a host's last response reported overload.
  ///
  /// If this is true for a dead host, the host is dead because of overload, and not because it does not answer.
  package func sendsAway(_ host: Int) -> Bool { hosts[host].breaker.sendsAway }

  /// Records the end of an attempt.
  ///
  /// To retry the transfer, the transport adds it again.
  package mutating func finished(host: Int, _ outcome: Outcome, at now: MonotonicTime) {
    active -= 1
    hosts[host].finished(outcome, at: now, breaker: limits.breaker)
    count(host)
    consider(host)
  }

  /// Removes the waiting transfers, and returns them.
  package mutating func removeAll() -> [Int] {
    var removed: [Int] = []
    for host in hosts.indices {
      removed += hosts[host].removeAll()
      count(host)
    }
    timers.removeAll { timer in
      guard case .transfer(let transfer, _, _) = timer else { return false }
      removed.append(transfer)
      return true
    }
    return removed
  }

  private mutating func releaseTimers(at now: MonotonicTime) {
    while let moment = timers.earliest, moment <= now, let timer = timers.pop() {
      switch timer {
      case .host(let host):
        hosts[host].wakes = nil
        consider(host)
      case .transfer(let transfer, let host, let priority):
        add(transfer, host: host, priority: priority)
      }
    }
  }

  /// The maximum number of transfers to a host that has not answered yet.
  ///
  /// This is the limit of the run divided by the number of hosts that have work. So a host that does not answer cannot
  /// use up the limit while other hosts have work.
  private var share: Int { max(1, (limits.parallel + busyHosts - 1) / max(1, busyHosts)) }

  /// Updates the number of hosts that have work.
  ///
  /// If it decreases, the share of every host grows.
  private mutating func count(_ host: Int) {
    let isBusy = hosts[host].active > 0 || !hosts[host].isEmpty
    guard isBusy != hosts[host].isCounted else { return }
    hosts[host].isCounted = isBusy
    busyHosts += isBusy ? 1 : -1
    guard !isBusy else { return }
    for held in heldToShare.sorted() { consider(held) }
    heldToShare = []
  }

  /// Appends a host that has work to the round-robin queue.
  private mutating func consider(_ host: Int) {
    guard !hosts[host].isReady, !hosts[host].isEmpty else { return }
    hosts[host].isReady = true
    ready.append(host)
  }

  /// Sets a timer that puts a pausing host back into the round-robin queue.
  ///
  /// A host has only one timer, even if more transfers are added during the pause.
  private mutating func wake(_ host: Int, at moment: MonotonicTime) {
    if let pending = hosts[host].wakes, pending <= moment { return }
    hosts[host].wakes = moment
    timers.push(.host(host), at: moment)
  }

  private mutating func drop(_ host: Int) {
    _ = ready.popFirst()
    hosts[host].isReady = false
  }
}

/// A token bucket, which limits the number of transfers that start per second.
///
/// For example, with a rate of 50, at most 50 transfers start per second, and at most 5 of them at once.
package struct TokenBucket: Sendable {
  private let interval: Double
  private let capacity: Double
  private var tokens: Double
  private var filled: MonotonicTime?

  /// Makes a full bucket.
  ///
  /// - Parameter rate: The number of transfers per second. A rate of less than one per day is raised to one per day.
  package init(rate: Double) {
    let rate = rate.isFinite ? max(rate, 1.0 / 86_400) : 1e9
    interval = 1e9 / rate
    capacity = max(1, rate / 10)
    tokens = capacity
  }

  /// Takes a token, and returns nil.
  ///
  /// If there is no token, returns the time at which there will be one.
  package mutating func take(at now: MonotonicTime) -> MonotonicTime? {
    let elapsed = max(0, now - (filled ?? now))
    tokens = min(capacity, tokens + Double(elapsed) / interval)
    filled = now
    // The tolerance prevents a rounding error from causing another wait when a wait is over.
    if tokens >= 1 - 1e-6 {
      tokens = max(0, tokens - 1)
      return nil
    }
    let missing = ((1 - tokens) * interval).rounded(.up) + 1
    return now + .nanoseconds(Int64(missing))
  }
}

/// A queue of elements that have a time.
///
/// The element with the earliest time is taken first. Elements with the same time are taken in the order in which they
/// were added.
struct TimerQueue<Element: Sendable>: Sendable {
  /// The elements, the latest first, so that the earliest can be taken without moving the others.
  private var entries: [(moment: MonotonicTime, element: Element)] = []

  var earliest: MonotonicTime? { entries.last?.moment }

  mutating func push(_ element: Element, at moment: MonotonicTime) {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].moment > moment { low = middle + 1 } else { high = middle }
    }
    entries.insert((moment, element), at: low)
  }

  mutating func pop() -> Element? { entries.popLast()?.element }

  mutating func removeAll(where condition: (Element) -> Bool) {
    entries.removeAll { condition($0.element) }
  }
}
