import Base
import Testing

@testable import Transport

/// The number of concurrent requests to one host, which depends on the host's answers.
@Suite struct ConcurrencyWindowTests {
  static func at(_ seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: Int64(seconds * 1e9))
  }

  /// An event that a window reacts to.
  enum Event: Sendable {
    /// A number of answers at a second, while more requests could start.
    case answers(Int, at: Double)
    /// A number of answers while fewer requests run than the window allows.
    case idle(Int)
    /// Refusals among `count` transfers that started at second `since`, at a later second.
    case refusals(Int, of: Int, since: Double, at: Double)
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var bounds = ConcurrencyWindow.Bounds.upTo(16)
    var events: [Event] = []
    let limit: Int

    init(
      _ why: String,
      _ bounds: ConcurrencyWindow.Bounds = .upTo(16),
      _ events: [Event] = [],
      gives limit: Int
    ) {
      testDescription = why
      (self.bounds, self.events, self.limit) = (bounds, events, limit)
    }
  }

  static let cases = [
    Case("it starts at 16", gives: 16),
    Case("it starts at what the user allows", .upTo(3), gives: 3),
    Case("it holds one at least", .upTo(0), gives: 1),
    Case("it goes no further than it may", .upTo(16), [.answers(1000, at: 1)], gives: 16),
    Case("each answer adds one at first", .upTo(128), [.answers(16, at: 1)], gives: 32),
    Case("up to what the user allows", .upTo(128), [.answers(1000, at: 1)], gives: 128),
    Case("a host that is asked for less does not grow", .upTo(128), [.idle(1000)], gives: 16),
    Case("a refusal halves", .upTo(16), [.refusals(1, of: 16, since: 0, at: 1)], gives: 8),
    Case(
      "a volley of refusals halves once",
      .upTo(16),
      [.refusals(8, of: 16, since: 0, at: 1)],
      gives: 8
    ),
    Case(
      "refusals of later requests halve again",
      .upTo(16),
      [.refusals(1, of: 16, since: 0, at: 1), .refusals(1, of: 8, since: 2, at: 3)],
      gives: 4
    ),
    Case(
      "down to one at least",
      .upTo(16),
      (1...9).map { .refusals(1, of: 9, since: Double($0), at: Double($0) + 0.5) },
      gives: 1
    ),
    Case(
      "seven answers after a refusal add nothing",
      .upTo(16),
      [.refusals(1, of: 16, since: 0, at: 1), .answers(7, at: 2)],
      gives: 8
    ),
    Case(
      "every eighth adds one",
      .upTo(16),
      [.refusals(1, of: 16, since: 0, at: 1), .answers(24, at: 2)],
      gives: 11
    ),
    Case(
      "up to below what was refused",
      .upTo(16),
      [.refusals(1, of: 10, since: 0, at: 1), .answers(1000, at: 2)],
      gives: 9
    ),
    Case(
      "up to what was taken of a volley",
      .upTo(16),
      [.refusals(4, of: 14, since: 0, at: 1), .answers(1000, at: 2)],
      gives: 10
    ),
    Case(
      "a host that took none of a volley does not mind the number",
      .upTo(16),
      [.refusals(12, of: 12, since: 0, at: 1), .answers(1000, at: 2)],
      gives: 11
    ),
    Case(
      "a refusal is minded for half a minute",
      .upTo(16),
      [.refusals(1, of: 10, since: 0, at: 1), .answers(1000, at: 30.9)],
      gives: 9
    ),
    Case(
      "and then no longer",
      .upTo(16),
      [.refusals(1, of: 10, since: 0, at: 1), .answers(1000, at: 31)],
      gives: 16
    ),
    Case(
      "the next one for a minute",
      .upTo(16),
      [
        .refusals(1, of: 10, since: 0, at: 1), .refusals(1, of: 10, since: 40, at: 41),
        .answers(1000, at: 100.9),
      ],
      gives: 7
    ),
    Case(
      "a fixed number stays",
      .fixed(3),
      [.refusals(9, of: 3, since: 0, at: 1), .answers(1000, at: 2)],
      gives: 3
    ),
    Case("a fixed number is one at least", .fixed(0), gives: 1),
  ]

  @Test(arguments: cases)
  func `a window follows the host's answers`(_ test: Case) {
    var window = ConcurrencyWindow(test.bounds)

    for event in test.events {
      switch event {
      case .answers(let count, let moment):
        for _ in 0..<count { window.answered(isHeldBack: true, at: Self.at(moment)) }
      case .idle(let count):
        for _ in 0..<count { window.answered(isHeldBack: false, at: Self.at(1)) }
      case .refusals(let refusals, let count, let start, let moment):
        for _ in 0..<refusals {
          window.refused(count: count, since: Self.at(start), at: Self.at(moment))
        }
      }
    }

    #expect(window.limit == test.limit)
  }

  @Test func `huge times and counts do not trap`() {
    var window = ConcurrencyWindow(.upTo(.max))

    for step in 0..<100 {
      let now = MonotonicTime(nanoseconds: step.isMultiple(of: 2) ? .min : .max)
      window.answered(isHeldBack: true, at: now)
      window.refused(count: step, since: now, at: now)
    }

    #expect(window.limit >= 1)
  }

  @Test(arguments: [0, -1, Double.nan, .infinity, 1e-30, 1e300])
  func `no rate stops the token bucket for good`(_ rate: Double) {
    var bucket = TokenBucket(rate: rate)

    #expect(bucket.take(at: MonotonicTime(nanoseconds: 0)) == nil)
    let moment = bucket.take(at: MonotonicTime(nanoseconds: 0)) ?? MonotonicTime(nanoseconds: 0)
    #expect(moment.nanoseconds <= 86_401_000_000_000)
  }

  @Test func `a timer queue pops in order`() {
    var timers = TimerQueue<Int>()
    let moments = (0..<500).map { ($0 * 7919) % 503 }

    for moment in moments { timers.push(moment, at: MonotonicTime(nanoseconds: Int64(moment))) }
    var popped: [Int] = []
    while let next = timers.pop() { popped.append(next) }

    #expect(popped == moments.sorted())
  }

  @Test func `the queue of a host keeps its order however long it gets`() {
    var queue = HostQueue(window: ConcurrencyWindow(.upTo(16)))
    var expected = 0

    for number in 0..<10_000 {
      queue.push(number, .image, first: false)
      if number % 3 != 0 {
        #expect(queue.pop() == expected)
        expected += 1
      }
    }
    queue.push(-1, .image, first: true)

    #expect(queue.pop() == -1)
    while let number = queue.pop() {
      #expect(number == expected)
      expected += 1
    }
    #expect(expected == 10_000)
    #expect(queue.isEmpty)
  }
}
