import Dispatch
import Synchronization
import Testing

@testable import Pipeline

struct LimitedQueueTests {
  @Test func `jobs start in order, never more at once than the limit`() {
    let started = Mutex<[Int]>([])
    let underWay = Mutex((now: 0, most: 0))
    let queue = DispatchQueue(label: "test.work", attributes: .concurrent)
    let group = DispatchGroup()
    let line = Mutex<LimitedQueue<Int>?>(nil)
    let ended = DispatchQueue(label: "test.end")
    line.withLock {
      $0 = LimitedQueue<Int>(limit: 7, queue: queue) { batch in
        started.withLock { $0 += batch }
        underWay.withLock {
          $0.now += batch.count
          $0.most = max($0.most, $0.now)
        }
        for _ in batch {
          ended.async {
            underWay.withLock { $0.now -= 1 }
            line.withLock { $0 }?.leave()
            group.leave()
          }
        }
      }
    }

    for block in 0..<50 {
      for _ in 0..<20 { group.enter() }
      line.withLock { $0 }?.add(Array(block * 20..<block * 20 + 20))
    }
    group.wait()

    #expect(started.withLock { $0 } == Array(0..<1000))
    #expect(underWay.withLock { $0.most } <= 7)
    line.withLock { $0 = nil }
  }

  @Test func `jobs that end while they are started block nothing`() {
    let count = Mutex(0)
    let queue = DispatchQueue(label: "test.work", attributes: .concurrent)
    let group = DispatchGroup()
    let line = Mutex<LimitedQueue<Int>?>(nil)
    let made = LimitedQueue<Int>(limit: 3, queue: queue) { batch in
      for _ in batch {
        count.withLock { $0 += 1 }
        line.withLock { $0 }?.leave()
        group.leave()
      }
    }
    line.withLock { $0 = made }

    for _ in 0..<500 { group.enter() }
    made.add(Array(0..<500))
    group.wait()

    #expect(count.withLock { $0 } == 500)
    line.withLock { $0 = nil }
  }
}
