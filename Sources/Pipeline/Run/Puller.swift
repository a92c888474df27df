import Dispatch
import Synchronization

/// Limits the number of jobs of each host that are in progress.
///
/// The caller keeps the waiting jobs, and takes them in batches. Pictures and details wait in the index, where they take
/// no memory, and sections wait in their stage. A host that does not answer holds only its own places.
final class Puller: Sendable {
  private struct Line {
    var waiting = 0
    var underWay = 0
    var isStarting = false
  }

  private struct Lines {
    var isOpen: Bool
    var hosts: [String: Line] = [:]
    var start: (@Sendable (_ host: String, _ count: Int) -> Void)?
  }

  private let state: Mutex<Lines>
  private let limit: Int
  private let queue: DispatchQueue

  /// Makes a puller.
  ///
  /// Call ``whenFree(_:)`` before you add jobs, and ``leave(_:)`` at the end of each job.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of jobs of a host that are in progress.
  ///   - queue: The Dispatch queue that starts jobs.
  ///   - isOpen: Whether jobs start as soon as they are added. If false, they wait until ``open()`` is called.
  init(limit: Int, queue: DispatchQueue, isOpen: Bool) {
    (self.limit, self.queue) = (limit, queue)
    state = Mutex(Lines(isOpen: isOpen))
  }

  /// Sets the function that takes the next jobs of a host, and starts them.
  func whenFree(_ start: @escaping @Sendable (_ host: String, _ count: Int) -> Void) {
    state.withLock { $0.start = start }
  }

  /// Adds jobs, which wait in the index.
  func add(_ counts: [String: Int]) {
    for (host, count) in counts { update(host) { $0.waiting += count } }
  }

  /// Lets jobs start, including the waiting ones.
  func open() {
    let hosts = state.withLock { state in
      state.isOpen = true
      return Array(state.hosts.keys)
    }
    for host in hosts { update(host) { _ in } }
  }

  /// Records that jobs have ended.
  func leave(_ host: String, _ count: Int = 1) { update(host) { $0.underWay -= count } }

  /// Changes the state of a host, then starts its next jobs if at most half of its places are taken.
  private func update(_ host: String, _ change: (inout Line) -> Void) {
    let (count, start) = state.withLock { state in
      var line = state.hosts[host] ?? Line()
      change(&line)
      defer { state.hosts[host] = line }
      guard state.isOpen, line.waiting > 0, !line.isStarting, line.underWay <= limit / 2 else {
        return (0, state.start)
      }
      let count = min(line.waiting, limit - line.underWay)
      line.isStarting = true
      line.waiting -= count
      line.underWay += count
      return (count, state.start)
    }
    guard count > 0 else { return }
    queue.async { [self] in
      start?(host, count)
      update(host) { $0.isStarting = false }
    }
  }
}
