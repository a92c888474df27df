import Dispatch
import Synchronization

/// A queue of jobs with a limit on those under way.
///
/// Keeps waiting jobs small (no requests with headers and buffers) and starts jobs in batches, so
/// that one look-up serves many jobs. Jobs start in the order they came, or in an order of their
/// own among those that wait.
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

  /// A line that starts jobs on `queue`, at most `limit` under way; each ends with ``leave()``.
  ///
  /// - Parameters:
  ///   - limit: how many are under way at most.
  ///   - queue: where jobs are started.
  ///   - isOpen: whether jobs start at once; else they gather until ``open()``.
  ///   - order: which of two that wait goes first; without it, the one that came first.
  ///   - start: starts a batch.
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
    let wakes = state.withLock { state in
      state.waiting.append(contentsOf: jobs)
      state.isSorted = false
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }

  /// Lets the gathered jobs start.
  func open() {
    let wakes = state.withLock { state in
      state.isOpen = true
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }

  /// Reports that a number of jobs have ended.
  func leave(_ count: Int = 1) {
    let wakes = state.withLock { state in
      state.underWay -= count
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }

  /// Whether a batch is due: there is work, no thread is starting any, and half the room is free.
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
      // Started jobs are dropped from the array once they are as many as the waiting ones: seldom, and soon
      // enough.
      if state.next >= state.waiting.count - state.next {
        state.waiting = Array(state.waiting[state.next...])
        state.next = 0
      }
      return batch
    }
    start(batch)
    let wakes = state.withLock { state in
      state.isStarting = false
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }
}
