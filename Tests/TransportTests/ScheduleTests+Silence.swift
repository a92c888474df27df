import Testing

@testable import Transport

extension ScheduleTests {
  @Test func `one dead host of fifty does not slow down the others`() {
    var schedule = TransferSchedule(Self.limits(100, 2))
    for _ in 0..<50 { _ = schedule.addHost() }
    for transfer in 0..<500 { schedule.add(transfer, host: transfer % 50, priority: .image) }
    var done: Set<Int> = []
    var running = Self.drain(&schedule, at: 0)

    // Host 0 never answers; the others answer at once.
    for _ in 0..<20 {
      for case .start(let transfer, let host) in running where host != 0 {
        done.insert(transfer)
        schedule.finished(host: host, Self.delivered, at: Self.at(0))
      }
      running = Self.drain(&schedule, at: 0)
    }

    #expect(done.count == 490)
  }

  @Test func `a host that never answers gets only its share`() {
    var schedule = TransferSchedule(Self.limits(24, 24))
    for _ in 0..<50 { _ = schedule.addHost() }
    for transfer in 0..<2000 { schedule.add(transfer, host: transfer % 50, priority: .image) }
    var underWay: [Int: Int] = [:]
    var running = Self.drain(&schedule, at: 0)

    // Host 0 never answers; the others answer at once, and finally have no more requests.
    var busiest = 0
    var done = 0
    while true {
      let started = running.compactMap { if case .start(_, let host) = $0 { host } else { nil } }
      guard !started.isEmpty else { break }
      for host in started { underWay[host, default: 0] += 1 }
      if done < 1900 { busiest = max(busiest, underWay[0] ?? 0) }
      for host in started where host != 0 {
        underWay[host]! -= 1
        done += 1
        schedule.finished(host: host, Self.delivered, at: Self.at(0))
      }
      running = Self.drain(&schedule, at: 0)
    }

    #expect(busiest == 1)
    #expect(done == 49 * 40)
    #expect(underWay[0] == 24)
  }

  @Test func `a host that has fallen silent gets only its share`() {
    var schedule = TransferSchedule(Self.limits(10, 10))
    let hosts = (0..<2).map { _ in schedule.addHost() }
    for transfer in 0..<40 { schedule.add(transfer, host: hosts[transfer % 2], priority: .image) }
    #expect(Self.started(Self.drain(&schedule, at: 0)).count == 10)
    for host in hosts { schedule.finished(host: host, Self.delivered, at: Self.at(0)) }
    #expect(Self.started(Self.drain(&schedule, at: 0)) == [10, 11])

    // Host 1 gets all of its freed places, because host 0 has been silent for two seconds.
    for _ in 0..<5 { schedule.finished(host: hosts[1], Self.delivered, at: Self.at(2)) }

    #expect(Self.started(Self.drain(&schedule, at: 2)) == [13, 15, 17, 19, 21])
  }
}
