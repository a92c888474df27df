import Dispatch
import Synchronization

/// A line of jobs of which at most so many are under way at once.
///
/// Keeps what waits small (a job, not a request with its headers and buffers) and starts jobs in
/// batches, so that whoever starts them can look things up for many at a time. Order is kept.
final class WorkLine<Job: Sendable>: Sendable {
  private struct State {
    var waiting: [Job] = []
    var next = 0
    var underWay = 0
    var isStarting = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let queue: DispatchQueue
  private let start: @Sendable ([Job]) -> Void

  /// A line that starts jobs on `queue`, at most `limit` under way; each ends with ``leave()``.
  init(limit: Int, queue: DispatchQueue, start: @escaping @Sendable ([Job]) -> Void) {
    self.limit = limit
    self.queue = queue
    self.start = start
  }

  /// Appends jobs.
  func add(_ jobs: [Job]) {
    let wakes = state.withLock { state in
      state.waiting.append(contentsOf: jobs)
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }

  /// Says that one job has ended.
  func leave() {
    let wakes = state.withLock { state in
      state.underWay -= 1
      return mustStart(&state)
    }
    if wakes { queue.async { self.startSome() } }
  }

  /// Whether a batch is due: there is work, nobody is starting any, and half the room is free.
  private func mustStart(_ state: inout State) -> Bool {
    guard state.next < state.waiting.count, !state.isStarting, state.underWay <= limit / 2 else {
      return false
    }
    state.isStarting = true
    return true
  }

  private func startSome() {
    let batch = state.withLock { state in
      let end = min(state.waiting.count, state.next + limit - state.underWay)
      let batch = Array(state.waiting[state.next..<end])
      state.underWay += batch.count
      state.next = end
      if state.next == state.waiting.count {
        state.waiting = []
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
