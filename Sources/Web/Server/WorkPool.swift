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

  /// Makes an answer on a thread of the pool; answers 503 at once if the queue is full.
  func make(
    _ work: @escaping @Sendable () -> Answer,
    _ done: @escaping @Sendable (Answer) -> Void
  ) {
    if !begin({ done(work()) }) { done(.busy) }
  }

  /// Runs work as soon as a thread is free; returns false if the queue is full.
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

/// Makes values on a pool of its own, and makes each value once for all requests that wait for it.
///
/// For example, ten requests for a picture that the cache lacks cause one fetch.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  typealias Waiter = @Sendable (Value) -> Void

  private let pool: WorkPool
  private let busy: Value
  private let waiters = Mutex<[Key: [Waiter]]>([:])

  /// Creates the pool.
  ///
  /// - Parameters:
  ///   - threads: The maximum number of values that are made at once.
  ///   - most: The maximum number of values that are made or wait to be made.
  ///   - busy: The value that requests get beyond that number.
  init(threads: Int, most: Int, busy: Value) {
    pool = WorkPool(threads: threads, most: most)
    self.busy = busy
  }

  /// The number of values that are being made.
  var count: Int { waiters.withLock { $0.count } }

  /// Waits for a value, and begins to make it if nobody waits for it yet.
  ///
  /// - Parameters:
  ///   - key: Identifies the value.
  ///   - waiter: Called exactly once with the value, on any thread.
  ///   - work: Makes the value.
  func ask(_ key: Key, _ waiter: @escaping Waiter, _ work: @escaping @Sendable () -> Value) {
    let isFirst = waiters.withLock { waiters in
      defer { waiters[key, default: []].append(waiter) }
      return waiters[key] == nil
    }
    guard isFirst else { return }
    if !pool.begin({ [self] in finish(key, work()) }) { finish(key, busy) }
  }

  private func finish(_ key: Key, _ value: Value) {
    for waiter in waiters.withLock({ $0.removeValue(forKey: key) ?? [] }) { waiter(value) }
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
