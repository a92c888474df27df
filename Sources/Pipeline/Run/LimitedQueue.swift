import Dispatch
import Synchronization

/// A job queue with limited concurrency; used for sections, details and pictures.
///
/// Waiting jobs are small, without requests or buffers. Jobs start in batches, so that one look-up in the index
/// serves many of them. They start in the order in which they were added, or by priority.
final class LimitedQueue<Job: Sendable>: Sendable {
  private struct Jobs {
    var waiting: [Job] = []
    var next = 0
    var underWay = 0
    var isStarting = false
    var isOpen: Bool
    var isSorted = true
  }

  private let state: Mutex<Jobs>
  private let limit: Int
  private let queue: DispatchQueue
  private let order: (@Sendable (Job, Job) -> Bool)?
  private let start: @Sendable ([Job]) -> Void

  /// Makes a queue; report the end of each job with ``leave(_:)``.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of jobs in progress.
  ///   - queue: The Dispatch queue that starts jobs.
  ///   - isOpen: Whether jobs start at once; otherwise they wait for ``open()``.
  ///   - order: Whether its first job starts before its second; nil for the order in which they were added.
  ///   - start: Starts a batch of jobs.
  init(
    limit: Int,
    queue: DispatchQueue,
    isOpen: Bool = true,
    order: (@Sendable (Job, Job) -> Bool)? = nil,
    start: @escaping @Sendable ([Job]) -> Void
  ) {
    self.limit = limit
    self.queue = queue
    self.order = order
    self.start = start
    state = Mutex(Jobs(isOpen: isOpen))
  }

  /// Appends jobs.
  func add(_ jobs: [Job]) {
    update { state in
      state.waiting.append(contentsOf: jobs)
      state.isSorted = false
    }
  }

  /// Starts the waiting jobs.
  func open() {
    update { $0.isOpen = true }
  }

  /// Reports that a number of jobs have ended.
  func leave(_ count: Int = 1) {
    update { $0.underWay -= count }
  }

  /// Changes the state, then starts a batch if one is due.
  private func update(_ change: (inout Jobs) -> Void) {
    let isDue = state.withLock { state in
      change(&state)
      return mustStart(&state)
    }
    if isDue { queue.async { self.startSome() } }
  }

  /// Whether a batch is due: jobs are waiting, no other thread is starting a batch, and at most half of the limit is in
  /// use.
  private func mustStart(_ state: inout Jobs) -> Bool {
    guard state.isOpen, state.next < state.waiting.count, !state.isStarting,
      state.underWay <= limit / 2
    else { return false }
    state.isStarting = true
    return true
  }

  private func startSome() {
    let batch = state.withLock { state in
      if let order, !state.isSorted {
        state.waiting.removeFirst(state.next)
        state.next = 0
        state.waiting.sort(by: order)
      }
      state.isSorted = true
      let end = min(state.waiting.count, state.next + limit - state.underWay)
      let batch = Array(state.waiting[state.next..<end])
      state.underWay += batch.count
      state.next = end
      // Remove started jobs from the array once they are at least half of it, so that the cost of moving the rest is
      // amortized.
      if state.next >= state.waiting.count - state.next {
        state.waiting = Array(state.waiting[state.next...])
        state.next = 0
      }
      return batch
    }
    start(batch)
    update { $0.isStarting = false }
  }
}
