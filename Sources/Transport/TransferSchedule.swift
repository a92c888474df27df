import Base

/// A pure state machine that decides which transfer starts next, and when to check again.
///
/// Each host has its own queues: by priority, and within a priority first come, first served. Hosts take turns (round
/// robin), so that one dead host among fifty does not delay the others. A host gets no transfer while it is at its
/// limit, has asked for a pause, or does not answer. A host that has not answered yet, or no longer answers, gets at
/// most its share of the run's transfers. The transfers of a silent host do not count against the run's limit. Every
/// operation takes constant time, except the check for silent hosts: at most four times a second, while the run is at
/// its limit.
package struct TransferSchedule: Sendable {
  /// The limits of the whole run.
  package struct Limits: Sendable {
    /// The maximum number of concurrent transfers over all hosts.
    package var parallel = 64
    /// Whether transfers to silent hosts may exceed `parallel`, up to twice that number in all.
    package var passesOverSilent = true
    /// The maximum number of concurrent transfers to one host.
    package var perHost = ConcurrencyWindow.Bounds.upTo(16)
    /// The maximum number of starts per second over all hosts; nil for no limit.
    package var rate: Double?
    /// When a host counts as dead.
    package var breaker = CircuitBreaker.Thresholds()

    /// Makes the limits of `--parallel auto`.
    package init() {}
  }

  /// The next step of the transport.
  package enum Step: Hashable, Sendable {
    /// Start this transfer now.
    case start(transfer: Int, host: Int)
    /// Fail this transfer now: its host is dead.
    case fail(transfer: Int)
    /// Do nothing until a transfer finishes or is added, or that moment comes.
    case wait(until: MonotonicTime?)
  }

  /// The information that an attempt gives about its host.
  package enum Outcome: Hashable, Sendable {
    /// The host delivered the requested response.
    case delivered
    /// The host answered, but not with the requested response.
    case answered
    /// The host reported overload (429 or 503). `wait` is the pause that it asked for, already capped; `since` is the
    /// start of the attempt.
    case overloaded(since: MonotonicTime, wait: Duration?)
    /// The host's `Retry-After` is longer than a run is willing to wait: every request to the host fails from now on.
    case closed
    /// There was no connection, or it broke or fell silent; `since` is the start of the attempt.
    case unreachable(since: MonotonicTime)
    /// larder ended the attempt, so it says nothing about the host.
    case abandoned
  }

  private var limits: Limits
  private var bucket: TokenBucket?
  private var hosts: [HostQueue] = []
  private var ready = FIFO<Int>()
  private var timers = TimerHeap<Timer>()
  private(set) var active = 0
  /// The number of active transfers that do not count because their host is silent; below it, the time of the next
  /// check.
  private var passedOver = 0
  private var nextLook: MonotonicTime?
  /// The number of hosts that have transfers under way or waiting.
  private var busyHosts = 0
  /// The hosts that get no more transfers until they answer or their share grows.
  private var heldToShare: [Int] = []

  /// The time between two checks for silent hosts while the run is at its limit.
  private static let lookDistance = Duration.milliseconds(250)

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

  /// Queues a transfer; `first` puts it before others of its priority, for example the next hop of a redirect.
  package mutating func add(
    _ transfer: Int,
    host: Int,
    priority: Request.Priority,
    first: Bool = false
  ) {
    hosts[host].push(transfer, priority, first: first)
    count(host)
    consider(host)
  }

  /// Queues a transfer again once `moment` has come.
  package mutating func add(
    _ transfer: Int,
    host: Int,
    priority: Request.Priority,
    at moment: MonotonicTime
  ) {
    timers.push(.transfer(transfer, host: host, priority: priority), at: moment)
  }

  /// Returns the next step; call it again until it says to wait.
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
        hold(host)
      case .go:
        if active - passedOver >= limits.parallel {
          passOverSilent(at: now)
          guard active - passedOver < limits.parallel else {
            return .wait(until: [timers.earliest, nextLook].compactMap { $0 }.min())
          }
        }
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
  /// If such a host is dead, it is dead because of the overload, not because of silence.
  package func sendsAway(_ host: Int) -> Bool { hosts[host].sendsAway }

  /// Records how an attempt ended; to repeat it, add it again.
  package mutating func finished(host: Int, _ outcome: Outcome, at now: MonotonicTime) {
    active -= 1
    passedOver -= hosts[host].passedOver
    hosts[host].passedOver = 0
    hosts[host].finished(outcome, at: now, breaker: limits.breaker)
    count(host)
    consider(host)
  }

  /// Removes transfers that have not started from all queues, and returns them.
  package mutating func remove(where condition: (Int) -> Bool) -> [Int] {
    var removed: [Int] = []
    for host in hosts.indices {
      removed += hosts[host].remove(where: condition)
      count(host)
    }
    var kept = TimerHeap<Timer>()
    while let moment = timers.earliest, let timer = timers.pop() {
      if case .transfer(let transfer, _, _) = timer, condition(transfer) {
        removed.append(transfer)
      } else {
        kept.push(timer, at: moment)
      }
    }
    timers = kept
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

  /// Stops counting the transfers of silent hosts, so that a dead host takes no slot from others while its transfers
  /// time out.
  ///
  /// Such a host gets no further transfer until it answers, or until these transfers have ended.
  private mutating func passOverSilent(at now: MonotonicTime) {
    guard limits.passesOverSilent, nextLook.map({ now >= $0 }) ?? true else { return }
    nextLook = now + Self.lookDistance
    for host in hosts.indices {
      let count = hosts[host].active
      guard count > 0, hosts[host].passedOver == 0, hosts[host].isSilent(at: now),
        passedOver + count <= limits.parallel
      else { continue }
      hosts[host].passedOver = count
      passedOver += count
    }
  }

  /// The maximum number of transfers for a host that has not answered yet.
  ///
  /// It is the run's limit divided by the number of hosts that have work, so that a silent host cannot take the slots
  /// of hosts that answer.
  private var share: Int { max(1, (limits.parallel + busyHosts - 1) / max(1, busyHosts)) }

  /// Updates the number of hosts that have work; when it falls, every share grows.
  private mutating func count(_ host: Int) {
    let isBusy = hosts[host].active > 0 || !hosts[host].isEmpty
    guard isBusy != hosts[host].isCounted else { return }
    hosts[host].isCounted = isBusy
    busyHosts += isBusy ? 1 : -1
    guard !isBusy else { return }
    for held in heldToShare {
      hosts[held].isHeldToShare = false
      consider(held)
    }
    heldToShare = []
  }

  private mutating func hold(_ host: Int) {
    guard !hosts[host].isHeldToShare else { return }
    hosts[host].isHeldToShare = true
    heldToShare.append(host)
  }

  /// Appends a host that has work to the round-robin queue.
  private mutating func consider(_ host: Int) {
    guard !hosts[host].isReady, !hosts[host].isEmpty else { return }
    hosts[host].isReady = true
    ready.append(host)
  }

  /// Sets a timer to check a resting host again; a host has only one timer, even if more transfers are added
  /// meanwhile.
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

/// A token bucket: `rate` starts a second, in bursts of at most `rate / 10`.
package struct TokenBucket: Sendable {
  private let interval: Double
  private let capacity: Double
  private var tokens: Double
  private var filled: MonotonicTime?

  /// Makes a full bucket; `rate` is in starts a second, at least one in a day.
  package init(rate: Double) {
    let rate = rate.isFinite ? max(rate, 1.0 / 86_400) : 1e9
    interval = 1e9 / rate
    capacity = max(1, rate / 10)
    tokens = capacity
  }

  /// Takes a token and returns nil; without a token, returns the moment at which there will be one.
  package mutating func take(at now: MonotonicTime) -> MonotonicTime? {
    let elapsed = max(0, now - (filled ?? now))
    tokens = min(capacity, tokens + Double(elapsed) / interval)
    filled = now
    // Rounding must not turn a wait that is over into another one of zero length.
    if tokens >= 1 - 1e-6 {
      tokens = max(0, tokens - 1)
      return nil
    }
    let missing = ((1 - tokens) * interval).rounded(.up) + 1
    return now + .nanoseconds(Int64(missing))
  }
}

/// A binary heap of elements by the moment at which they are due, the earliest first.
struct TimerHeap<Element: Sendable>: Sendable {
  private var entries: [(moment: MonotonicTime, order: Int, element: Element)] = []
  private var pushed = 0

  var earliest: MonotonicTime? { entries.first?.moment }

  mutating func push(_ element: Element, at moment: MonotonicTime) {
    pushed += 1
    entries.append((moment, pushed, element))
    var child = entries.count - 1
    while child > 0, isBefore(child, (child - 1) / 2) {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func pop() -> Element? {
    guard let last = entries.indices.last else { return nil }
    entries.swapAt(0, last)
    let earliest = entries.removeLast()
    var parent = 0
    while true {
      let children = (2 * parent + 1)..<min(2 * parent + 3, max(entries.count, 2 * parent + 1))
      guard let least = children.min(by: isBefore), isBefore(least, parent) else { break }
      entries.swapAt(least, parent)
      parent = least
    }
    return earliest.element
  }

  /// Elements with equal moments keep the order in which they were pushed.
  private func isBefore(_ left: Int, _ right: Int) -> Bool {
    (entries[left].moment, entries[left].order) < (entries[right].moment, entries[right].order)
  }
}

/// A queue, first in, first out; each operation has constant cost.
struct FIFO<Element: Sendable>: Sendable {
  private var items: [Element] = []
  private var head = 0

  var isEmpty: Bool { head == items.count }
  var count: Int { items.count - head }
  var first: Element? { isEmpty ? nil : items[head] }

  mutating func append(_ item: Element) {
    items.append(item)
  }

  mutating func prepend(_ item: Element) {
    if head > 0 {
      head -= 1
      items[head] = item
    } else {
      items.insert(item, at: 0)
    }
  }

  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let item = items[head]
    head += 1
    // Moving the rest only when half of the array is used up costs each element one move on average.
    if head == items.count {
      items.removeAll(keepingCapacity: items.capacity <= 1024)
      head = 0
    } else if head > 1024, head * 2 > items.count {
      items.removeFirst(head)
      head = 0
    }
    return item
  }
}
