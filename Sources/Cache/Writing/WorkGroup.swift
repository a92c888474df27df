import Dispatch
import Synchronization

/// A `DispatchGroup` that checks its use: each `enter` has exactly one `leave`, and nothing enters after ``join()``.
///
/// A violation ends the process, in release builds too. Without the check, a missing leave would block a run forever.
/// A surplus leave would let the run end before its work, and the report of the run would lack the results of the late
/// work. The check takes two atomic operations for each piece of work.
package final class WorkGroup: Sendable {
  private let group = DispatchGroup()
  /// The number of pieces of work that have entered and not left.
  ///
  /// It is `closed` when nothing is allowed to enter any more.
  private let count = Atomic<Int>(0)
  /// The count of a closed group.
  ///
  /// It is so low that surplus leaves cannot bring the count of an open group there.
  private static let closed = Int.min / 2

  /// Makes an open, empty group.
  package init() {}

  deinit {
    let left = count.load(ordering: .relaxed)
    precondition(left == 0 || left == Self.closed, "\(left) of a group have entered and not left")
  }

  /// Records that one piece of work begins.
  package func enter() {
    precondition(
      count.add(1, ordering: .relaxed).oldValue >= 0,
      "work enters a group that was joined"
    )
    group.enter()
  }

  /// Records that one piece of work has ended.
  ///
  /// The last one wakes the waiting threads.
  package func leave() {
    precondition(
      count.subtract(1, ordering: .relaxed).oldValue > 0,
      "a group is left more often than entered"
    )
    group.leave()
  }

  /// Waits until all work has left, and closes the group.
  ///
  /// While this function waits, only work that has not left yet is allowed to enter further work.
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
    // Keep this object, and thus the count, alive until `body` is called.
    group.notify(queue: queue) { [self] in withExtendedLifetime(self, body) }
  }
}
