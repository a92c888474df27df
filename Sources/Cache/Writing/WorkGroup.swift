import Dispatch
import Synchronization

/// Joins work on other threads: each `enter` has one `leave`, and after ``join()`` nothing enters any more.
///
/// Every breach of that ends the process, in every build: a missing leave would block a run forever, a surplus one
/// would let it end before its work has, and a late entry would be missing from its report. The count costs two
/// atomic operations a piece of work.
package final class WorkGroup: Sendable {
  private let group = DispatchGroup()
  /// How many have entered and not left; `closed` once nothing may enter.
  private let count = Atomic<Int>(0)
  /// Far below every count that one leave too many could bring.
  private static let closed = Int.min / 2

  /// Makes an open group that nothing has entered.
  package init() {}

  deinit {
    let left = count.load(ordering: .relaxed)
    precondition(left == 0 || left == Self.closed, "\(left) of a group have entered and not left")
  }

  /// Counts one piece of work in.
  package func enter() {
    precondition(
      count.add(1, ordering: .relaxed).oldValue >= 0,
      "work enters a group that was joined"
    )
    group.enter()
  }

  /// Counts one piece of work out; the last one wakes those who wait.
  package func leave() {
    precondition(
      count.subtract(1, ordering: .relaxed).oldValue > 0,
      "more of a group leave than have entered"
    )
    group.leave()
  }

  /// Waits until all have left, and closes the group.
  ///
  /// The caller knows that only work that has not left yet can enter more.
  package func join() {
    group.wait()
    let (isEmpty, found) = count.compareExchange(
      expected: 0,
      desired: Self.closed,
      ordering: .relaxed
    )
    precondition(isEmpty || found == Self.closed, "work enters a group while it is joined")
  }

  /// Calls `body` on a queue once all have left.
  package func notify(queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
    // The group lives until then, and with it the count.
    group.notify(queue: queue) { [self] in withExtendedLifetime(self, body) }
  }
}
