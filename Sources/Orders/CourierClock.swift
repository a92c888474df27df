import Dispatch
import Glibc
import Synchronization

/// The clock that a courier goes by, and how it waits.
package protocol CourierClock: Sendable {
  /// The present moment by the wall clock: what is agreed with other runs and machines.
  func now() -> OrderTime

  /// Blocks until that moment, or until ``Courier/stop()`` is called.
  func wait(until moment: OrderTime)

  /// Ends a wait, present or future.
  func stop()
}

/// The machine's clock.
package final class SystemCourierClock: CourierClock {
  private let stopped = DispatchSemaphore(value: 0)

  /// Makes a clock for one courier.
  package init() {}

  /// The present moment by the wall clock, which may be wrong and may jump.
  package func now() -> OrderTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return OrderTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
  }

  /// Sleeps; see ``CourierClock``.
  package func wait(until moment: OrderTime) {
    let left = min(max(moment - now(), 0), 86_400_000)
    if stopped.wait(timeout: .now() + .milliseconds(Int(left))) == .success { stopped.signal() }
  }

  /// Ends every wait from now on.
  package func stop() { stopped.signal() }
}
