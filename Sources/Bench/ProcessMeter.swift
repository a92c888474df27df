import Glibc
import Transport

/// What this process used: processor time and memory, as Linux counts them.
struct ProcessMeter: Sendable {
  private let began: Double

  /// Starts: the peak of memory counts from here.
  ///
  /// What the process holds already stays in it. (proc(5), `clear_refs`)
  init() {
    began = Self.cpuSeconds
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = write(file, "5", 1)
      close(file)
    }
  }

  /// Processor time of all threads since the start, in seconds.
  var cpuSeconds: Double { Self.cpuSeconds - began }

  /// The most memory that was resident at once, in bytes; 0 when the system does not tell.
  var peakBytes: ByteCount {
    var buffer = [UInt8](repeating: 0, count: 8192)
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    let count = read(file, &buffer, buffer.count)
    close(file)
    return Self.peakBytes(status: String(decoding: buffer.prefix(max(0, count)), as: UTF8.self))
  }

  /// Reads the peak from the text of `/proc/self/status`.
  static func peakBytes(status: String) -> ByteCount {
    for line in status.split(separator: "\n") where line.hasPrefix("VmHWM:") {
      let number = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first
      return number.flatMap { Int64($0) }.map { ByteCount($0 << 10) } ?? 0
    }
    return 0
  }

  private static var cpuSeconds: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let user = Double(usage.ru_utime.tv_sec) + Double(usage.ru_utime.tv_usec) / 1e6
    return user + Double(usage.ru_stime.tv_sec) + Double(usage.ru_stime.tv_usec) / 1e6
  }
}
