import Dispatch
import Synchronization

/// A `DispatchGroup` that checks its use: each `enter` has one `leave`, and nothing enters after ``join()``.
///
/// A violation ends the process, in release builds too. A missing leave would block a run forever. A surplus leave
/// would let the run end before its work, and the result of a late entry would be missing from the run's report. The
/// check costs two atomic operations for each piece of work.
package final class WorkGroup: Sendable {
  private let group = DispatchGroup()
  /// The number of pieces of work that have entered and not left; `closed` once nothing may enter.
  private let count = Atomic<Int>(0)
  /// The count of a closed group: lower than any count that surplus leaves could cause.
  private static let closed = Int.min / 2

  /// Makes an open, empty group.
  package init() {}

  deinit {
    let left = count.load(ordering: .relaxed)
    precondition(left == 0 || left == Self.closed, "\(left) of a group have entered and not left")
  }

  /// Begins one piece of work.
  package func enter() {
    precondition(
      count.add(1, ordering: .relaxed).oldValue >= 0,
      "work enters a group that was joined"
    )
    group.enter()
  }

  /// Ends one piece of work; the last one wakes the waiting threads.
  package func leave() {
    precondition(
      count.subtract(1, ordering: .relaxed).oldValue > 0,
      "a group is left more often than entered"
    )
    group.leave()
  }

  /// Waits until all work has left, and closes the group.
  ///
  /// While it waits, only work that has not left yet may enter more work.
  package func join() {
    group.wait()
    let (isEmpty, found) = count.compareExchange(
      expected: 0,
      desired: Self.closed,
      ordering: .relaxed
    )
    precondition(isEmpty || found == Self.closed, "work enters a group while it is joined")
  }

  /// Calls `body` on a queue once all work has left.
  package func notify(queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    // Keeps the object, and thus its count, alive until `body` is called.
    group.notify(queue: queue) { [self] in withExtendedLifetime(self, body) }
  }
}
