import Transport

/// One run as it was measured.
struct RunRecord: Sendable {
  let pass: Pass
  let parallel: Int
  /// From start to end, sections and reports included.
  var seconds: Double
  /// When it started, by the samples' clock.
  var began: MonotonicTime
  /// Pictures that are as they should be now.
  var images: Int
  /// Failures by their reason.
  var failures: [String: Int]
  /// Requests for sections and details.
  var others: Int
  var samples: [RequestSample]
  var cpuSeconds: Double
  var peakBytes: ByteCount

  var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
  var bytes: ByteCount { samples.reduce(.zero) { $0 + $1.bytes } }
}
