import Base
import Testing

@testable import Transport

/// The decisions of the schedule, without a network.
@Suite struct ScheduleTests {
  static func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: 1_000_000_000_000 + Int64(seconds * 1e9))
  }

  static let delivered = TransferSchedule.Outcome.delivered

  /// Takes steps until nothing more can start, and returns them.
  static func drain(_ schedule: inout TransferSchedule, at seconds: Double) -> [TransferSchedule
    .Step]
  {
    var steps: [TransferSchedule.Step] = []
    while true {
      let step = schedule.next(at: at(seconds))
      steps.append(step)
      if case .wait = step { return steps }
    }
  }

  static func started(_ steps: [TransferSchedule.Step]) -> [Int] {
    steps.compactMap { if case .start(let transfer, _) = $0 { transfer } else { nil } }
  }

  static func failed(_ steps: [TransferSchedule.Step]) -> [Int] {
    steps.compactMap { if case .fail(let transfer) = $0 { transfer } else { nil } }
  }

  static func limits(_ parallel: Int, _ perHost: Int) -> TransferSchedule.Limits {
    var limits = TransferSchedule.Limits()
    limits.parallel = parallel
    limits.perHost = .fixed(perHost)
    return limits
  }

  @Test func `an empty schedule waits for ever`() {
    var schedule = TransferSchedule()

    #expect(schedule.next(at: Self.at(0)) == .wait(until: nil))
  }

  @Test func `a host's requests start in order, sections first, up to its limit`() {
    var schedule = TransferSchedule(Self.limits(64, 3))
    let host = schedule.addHost()
    schedule.add(1, host: host, priority: .image)
    schedule.add(2, host: host, priority: .detail)
    schedule.add(3, host: host, priority: .section)
    schedule.add(4, host: host, priority: .image)

    #expect(Self.started(Self.drain(&schedule, at: 0)) == [3, 2, 1])
    schedule.finished(host: host, Self.delivered, at: Self.at(0))
    #expect(Self.started(Self.drain(&schedule, at: 0)) == [4])
  }

  @Test func `the next hop of a redirect is first in the queue`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    for transfer in 1...3 { schedule.add(transfer, host: host, priority: .image) }
    schedule.add(9, host: host, priority: .image, first: true)

    #expect(Self.started(Self.drain(&schedule, at: 0)) == [9])
  }

  @Test func `hosts take turns`() {
    var schedule = TransferSchedule(Self.limits(6, 16))
    let hosts = (0..<3).map { _ in schedule.addHost() }
    for transfer in 0..<30 { schedule.add(transfer, host: hosts[transfer / 10], priority: .image) }

    #expect(Self.started(Self.drain(&schedule, at: 0)) == [0, 10, 20, 1, 11, 21])
  }

  @Test func `no more requests start than the run allows`() {
    var schedule = TransferSchedule(Self.limits(2, 16))
    let host = schedule.addHost()
    for transfer in 0..<5 { schedule.add(transfer, host: host, priority: .image) }

    #expect(Self.started(Self.drain(&schedule, at: 0)) == [0, 1])
    schedule.finished(host: host, .answered, at: Self.at(0))
    #expect(Self.started(Self.drain(&schedule, at: 0)) == [2])
  }

  @Test func `a rate limit spreads starts over time`() {
    var limits = Self.limits(64, 64)
    limits.rate = 2
    var schedule = TransferSchedule(limits)
    let host = schedule.addHost()
    for transfer in 0..<4 { schedule.add(transfer, host: host, priority: .image) }

    var starts: [Double] = []
    var now = 0.0
    while starts.count < 4 {
      let steps = Self.drain(&schedule, at: now)
      starts += Self.started(steps).map { _ in now }
      guard case .wait(let moment?) = steps.last else { break }
      now = Double(moment - Self.at(0)) / 1e9
    }

    #expect(starts.map { ($0 * 10).rounded() / 10 } == [0, 0.5, 1, 1.5])
  }

  @Test func `an overloaded host is paused for its Retry-After, and others continue`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let busy = schedule.addHost()
    let calm = schedule.addHost()
    for transfer in 0..<4 { schedule.add(transfer, host: transfer % 2, priority: .image) }
    #expect(Self.started(Self.drain(&schedule, at: 0)) == [0, 1])

    schedule.finished(
      host: busy,
      .overloaded(since: Self.at(0), wait: .seconds(5)),
      at: Self.at(0)
    )
    schedule.finished(host: calm, Self.delivered, at: Self.at(0))
    let steps = Self.drain(&schedule, at: 0)

    #expect(Self.started(steps) == [3])
    #expect(steps.last == .wait(until: Self.at(5)))
    #expect(Self.started(Self.drain(&schedule, at: 4.9)).isEmpty)
    #expect(Self.started(Self.drain(&schedule, at: 5)) == [2])
  }

  @Test func `an overloaded host without a Retry-After gets longer pauses each time`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    var now = 0.0
    var waits: [Double] = []

    for transfer in 0..<4 {
      schedule.add(transfer, host: host, priority: .image)
      _ = Self.drain(&schedule, at: now)
      schedule.finished(host: host, .overloaded(since: Self.at(now), wait: nil), at: Self.at(now))
      schedule.add(100 + transfer, host: host, priority: .image)
      guard case .wait(let moment?) = Self.drain(&schedule, at: now).last else { break }
      waits.append(Double(moment - Self.at(now)) / 1e9)
      now += waits[transfer]
      _ = Self.drain(&schedule, at: now)
      schedule.finished(host: host, .abandoned, at: Self.at(now))
    }

    #expect(waits == [0.25, 0.5, 1, 2])
  }

  /// Takes steps for an overloaded host until something other than a wait happens; returns the
  /// time and the number of requests.
  private static func knock(
    _ schedule: inout TransferSchedule,
    _ host: Int,
    from start: Double,
    wait: Duration? = nil
  ) -> (seconds: Double, asked: Int, failed: [Int]) {
    var (now, asked) = (start, 0)
    while true {
      let steps = drain(&schedule, at: now)
      let started = started(steps)
      asked += started.count
      for transfer in started {
        schedule.finished(host: host, .overloaded(since: at(now), wait: wait), at: at(now))
        schedule.add(transfer, host: host, priority: .image)
      }
      let failed = failed(steps)
      // After hours it is an endless loop.
      guard failed.isEmpty, now < 10_000 else { return (now, asked, failed) }
      if started.isEmpty, case .wait(let moment?) = steps.last {
        now = Double(moment - at(0)) / 1e9
      }
    }
  }

  @Test(arguments: [(nil, 63.75, 10), (Duration.seconds(60), 900, 16), (.seconds(2), 900, 451)])
  func `a host that is overloaded for long is dead, and a probe revives it`(
    _ wait: Duration?,
    _ end: Double,
    _ volleys: Int
  ) {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    for transfer in 0..<1000 { schedule.add(transfer, host: host, priority: .image) }

    let first = Self.knock(&schedule, host, from: 0, wait: wait)

    #expect(first.seconds == end && first.asked == volleys && first.failed.count == 1000)
    #expect(schedule.sendsAway(host))

    schedule.add(1, host: host, priority: .image)
    schedule.add(2, host: host, priority: .image)
    #expect(Self.failed(Self.drain(&schedule, at: end + 29)) == [1, 2])
    schedule.add(3, host: host, priority: .image)
    schedule.add(4, host: host, priority: .image)
    let later = max(end + 30, end + Double(wait?.components.seconds ?? 0))
    #expect(Self.started(Self.drain(&schedule, at: later)) == [3])
    schedule.finished(host: host, Self.delivered, at: Self.at(later))
    #expect(Self.started(Self.drain(&schedule, at: later)) == [4])
    #expect(!schedule.sendsAway(host))
  }

  @Test func `one answer a minute keeps a busy host alive`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    var (now, delivered) = (0.0, 0)
    for transfer in 0..<50 { schedule.add(transfer, host: host, priority: .image) }

    while delivered < 20 {
      let steps = Self.drain(&schedule, at: now)
      #expect(Self.failed(steps).isEmpty)
      guard Self.started(steps).isEmpty else {
        let isDelivered = now >= Double(delivered + 1) * 50
        if isDelivered { delivered += 1 }
        schedule.finished(
          host: host,
          isDelivered ? Self.delivered : .overloaded(since: Self.at(now), wait: nil),
          at: Self.at(now)
        )
        schedule.add(100, host: host, priority: .image)
        continue
      }
      guard case .wait(let moment?) = steps.last else { break }
      now = Double(moment - Self.at(0)) / 1e9
    }

    #expect(delivered == 20)
  }

  @Test func `a retry may start once its delay is over`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    schedule.add(1, host: host, priority: .image, at: Self.at(3))
    schedule.add(2, host: host, priority: .image, at: Self.at(1))

    #expect(Self.drain(&schedule, at: 0) == [.wait(until: Self.at(1))])
    #expect(Self.started(Self.drain(&schedule, at: 1)) == [2])
    schedule.finished(host: host, Self.delivered, at: Self.at(1))
    #expect(Self.started(Self.drain(&schedule, at: 3)) == [1])
  }

  @Test func `a silent host is probed, then given up, then probed again`() {
    var schedule = TransferSchedule(Self.limits(64, 5))
    let host = schedule.addHost()
    for transfer in 0..<20 { schedule.add(transfer, host: host, priority: .image) }
    #expect(Self.started(Self.drain(&schedule, at: 0)) == [0, 1, 2, 3, 4])

    // Five refused connections at once: the server may be restarting.
    for _ in 0..<5 {
      schedule.finished(host: host, .unreachable(since: Self.at(0)), at: Self.at(0))
    }
    #expect(Self.drain(&schedule, at: 0) == [.wait(until: Self.at(0.25))])
    #expect(Self.started(Self.drain(&schedule, at: 0.25)) == [5])

    // One probe at a time, at growing intervals.
    schedule.finished(host: host, .unreachable(since: Self.at(0.25)), at: Self.at(0.25))
    #expect(Self.drain(&schedule, at: 0.25) == [.wait(until: Self.at(0.75))])

    // Silent for longer than the grace period: dead, and everything that waits fails.
    #expect(Self.started(Self.drain(&schedule, at: 3)) == [6])
    schedule.finished(host: host, .unreachable(since: Self.at(3)), at: Self.at(3))
    #expect(Self.failed(Self.drain(&schedule, at: 3)) == Array(7..<20))
    schedule.add(50, host: host, priority: .section)
    #expect(Self.failed(Self.drain(&schedule, at: 32.9)) == [50])

    // After its pause one probe decides.
    schedule.add(51, host: host, priority: .section)
    schedule.add(52, host: host, priority: .section)
    #expect(Self.started(Self.drain(&schedule, at: 33)) == [51])
    schedule.finished(host: host, Self.delivered, at: Self.at(33))
    #expect(Self.started(Self.drain(&schedule, at: 33)) == [52])
  }

  @Test func `a host whose connections time out is dead at once`() {
    var schedule = TransferSchedule(Self.limits(64, 5))
    let host = schedule.addHost()
    for transfer in 0..<20 { schedule.add(transfer, host: host, priority: .image) }
    _ = Self.drain(&schedule, at: 0)

    for _ in 0..<5 {
      schedule.finished(host: host, .unreachable(since: Self.at(0)), at: Self.at(10))
    }

    #expect(Self.failed(Self.drain(&schedule, at: 10)).count == 15)
  }

  @Test func `a probe that succeeds opens the host again`() {
    var schedule = TransferSchedule(Self.limits(64, 5))
    let host = schedule.addHost()
    for transfer in 0..<12 { schedule.add(transfer, host: host, priority: .image) }
    _ = Self.drain(&schedule, at: 0)
    for _ in 0..<5 {
      schedule.finished(host: host, .unreachable(since: Self.at(0)), at: Self.at(0))
    }
    #expect(Self.started(Self.drain(&schedule, at: 1)) == [5])

    schedule.finished(host: host, .answered, at: Self.at(1))

    #expect(Self.started(Self.drain(&schedule, at: 1)) == [6, 7, 8, 9, 10])
  }

  @Test func `a limit set by the user is never exceeded`() {
    var schedule = TransferSchedule(Self.limits(2, 2))
    for transfer in 0..<8 {
      if transfer % 4 == 0 { _ = schedule.addHost() }
      schedule.add(transfer, host: transfer / 4, priority: .image)
    }

    #expect(Self.started(Self.drain(&schedule, at: 0)).count == 2)
    #expect(Self.started(Self.drain(&schedule, at: 60)).isEmpty)
  }

  @Test func `a removed request never starts`() {
    var schedule = TransferSchedule(Self.limits(64, 1))
    let host = schedule.addHost()
    for transfer in 0..<4 { schedule.add(transfer, host: host, priority: .image) }
    schedule.add(4, host: host, priority: .image, at: Self.at(1))
    schedule.add(5, host: host, priority: .image, at: Self.at(1))
    _ = schedule.next(at: Self.at(0))

    let removed = schedule.removeAll()
    schedule.finished(host: host, .abandoned, at: Self.at(0))

    #expect(Set(removed) == [1, 2, 3, 4, 5])
    #expect(Self.started(Self.drain(&schedule, at: 2)).isEmpty)
    schedule.add(6, host: host, priority: .image)
    #expect(Self.started(Self.drain(&schedule, at: 2)) == [6])
  }
}
