import Dispatch
import Synchronization
import Testing

@testable import Pipeline

struct PullerTests {
  @Test func `all jobs of each host start, never more at once than the limit`() {
    let started = Mutex<[String: Int]>([:])
    let underWay = Mutex<[String: (now: Int, most: Int)]>([:])
    let queue = DispatchQueue(label: "test.work", attributes: .concurrent)
    let group = DispatchGroup()
    let puller = Mutex<Puller?>(nil)
    let ended = DispatchQueue(label: "test.end")
    puller.withLock {
      $0 = Puller(limit: 7, queue: queue, isOpen: true) { host, count in
        started.withLock { $0[host, default: 0] += count }
        underWay.withLock { hosts in
          var own = hosts[host] ?? (0, 0)
          own.now += count
          own.most = max(own.most, own.now)
          hosts[host] = own
        }
        for _ in 0..<count {
          ended.async {
            underWay.withLock { $0[host]?.now -= 1 }
            puller.withLock { $0 }?.leave(host)
            group.leave()
          }
        }
      }
    }

    for _ in 0..<50 {
      for _ in 0..<30 { group.enter() }
      puller.withLock { $0 }?.add(["a": 20, "b": 10])
    }
    group.wait()

    #expect(started.withLock { $0 } == ["a": 1000, "b": 500])
    #expect(underWay.withLock { $0.values.allSatisfy { $0.most <= 7 } })
    puller.withLock { $0 = nil }
  }

  @Test
  func `jobs that end while they are started block nothing, and wait until they are let start`() {
    let count = Mutex(0)
    let queue = DispatchQueue(label: "test.work", attributes: .concurrent)
    let group = DispatchGroup()
    let puller = Mutex<Puller?>(nil)
    let made = Puller(limit: 3, queue: queue, isOpen: false) { host, number in
      count.withLock { $0 += number }
      puller.withLock { $0 }?.leave(host, number)
      for _ in 0..<number { group.leave() }
    }
    puller.withLock { $0 = made }

    for _ in 0..<500 { group.enter() }
    made.add(["a": 500])
    queue.sync(flags: .barrier) {}
    #expect(count.withLock { $0 } == 0)
    made.open()
    group.wait()

    #expect(count.withLock { $0 } == 500)
    puller.withLock { $0 = nil }
  }
}
