import Base
import Transport

/// The measurements of one run of a pass.
struct RunRecord: Sendable {
  let pass: Pass
  /// The number of pictures that were complete at the end of the run.
  let images: Int
  /// The number of failed requests for each reason, such as `timeout-idle`.
  let failures: [String: Int]
  /// The results of the requests for pictures.
  ///
  /// A ``RowBuilder`` removes them, because those of all runs would soon need more memory than everything else.
  var results: [Result<Response, TransferFailure>]
  /// The number of body bytes that were received.
  let bytes: ByteCount
  /// The duration in seconds, including the requests for sections and the report.
  let seconds: Double

  /// Creates the record of a run that ends now.
  init(
    _ pass: Pass,
    _ result: (images: Int, failures: [String: Int]),
    _ transport: MeasuringTransport,
    since began: MonotonicTime
  ) {
    seconds = Double(MonotonicTime.now() - began) / 1e9
    self.pass = pass
    (images, failures) = (max(0, result.images), result.failures)
    results = transport.results
    bytes = results.reduce(.zero) { $0 + ((try? $1.get())?.bodyBytes ?? .zero) }
  }

  var imagesPerSecond: Double { seconds > 0 ? Double(images) / seconds : 0 }
}
