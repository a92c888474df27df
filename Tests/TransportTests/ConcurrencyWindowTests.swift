import Testing

@testable import Transport

@Suite struct ConcurrencyWindowTests {
  /// Feeds a window from a model of a server: how long a volley of `limit` answers takes, in milliseconds.
  static func run(
    _ window: inout ConcurrencyWindow,
    volleys: Int,
    from start: Int64 = 0,
    _ latency: (Int) -> Double
  ) -> Int64 {
    var now = start
    for _ in 0..<volleys {
      let milliseconds = latency(window.limit)
      now += Int64(milliseconds * 1e6)
      for _ in 0..<window.limit {
        window.succeeded(
          bytes: 20_000,
          waited: Int64(milliseconds * 1e6),
          isHeldBack: true,
          at: MonotonicTime(nanoseconds: now)
        )
      }
    }
    return now
  }

  static func refuse(
    _ window: inout ConcurrencyWindow,
    count: Int = 100,
    since start: Double,
    at now: Double
  ) {
    window.refused(
      count: count,
      since: MonotonicTime(nanoseconds: Int64(start * 1e9)),
      at: MonotonicTime(nanoseconds: Int64(now * 1e9))
    )
  }

  @Test func `a server that is far away gets all it may`() {
    var window = ConcurrencyWindow(.init(start: 6, ceiling: 16))

    _ = Self.run(&window, volleys: 100) { _ in 50 }

    #expect(window.limit == 16)
  }

  @Test func `a server that only grows slower is not pressed`() {
    var window = ConcurrencyWindow(.init(start: 6, ceiling: 64))

    _ = Self.run(&window, volleys: 500) { Double($0) * 2 }

    #expect(window.limit < 16)
  }

  @Test func `an idle host does not grow`() {
    var window = ConcurrencyWindow(.init(start: 6, ceiling: 16))

    for step in 0..<1000 {
      window.succeeded(
        bytes: 1,
        waited: 1,
        isHeldBack: false,
        at: MonotonicTime(nanoseconds: Int64(step) * 1000)
      )
    }

    #expect(window.limit == 6)
  }

  @Test func `a volley of errors halves once, and down to one at least`() {
    var window = ConcurrencyWindow(.init(start: 8, ceiling: 16))

    for _ in 0..<8 { Self.refuse(&window, since: 4.9, at: 5) }
    #expect(window.limit == 4)
    for second in 7..<20 {
      Self.refuse(&window, since: Double(second) - 0.1, at: Double(second))
    }

    #expect(window.limit == 1)
  }

  @Test
  func `after a refusal a host grows up to below what it refused, and once that is old beyond`() {
    var window = ConcurrencyWindow(.init(start: 12, ceiling: 16))
    Self.refuse(&window, count: 10, since: 4.9, at: 5)
    #expect(window.limit == 6)

    let end = Self.run(&window, volleys: 200, from: 6_000_000_000) { _ in 50 }
    #expect(window.limit == 9)
    _ = Self.run(&window, volleys: 600, from: end) { _ in 50 }

    #expect(window.limit == 16)
  }

  @Test func `it starts politely and twice as wide with each round`() {
    var window = ConcurrencyWindow(.init(start: 6, ceiling: 128))
    var limits = [window.limit]

    var now: Int64 = 0
    for _ in 0..<7 {
      now = Self.run(&window, volleys: 1, from: now) { _ in 100 }
      limits.append(window.limit)
    }

    #expect(limits.first == 6)
    #expect(zip(limits, limits.dropFirst()).allSatisfy { $1 <= 2 * $0 })
    #expect(limits.last == 128)
  }

  @Test func `a host that brings no more for more goes back to where it did`() {
    var window = ConcurrencyWindow(.init(start: 6, ceiling: 128))

    // Its bodies share a narrow link; its first bytes are quick.
    var now: Int64 = 0
    for _ in 0..<30 {
      now += Int64(window.limit) * 10_000_000
      for _ in 0..<window.limit {
        window.succeeded(
          bytes: 100_000,
          waited: 1_000_000,
          isHeldBack: true,
          at: MonotonicTime(nanoseconds: now)
        )
      }
    }

    #expect(window.limit <= 24)
  }

  @Test func `fixed bounds stay`() {
    var window = ConcurrencyWindow(.fixed(3))

    Self.refuse(&window, since: 0, at: 0)
    _ = Self.run(&window, volleys: 100) { _ in 1 }

    #expect(window.limit == 3)
    #expect(ConcurrencyWindow.Bounds.fixed(0).start == 1)
    #expect(ConcurrencyWindow.Bounds(start: 6, ceiling: 2).start == 2)
  }

  @Test func `times and sizes beyond all measure do not trap`() {
    var window = ConcurrencyWindow(.init(start: 1, ceiling: 16))

    for step in 0..<100 {
      let now = MonotonicTime(nanoseconds: step.isMultiple(of: 2) ? .min : .max)
      window.succeeded(bytes: ByteCount(Int64.max), waited: .max, isHeldBack: true, at: now)
      window.refused(count: step, since: now, at: now)
    }

    #expect(window.limit >= 1)
  }

  @Test(arguments: [0, -1, Double.nan, .infinity, 1e-30, 1e300])
  func `no rate stops the bucket for good`(_ rate: Double) {
    var bucket = TokenBucket(rate: rate)

    #expect(bucket.take(at: MonotonicTime(nanoseconds: 0)) == nil)
    let moment = bucket.take(at: MonotonicTime(nanoseconds: 0)) ?? MonotonicTime(nanoseconds: 0)
    #expect(moment.nanoseconds <= 86_401_000_000_000)
  }

  @Test func `a timer heap pops in order`() {
    var heap = TimerHeap<Int>()
    let moments = (0..<500).map { ($0 * 7919) % 503 }

    for moment in moments { heap.push(moment, at: MonotonicTime(nanoseconds: Int64(moment))) }
    var popped: [Int] = []
    while let next = heap.pop() { popped.append(next) }

    #expect(popped == moments.sorted())
  }

  @Test func `a queue keeps its order however long it gets`() {
    var queue = FIFO<Int>()
    var expected = 0

    for number in 0..<10_000 {
      queue.append(number)
      if number % 3 != 0 {
        #expect(queue.popFirst() == expected)
        expected += 1
      }
    }
    queue.prepend(-1)

    #expect(queue.popFirst() == -1)
    while let number = queue.popFirst() {
      #expect(number == expected)
      expected += 1
    }
    #expect(expected == 10_000)
    #expect(queue.isEmpty)
  }
}
