import Base
import Catalog
import FoundationEssentials
import Pipeline

/// The results of a measurement, encoded with exactly the keys of `bench --json`.
///
/// `bench --baseline` reads reports in the same form.
package struct BenchReport: Sendable, Equatable, Codable {
  /// The results of one pass at one number of simultaneous transfers.
  package struct Row: Sendable, Equatable, Codable {
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The pass.
    package var pass: Pass
    /// The number of runs.
    ///
    /// The values below cover all runs, unless their comments say otherwise.
    package var repetitions = 0
    /// The number of pictures that were complete after the median run.
    package var images = 0
    /// The body bytes of the median run.
    package var bytes: ByteCount = 0
    /// The duration of the median run, including sections and report.
    package var seconds = 0.0
    /// The median of the runs' rates.
    package var imagesPerSecond = 0.0
    /// The median run's body bytes per second.
    package var bytesPerSecond = 0.0
    /// Each run's rate, in order.
    package var rates: [Double] = []
    /// The 95 % confidence interval of the rates' geometric mean.
    package var confidence = Confidence()
    /// The time to the first byte.
    package var ttfbMilliseconds = Quantiles.none
    /// The time to the last byte.
    ///
    /// At a constant rate it counts from the planned start, otherwise from the start of the attempt.
    package var totalMilliseconds = Quantiles.none
    /// At a constant rate, the time from the start of an attempt to its end; otherwise empty.
    package var serviceMilliseconds = Quantiles.none
    /// The time to resolve the host name.
    ///
    /// This and the next two values cover only requests that opened a connection.
    package var dnsMilliseconds = Quantiles.none
    /// The time to connect.
    package var connectMilliseconds = Quantiles.none
    /// The time of the TLS handshake.
    package var tlsMilliseconds = Quantiles.none
    /// The time from the request to the first byte.
    package var waitMilliseconds = Quantiles.none
    /// The time from the first byte to the last.
    package var transferMilliseconds = Quantiles.none
    /// Each run's median of the total time, in order; nil in reports of earlier versions.
    package var p50OfRuns: [Double]? = []
    /// Each run's 99th percentile of the total time, in order.
    package var p99OfRuns: [Double] = []
    /// The number of finished requests for pictures, successful or not.
    package var requests = 0
    /// How many requests for pictures were answered with 304.
    package var notModified = 0
    /// The number of requests for sections and details.
    package var otherRequests = 0
    /// The number of requests on reused connections and on new ones.
    package var connections = Connections()
    /// The number of requests for each protocol.
    package var protocols: [String: Int] = [:]
    /// The number of attempts after the first attempts of requests.
    package var retries = 0
    /// The number of failed requests.
    package var failures = 0
    /// The number of failures for each reason.
    package var failureReasons: [String: Int] = [:]
    /// The number of requests for each status of their last answer; nil in reports of earlier versions.
    package var statuses: [String: Int]? = [:]
    /// The ten slowest URLs, the slowest first; nil in reports of earlier versions.
    package var slowest: [SlowURL]? = []
    /// The share of the median run in which transfers waited for larder's own files, hashes and index.
    ///
    /// It is 0 when the bytes are discarded, and nil in reports of earlier versions.
    package var writingShare: Double? = 0
    /// The median of the processor times of the runs.
    package var cpuSeconds = 0.0
    /// The highest memory use in any run.
    package var peakBytes: ByteCount = 0
    /// The distribution of the total time.
    package var spectrum: [SpectrumPoint] = []
    /// The progress of the median run over time.
    package var timeline = Timeline()

    /// Makes an empty row.
    package init(parallel: Int, pass: Pass) {
      self.parallel = parallel
      self.pass = pass
    }
  }

  /// A URL with its slowest request.
  package struct SlowURL: Sendable, Equatable, Codable {
    /// The URL, without secrets.
    package var url: String
    /// The duration of the URL's slowest request, measured like the row's total time.
    package var milliseconds: Double
  }

  /// The confidence interval of a rate.
  package struct Confidence: Sendable, Equatable, Codable {
    /// The lower bound.
    ///
    /// All values are nil if there was only one run.
    @OrNull package var low: Double? = nil
    /// The upper bound.
    @OrNull package var high: Double? = nil
    /// Half of the interval's width, relative to its middle: 0.05 for ±5 %.
    @OrNull package var halfWidth: Double? = nil
  }

  /// The numbers of requests on new and on reused connections.
  package struct Connections: Sendable, Equatable, Codable {
    /// Requests that opened a connection, or waited until one was open.
    package var opened = 0
    /// Requests that used a connection that was already open.
    package var reused = 0
  }

  /// How many pictures were finished over the time of a run, in intervals of equal length.
  package struct Timeline: Sendable, Equatable, Codable {
    /// The length of an interval in seconds.
    package var intervalSeconds = 0.0
    /// The number of pictures finished in each interval.
    package var images: [Int] = []
    /// The number of bytes of the pictures finished in each interval.
    package var bytes: [ByteCount] = []
  }

  /// The fastest row.
  package struct Best: Sendable, Equatable, Codable {
    /// The number of simultaneous transfers.
    package var parallel: Int
    /// The pass.
    package var pass: Pass
    /// The row's rate.
    package var imagesPerSecond: Double
    /// The row's body bytes per second.
    package var bytesPerSecond: Double
  }

  /// The rows, ordered by number of transfers and then by pass.
  package var runs: [Row] = []
  /// The fastest row of the first pass; nil when nothing was fetched.
  @OrNull package var best: Best? = nil
  /// `closed` if a request starts whenever another one ends, `open` if requests start at a constant rate.
  package var loop = "closed"
  /// A sentence that explains the latencies.
  package var latency = ""
  /// The constant rate in requests per second; nil in a closed loop.
  @OrNull package var rate: Double? = nil
  /// The destination of the received bytes.
  package var sink = Sink.cache
  /// The comparison with an earlier report.
  @OrNull package var baseline: BaselineComparison? = nil
  /// Whether a signal ended the measurement early.
  package var interrupted = false

  /// Makes an empty report.
  package init() {}

  /// Reads a report that `bench --json` has printed, for `bench --baseline`.
  ///
  /// - Throws: ``LarderError`` when the bytes are not such a report.
  package init(json bytes: [UInt8], name: String) throws(LarderError) {
    do {
      self = try JSONDecoder().decode(BenchReport.self, from: Data(bytes))
    } catch {
      throw LarderError(
        .data,
        "cannot read the baseline \(name): it is not a bench report",
        remedy: .newBaseline
      )
    }
  }

  /// The number of failures in all rows.
  package var failures: Int { runs.reduce(0) { $0 + $1.failures } }
}

/// The usual percentiles of a time, in milliseconds.
package struct Quantiles: Sendable, Equatable, Codable {
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

  /// The percentiles if nothing was measured.
  package static let none = Quantiles(count: 0)
}

/// One point of a latency distribution.
package struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The percentile, from 0 to 100.
  package var percentile: Double
  /// The longest time of the requests up to that percentile, in milliseconds.
  package var milliseconds: Double
}
