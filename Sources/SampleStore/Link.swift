import Glibc
import Synchronization

/// The line that all answers of a store share: bodies pass one after the other, each byte at its time.
final class Link: Sendable {
  /// A body passes in pieces of this many bytes, in turn with those of other answers.
  static let piece = 16 << 10

  private let bytesPerSecond: Double
  /// When what was reserved so far will have passed, in seconds of the monotonic clock.
  private let free = Mutex(0.0)

  init(bytesPerSecond: Double) {
    self.bytesPerSecond = max(1, bytesPerSecond)
  }

  /// Takes the next place on the line; tells in how many seconds the bytes will have passed.
  func reserve(_ bytes: Int) -> Double {
    reserve(bytes, at: Self.now())
  }

  /// The same at a moment that the caller names.
  func reserve(_ bytes: Int, at now: Double) -> Double {
    free.withLock { free in
      free = max(free, now) + Double(bytes) / bytesPerSecond
      return free - now
    }
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
  }
}
