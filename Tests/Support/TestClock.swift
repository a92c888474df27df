import Base
import Synchronization

/// A wall clock that only a test moves.
package final class TestClock: Sendable {
  private let seconds: Mutex<Int64>

  /// A clock set to this time.
  package init(_ seconds: Int64 = 1_700_000_000) {
    self.seconds = Mutex(seconds)
  }

  /// The current time.
  package var now: UnixTime { UnixTime(seconds.withLock { $0 }) }

  /// Moves the clock forwards or backwards.
  package func advance(_ delta: Int64) {
    seconds.withLock { $0 += delta }
  }
}
