import Dispatch
import Synchronization

/// A queue that limits the number of jobs in progress.
///
/// Sections and details each wait in such queues until they are requested. Pictures wait in the index; see ``Puller``.
///
/// A waiting job is small, because it has no request or buffer yet. Jobs start in batches, so that one look-up in the
/// index serves many of them. They start in the order in which they were added, or in an order of priority.
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

  /// Makes a queue.
  ///
  /// Call ``leave(_:)`` at the end of each job.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of jobs in progress.
  ///   - queue: The Dispatch queue that starts jobs.
  ///   - isOpen: Whether jobs start as soon as they are added. If false, they wait until ``open()`` is called.
  ///   - order: Returns whether its first argument starts before its second. Pass nil to start jobs in the order in
  ///     which they were added.
  ///   - start: Called with each batch of jobs to start.
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

  /// Adds jobs at the end of the queue.
  func add(_ jobs: [Job]) {
    update { state in
      state.waiting.append(contentsOf: jobs)
      state.isSorted = false
    }
  }

  /// Lets jobs start, including the waiting ones.
  func open() {
    update { $0.isOpen = true }
  }

  /// Records that jobs have ended.
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

  /// Whether to start a batch now.
  ///
  /// This is so if jobs are waiting, no other thread is starting a batch, and at most half of the allowed number of
  /// jobs are in progress.
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
      // Remove the started jobs from the array only when they are at least half of it. Then each job is moved about
      // once.
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
