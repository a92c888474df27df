import Testing

@testable import Transport

/// How many connections are opened for requests to come, and what waits for them.
@Suite struct OpeningScheduleTests {
  /// A host with `active` transfers under way, of `parallel` in all.
  struct Case: Sendable, CustomTestStringConvertible {
    var parallel = 50
    var perHost = 50
    var active = 0
    var expected = 1000
    var others = 0
    var rate: Double?
    var hasAnswered = false
    var failures = 0
    let opened: Int
    let why: String

    var testDescription: String { why }
  }

  static let cases = [
    Case(opened: 50, why: "as many as the run may have"),
    Case(expected: 3, opened: 3, why: "no more than there are requests"),
    Case(active: 10, opened: 40, why: "sections have theirs"),
    Case(active: 10, expected: 4, opened: 0, why: "sections have enough for all"),
    Case(perHost: 6, opened: 6, why: "no more than the host may have"),
    Case(perHost: 6, active: 6, opened: 0, why: "the host has all that it may have"),
    Case(others: 10, opened: 25, why: "no more than its share beside a busy host"),
    Case(parallel: 12, perHost: 12, others: 10, opened: 2, why: "no more than the run has left"),
    Case(rate: 20, opened: 0, why: "a rate counts starts"),
    Case(hasAnswered: true, opened: 0, why: "what is at rest would be left over"),
    Case(failures: 9, opened: 0, why: "a host that does not answer is left alone"),
  ]

  @Test(arguments: cases)
  func `connections are opened as the requests would open them`(_ test: Case) {
    var limits = ScheduleTests.limits(test.parallel, test.perHost)
    limits.rate = test.rate
    var schedule = TransferSchedule(limits)
    let host = schedule.addHost()
    let other = schedule.addHost()
    let count = test.active + test.failures + (test.hasAnswered ? 1 : 0)
    for transfer in 0..<count { schedule.add(transfer, host: host, priority: .section) }
    for transfer in 0..<test.others {
      schedule.add(100 + transfer, host: other, priority: .section)
    }
    _ = ScheduleTests.drain(&schedule, at: 0)
    if test.hasAnswered { schedule.finished(host: host, .answered, at: ScheduleTests.at(0)) }
    for _ in 0..<test.failures {
      schedule.finished(
        host: host,
        .unreachable(since: ScheduleTests.at(0)),
        at: ScheduleTests.at(0)
      )
    }

    let opened = schedule.openings(host: host, expected: test.expected, at: ScheduleTests.at(0))

    #expect(opened == test.opened)
  }

  @Test func `requests wait for as many openings as there are, and more open their own`() {
    var schedule = TransferSchedule(ScheduleTests.limits(8, 8))
    let host = schedule.addHost()
    #expect(schedule.openings(host: host, expected: 2, at: ScheduleTests.at(0)) == 2)

    for transfer in 1...2 { schedule.add(transfer, host: host, priority: .image) }
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)).isEmpty)
    for transfer in 3...4 { schedule.add(transfer, host: host, priority: .image) }
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)) == [1, 2])

    schedule.finished(host: host, .opened, opening: true, at: ScheduleTests.at(0))
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)) == [3])
    schedule.finished(host: host, .opened, opening: true, at: ScheduleTests.at(0))
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)) == [4])
  }

  @Test func `an opening that never ends holds up nobody who finds a connection at rest`() {
    var schedule = TransferSchedule(ScheduleTests.limits(8, 8))
    let host = schedule.addHost()
    #expect(schedule.openings(host: host, expected: 2, at: ScheduleTests.at(0)) == 2)
    schedule.finished(host: host, .opened, opening: true, at: ScheduleTests.at(0))

    for transfer in 1...2 { schedule.add(transfer, host: host, priority: .image) }
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)) == [1])
    schedule.finished(host: host, ScheduleTests.delivered, at: ScheduleTests.at(1))
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 1)) == [2])
  }

  @Test func `when an opening fails, what waited for it starts`() {
    var schedule = TransferSchedule(ScheduleTests.limits(8, 8))
    let host = schedule.addHost()
    #expect(schedule.openings(host: host, expected: 1, at: ScheduleTests.at(0)) == 1)
    schedule.add(1, host: host, priority: .image)
    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 0)).isEmpty)

    let failed = TransferSchedule.Outcome.unreachable(since: ScheduleTests.at(0))
    schedule.finished(host: host, failed, opening: true, at: ScheduleTests.at(1))

    #expect(ScheduleTests.started(ScheduleTests.drain(&schedule, at: 1)) == [1])
    #expect(schedule.active == 1)
  }
}
