import Base
import Testing

@testable import Transport

/// The schedule of requests to several kinds of hosts, in simulated time.
@Suite struct ConcurrencySimulationTests {
  /// A simulated host.
  struct Host: CustomTestStringConvertible {
    var testDescription: String
    /// The time in milliseconds before each answer.
    ///
    /// Several answers may wait at the same time.
    var delay: Double
    /// The time in milliseconds that each answer takes after that.
    ///
    /// There is one answer at a time.
    var service: Double
    /// The number of concurrent requests above which requests are refused.
    var most = Int.max
  }

  static let hosts = [
    Host(testDescription: "next door", delay: 0.2, service: 0.1),
    Host(testDescription: "next door and slow", delay: 1, service: 5),
    Host(testDescription: "20 ms away", delay: 20, service: 0.1),
    Host(testDescription: "100 ms away", delay: 100, service: 0.1),
    Host(testDescription: "100 ms away over a narrow line", delay: 100, service: 4),
    Host(testDescription: "20 ms away, 8 connections", delay: 20, service: 0.1, most: 8),
    Host(testDescription: "20 ms away, 3 connections", delay: 20, service: 0.1, most: 3),
  ]

  /// The seconds until `count` pictures are received.
  static func seconds(
    _ host: Host,
    _ count: Int,
    perHost: ConcurrencyWindow.Bounds
  ) -> (seconds: Double, refusals: Int) {
    var limits = TransferSchedule.Limits()
    limits.parallel = 256
    limits.perHost = perHost
    var schedule = TransferSchedule(limits)
    let number = schedule.addHost()
    for transfer in 0..<count { schedule.add(transfer, host: number, priority: .image) }
    var now = MonotonicTime(nanoseconds: 0)
    var events = TimerQueue<(transfer: Int, started: MonotonicTime, isRefused: Bool)>()
    var serviceEnd = now
    var done = 0
    var served = 0
    var refusals = 0
    while done < count {
      var wake: MonotonicTime?
      loop: while true {
        switch schedule.next(at: now) {
        case .start(let transfer, _):
          let isRefused = served >= host.most
          let arrival = now + .nanoseconds(Int64((isRefused ? 1 : host.delay) * 1e6))
          if !isRefused {
            served += 1
            serviceEnd = max(serviceEnd, arrival) + .nanoseconds(Int64(host.service * 1e6))
          }
          events.push((transfer, now, isRefused), at: isRefused ? arrival : serviceEnd)
        case .fail:
          Issue.record("the host answers")
          return (.infinity, refusals)
        case .wait(let moment):
          wake = moment
          break loop
        }
      }
      guard let next = [wake, events.earliest].compactMap({ $0 }).min() else { break }
      now = next
      while let moment = events.earliest, moment <= now, let event = events.pop() {
        if event.isRefused {
          refusals += 1
          schedule.finished(host: number, .overloaded(since: event.started, wait: nil), at: now)
          schedule.add(
            event.transfer,
            host: number,
            priority: .image,
            at: now + .milliseconds(250)
          )
        } else {
          done += 1
          served -= 1
          schedule.finished(host: number, .delivered, at: now)
        }
      }
    }
    return (Double(now.nanoseconds) / 1e9, refusals)
  }

  @Test(arguments: hosts)
  func `the setting auto is within a tenth of the best fixed setting`(_ host: Host) {
    // Settings above the host's limit are never the best.
    let sweep = [1, 2, 3, 4, 8, 16, 32, 64, 128].filter { $0 <= host.most }
    let count = 8_000

    let fixed = sweep.map { Self.seconds(host, count, perHost: .fixed($0)).seconds }
    for most in [16, 128] {
      let best = zip(sweep, fixed).filter { $0.0 <= most }.map(\.1).min() ?? 0
      let auto = Self.seconds(host, count, perHost: .upTo(most))
      #expect(auto.seconds <= 1.1 * best, "\(most): \(fixed), \(auto)")
    }
  }

  @Test func `a host with a connection limit is sent only a few requests beyond it`() {
    let host = Host(testDescription: "8 connections", delay: 20, service: 0.1, most: 8)

    let auto = Self.seconds(host, 60_000, perHost: .upTo(128))

    // Half of the first sixteen are refused, and a few later.
    #expect(auto.refusals <= 8 + 4, "\(auto)")
  }
}
