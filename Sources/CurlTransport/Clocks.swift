import Glibc
import Transport

extension MonotonicTime {
  /// The present moment, as deadlines in ``TransportOptions`` mean it.
  package static func now() -> MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }
}

extension UnixTime {
  /// The present moment by the wall clock, which may be wrong and may jump.
  package static func now() -> UnixTime { UnixTime(Int64(time(nil))) }
}
