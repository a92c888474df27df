import Synchronization
import Transport

/// How far a sync is, to be looked at from any thread while it runs.
package final class SyncProgress: Sendable {
  /// So many of so many.
  package struct Count: Sendable, Equatable {
    /// How many are done, failed ones included.
    package var done = 0
    /// How many there are, as far as is known yet.
    package var total = 0

    /// Whether nothing is left of what is known.
    package var isComplete: Bool { done == total }
  }

  /// One moment's state.
  package struct Snapshot: Sendable, Equatable {
    /// Section pages.
    package var sections = Count()
    /// Details.
    package var details = Count()
    /// Unique pictures.
    package var pictures = Count()
    /// Picture bytes received and kept.
    package var bytes: ByteCount = 0
    /// How many of all failed.
    package var failed = 0
  }

  private let state = Mutex(Snapshot())

  /// Nothing done of nothing.
  package init() {}

  /// How things stand now.
  package var snapshot: Snapshot { state.withLock { $0 } }

  func update(_ body: (inout Snapshot) -> Void) {
    state.withLock { body(&$0) }
  }
}
