import Base
import Glibc

/// The measurements of one run of a pass.
struct RunRecord: Sendable {
  let pass: Pass
  /// The number of pictures that were complete at the end of the run.
  let images: Int
  /// The number of failed requests for each reason, such as `timeout-idle`.
  let failures: [String: Int]
  /// The number of requests for sections and details.
  let others: Int
  /// The requests for pictures.
  ///
  /// A ``RowBuilder`` removes them, because those of all runs would soon need more memory than everything else.
  var samples: [RequestSample]
  /// The number of body bytes that were received.
  let bytes: ByteCount
  /// The duration in seconds, including the requests for sections and the report.
  let seconds: Double
  let cpuSeconds: Double
  let peakBytes: ByteCount

  /// Creates the record of a run that ends now.
  init(
    _ pass: Pass,
    _ result: (images: Int, failures: [String: Int]),
    _ transport: MeasuringTransport,
    _ meter: ProcessMeter
  ) {
    seconds = Double(MonotonicTime.now() - meter.began) / 1e9
    (cpuSeconds, peakBytes) = (meter.cpuSeconds, meter.peakBytes)
    self.pass = pass
    (images, failures) = (max(0, result.images), result.failures)
    (others, samples) = (transport.others, transport.samples)
    bytes = samples.reduce(.zero) { $0 + $1.bytes }
  }

  var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
}

/// Measures the time of a run, and this process's processor time and highest memory use, as Linux counts them.
struct ProcessMeter: Sendable {
  let began: MonotonicTime
  private let cpuBefore: Int64

  /// Starts the measurement, and resets the highest memory use to the present use. (proc(5), `clear_refs`)
  init() {
    cpuBefore = Self.cpuNanoseconds
    let file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
    if file >= 0 {
      _ = write(file, "5", 1)
      close(file)
    }
    began = .now()
  }

  /// The processor time of all threads since the start, in seconds.
  var cpuSeconds: Double { Double(Self.cpuNanoseconds - cpuBefore) / 1e9 }

  /// The highest resident memory; 0 if the system does not report it.
  var peakBytes: ByteCount {
    let file = open("/proc/self/status", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return 0 }
    defer { close(file) }
    let bytes = (try? Files.bytes(of: file, 8192)) ?? []
    return Self.peakBytes(status: String(decoding: bytes, as: UTF8.self))
  }

  /// Parses the highest resident memory from the text of `/proc/self/status`, where it is named `VmHWM`.
  static func peakBytes(status: String) -> ByteCount {
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
    return ByteCount((kibibytes.flatMap { Int64($0) } ?? 0) << 10)
  }

  private static var cpuNanoseconds: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
