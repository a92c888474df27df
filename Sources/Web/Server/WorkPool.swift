import Dispatch
import Synchronization

/// Where answers are made that take their time: a few threads, and a line that is not endless.
final class WorkPool: Sendable {
  private let queue = DispatchQueue(label: "larder.web", attributes: .concurrent)
  private let slots: DispatchSemaphore
  private let line = DispatchQueue(label: "larder.web.line")
  private let waiting = Atomic<Int>(0)
  private let most: Int

  /// A bench.
  ///
  /// - Parameters:
  ///   - threads: How many answers are made at once.
  ///   - most: How many may wait or be made.
  init(threads: Int = 4, most: Int = 512) {
    slots = DispatchSemaphore(value: threads)
    self.most = most
  }

  /// Has an answer made, or says at once that there are too many.
  func make(
    _ work: @escaping @Sendable () -> Answer,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    if !begin({ done(work()) }) { done(.busy) }
  }

  /// Has something done as soon as a thread is free; false when too much waits already.
  func begin(_ work: @escaping @Sendable () -> Void) -> Bool {
    guard waiting.add(1, ordering: .relaxed).newValue <= most else {
      waiting.subtract(1, ordering: .relaxed)
      return false
    }
    line.async { [self] in
      slots.wait()
      queue.async { [self] in
        work()
        slots.signal()
        waiting.subtract(1, ordering: .relaxed)
      }
    }
    return true
  }
}

extension Answer {
  /// The answer when the server is overloaded.
  static let busy = Answer.problem(
    503,
    "too much is asked for at once; ask again in a second",
    [("Retry-After", "1")]
  )
}
