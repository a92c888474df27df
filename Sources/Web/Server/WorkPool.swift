import Dispatch
import Synchronization

/// A few threads for work that would block an event loop, with a bounded queue.
final class WorkPool: Sendable {
  private let queue = DispatchQueue(label: "larder.web", attributes: .concurrent)
  private let slots: DispatchSemaphore
  private let line = DispatchQueue(label: "larder.web.line")
  private let waiting = Atomic<Int>(0)
  private let most: Int

  /// Creates a pool.
  ///
  /// - Parameters:
  ///   - threads: The maximum number of pieces of work that run at once.
  ///   - most: The maximum number of pieces of work that wait or run.
  init(threads: Int = 4, most: Int = 512) {
    slots = DispatchSemaphore(value: threads)
    self.most = most
  }

  /// Makes an answer on a thread of the pool; answers 503 at once when the queue is full.
  func make(
    _ work: @escaping @Sendable () -> Answer,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    if !begin({ done(work()) }) { done(.busy) }
  }

  /// Runs work as soon as a thread is free; false when the queue is full.
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
    "too many requests at once; try again in a second",
    [("Retry-After", "1")]
  )
}
