import Base
import Catalog
import FoundationEssentials
import Pipeline

/// The results of a measurement.
///
/// Its JSON is the document that `bench --json` prints, so the names of the properties are the keys of that document.
package struct BenchReport: Sendable, Equatable, Encodable {
  /// The results of one pass with one number of simultaneous transfers.
  package struct Row: Sendable, Equatable, Encodable {
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The pass that was measured.
    package var pass: Pass
    /// The number of runs.
    ///
    /// The values below are about all runs, unless their comments name the median run: the run whose rate is the
    /// median.
    package var repetitions = 0
    /// The number of pictures that were complete at the end of the median run.
    package var images = 0
    /// The number of body bytes that the median run received.
    package var bytes: ByteCount = 0
    /// The duration of the median run, including the requests for sections and the report.
    package var seconds = 0.0
    /// The median of all runs' rates, in pictures per second.
    package var imagesPerSecond = 0.0
    /// The number of body bytes per second in the median run.
    package var bytesPerSecond = 0.0
    /// Each run's rate in pictures per second, in the order of the runs.
    package var rates: [Double] = []
    /// The 95 % confidence interval of the geometric mean of all rates.
    package var confidence = Confidence()
    /// The time to the first byte.
    package var ttfbMilliseconds = Quantiles.none
    /// The time to the last byte.
    package var totalMilliseconds = Quantiles.none
    /// The number of finished requests for pictures, successful or not.
    package var requests = 0
    /// The numbers of requests on new connections and on reused connections.
    package var connections = Connections()
    /// The number of requests for each protocol, such as `HTTP/2`.
    package var protocols: [String: Int] = [:]
    /// The number of repeated attempts; the first attempt of a request does not count.
    package var retries = 0
    /// The number of failed requests.
    package var failures = 0
    /// The number of failed requests for each reason, such as `timeout-idle`.
    package var failureReasons: [String: Int] = [:]
    /// The number of requests for each status, such as `200`.
    ///
    /// If a request was repeated, the status of its last answer counts.
    package var statuses: [String: Int] = [:]
  }

  /// The confidence interval of a rate; all values are nil if there was only one run.
  package struct Confidence: Sendable, Equatable, Encodable {
    /// The lower bound.
    @OrNull package var low: Double? = nil
    /// The upper bound.
    @OrNull package var high: Double? = nil
    /// Half of the interval's width, relative to its middle: 0.05 means ±5 %.
    @OrNull package var halfWidth: Double? = nil
  }

  /// The numbers of requests on new and on reused connections.
  package struct Connections: Sendable, Equatable, Encodable {
    /// The number of requests that opened a connection, or waited for one that was being opened.
    package var opened = 0
    /// The number of requests on a connection that was already open.
    package var reused = 0
  }

  /// The fastest row.
  package struct Best: Sendable, Equatable, Encodable {
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The pass.
    package var pass: Pass
    /// The row's rate, in pictures per second.
    package var imagesPerSecond: Double
    /// The row's number of body bytes per second.
    package var bytesPerSecond: Double
  }

  /// The rows, ordered by the number of transfers and then by pass.
  package var runs: [Row] = []
  /// The fastest row of the first pass; nil if nothing was fetched.
  @OrNull package var best: Best? = nil
  /// A sentence that explains the latencies.
  package var latency =
    "closed loop: a request starts when another ends, so a slow answer delays later requests without showing in their "
    + "latency (coordinated omission)"
  /// Whether a signal ended the measurement early.
  package var interrupted = false

  /// The number of failures in all rows.
  package var failures: Int { runs.reduce(0) { $0 + $1.failures } }

  /// The number of failures in all rows for each reason.
  package var failureReasons: [String: Int] {
    runs.reduce(into: [:]) { $0.merge($1.failureReasons, uniquingKeysWith: +) }
  }
}

/// The percentiles of a time in milliseconds, by the nearest rank; all of them are nil if nothing was measured.
package struct Quantiles: Sendable, Equatable, Encodable {
  /// The number of measured requests.
  package var count: Int
  /// The median.
  @OrNull package var p50: Double? = nil
  /// The 90th percentile.
  @OrNull package var p90: Double? = nil
  /// The 99th percentile.
  @OrNull package var p99: Double? = nil
  /// The 99.9th percentile.
  @OrNull package var p999: Double? = nil
  /// The maximum.
  @OrNull package var max: Double? = nil

  /// The value if nothing was measured.
  package static let none = Quantiles(count: 0)
}

extension Quantiles {
  /// Takes the percentiles of times in seconds, to the microsecond.
  init(seconds times: [Double]) {
    let sorted = times.map { ($0 * 1e6).rounded() / 1000 }.sorted()
    func at(_ share: Int) -> Double? {
      sorted.isEmpty ? nil : sorted[(sorted.count * share + 999) / 1000 - 1]
    }
    self.init(
      count: sorted.count,
      p50: at(500),
      p90: at(900),
      p99: at(990),
      p999: at(999),
      max: sorted.last
    )
  }
}
