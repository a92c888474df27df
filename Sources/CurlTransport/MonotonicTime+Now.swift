import Glibc
import Transport

extension MonotonicTime {
  /// The present moment, as deadlines in ``TransportOptions`` mean it.
  public static func now() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}
