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
    let puller = Puller(limit: 7, queue: queue, isOpen: true)
    let ended = DispatchQueue(label: "test.end")
    puller.whenFree { [weak puller] host, count in
      started.withLock { $0[host, default: 0] += count }
      underWay.withLock { hosts in
        var own = hosts[host] ?? (0, 0)
        own.now += count
        own.most = max(own.most, own.now)
        hosts[host] = own
      }
      for _ in 0..<count {
        ended.async { [weak puller] in
          underWay.withLock { $0[host]?.now -= 1 }
          puller?.leave(host)
          group.leave()
        }
      }
    }

    for _ in 0..<50 {
      for _ in 0..<30 { group.enter() }
      puller.add(["a": 20, "b": 10])
    }
    group.wait()

    #expect(started.withLock { $0 } == ["a": 1000, "b": 500])
    #expect(underWay.withLock { $0.values.allSatisfy { $0.most <= 7 } })
  }

  @Test
  func `jobs that end while they are started block nothing, and wait until they are let start`() {
    let count = Mutex(0)
    let queue = DispatchQueue(label: "test.work", attributes: .concurrent)
    let group = DispatchGroup()
    let puller = Puller(limit: 3, queue: queue, isOpen: false)
    puller.whenFree { [weak puller] host, number in
      count.withLock { $0 += number }
      puller?.leave(host, number)
      for _ in 0..<number { group.leave() }
    }

    for _ in 0..<500 { group.enter() }
    puller.add(["a": 500])
    queue.sync(flags: .barrier) {}
    #expect(count.withLock { $0 } == 0)
    puller.open()
    group.wait()

    #expect(count.withLock { $0 } == 500)
  }
}
