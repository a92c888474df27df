import Base
import Catalog
import FoundationEssentials
import Pipeline

/// The results of a measurement, encoded with exactly the keys of `bench --json`.
///
/// A baseline is read from the same form.
package struct BenchReport: Sendable, Equatable, Codable {
  /// The results of one pass at one number of simultaneous transfers.
  package struct Row: Sendable, Equatable, Codable {
    /// Transfers at once.
    package var parallel: Int
    /// The pass.
    package var pass: Pass
    /// The number of runs.
    ///
    /// The other values cover all of them, unless noted.
    package var repetitions = 0
    /// The pictures that were complete after the median run.
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
    /// The time to the end, from the planned start at a constant rate, else from the start of the attempt.
    package var totalMilliseconds = Quantiles.none
    /// The time from the start of the attempt to its end, at a constant rate; else empty.
    package var serviceMilliseconds = Quantiles.none
    /// The time to resolve the host name; like the next two, only for new connections.
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
    /// The finished requests for pictures, successful or not.
    package var requests = 0
    /// How many of them were answered with 304.
    package var notModified = 0
    /// The requests for sections and details.
    package var otherRequests = 0
    /// The numbers of requests on reused and on new connections.
    package var connections = Connections()
    /// The number of requests for each protocol.
    package var protocols: [String: Int] = [:]
    /// The attempts after the first.
    package var retries = 0
    /// The requests that failed.
    package var failures = 0
    /// The number of failures for each reason.
    package var failureReasons: [String: Int] = [:]
    /// The number of requests for each status of the last answer; nil in reports of earlier versions.
    package var statuses: [String: Int]? = [:]
    /// The ten slowest URLs, the slowest first; nil in reports of earlier versions.
    package var slowest: [SlowURL]? = []
    /// The share of the median run in which transfers waited for larder's own files, hashes and index.
    ///
    /// 0 when the bytes are discarded; nil in reports of earlier versions.
    package var writingShare: Double? = 0
    /// The median of the runs' processor time.
    package var cpuSeconds = 0.0
    /// The highest memory use of any run.
    package var peakBytes: ByteCount = 0
    /// The distribution of the total time.
    package var spectrum: [SpectrumPoint] = []
    /// The median run over time.
    package var timeline = Timeline()

    /// An empty row.
    package init(parallel: Int, pass: Pass) {
      self.parallel = parallel
      self.pass = pass
    }
  }

  /// A URL with its slowest request.
  package struct SlowURL: Sendable, Equatable, Codable {
    /// The URL, without secrets.
    package var url: String
    /// The duration of its slowest request, measured like the row's total time.
    package var milliseconds: Double
  }

  /// The confidence interval of a rate.
  package struct Confidence: Sendable, Equatable, Codable {
    /// The lower bound.
    ///
    /// All values are nil after a single run.
    @OrNull package var low: Double? = nil
    /// The upper bound.
    @OrNull package var high: Double? = nil
    /// Half of the interval's width, relative to its middle: 0.05 for ±5 %.
    @OrNull package var halfWidth: Double? = nil
  }

  /// The numbers of requests on new and on reused connections.
  package struct Connections: Sendable, Equatable, Codable {
    /// Requests that opened a connection, or waited for one to open.
    package var opened = 0
    /// Requests that found an open connection.
    package var reused = 0
  }

  /// Completions over a run, in intervals of equal length.
  package struct Timeline: Sendable, Equatable, Codable {
    /// The length of an interval.
    package var intervalSeconds = 0.0
    /// The pictures that were finished in each interval.
    package var images: [Int] = []
    /// The bytes of those pictures.
    package var bytes: [ByteCount] = []
  }

  /// The fastest row.
  package struct Best: Sendable, Equatable, Codable {
    /// Transfers at once.
    package var parallel: Int
    /// The pass.
    package var pass: Pass
    /// Its rate.
    package var imagesPerSecond: Double
    /// Its bytes per second.
    package var bytesPerSecond: Double
  }

  /// The rows, by parallelism and then by pass.
  package var runs: [Row] = []
  /// The fastest row of the first pass; nil when nothing was fetched.
  @OrNull package var best: Best? = nil
  /// `closed` when a request starts as another ends, `open` at a constant rate.
  package var loop = "closed"
  /// A sentence that explains the latencies.
  package var latency = ""
  /// The constant rate in requests per second; nil without one.
  @OrNull package var rate: Double? = nil
  /// The destination of the bytes.
  package var sink = Sink.cache
  /// The comparison with an earlier report.
  @OrNull package var baseline: BaselineComparison? = nil
  /// Whether a signal ended it early.
  package var interrupted = false

  /// An empty report.
  package init() {}

  /// Reads a report that ``json()`` wrote.
  ///
  /// - Throws: ``LarderError`` when the bytes are not such a report.
  package init(json bytes: [UInt8], name: String) throws(LarderError) {
    do {
      self = try Self.decoded(bytes)
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

extension BenchReport {
  /// The report as one line of JSON, with every key.
  package func json() throws -> [UInt8] { try jsonLine() }

  static func decoded(_ bytes: [UInt8]) throws -> BenchReport {
    try JSONDecoder().decode(BenchReport.self, from: Data(bytes))
  }
}

/// The usual percentiles of a time, in milliseconds.
package struct Quantiles: Sendable, Equatable, Codable {
  /// The number of requests.
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

  /// The percentiles of no requests.
  package static let none = Quantiles(count: 0)
}

/// One point of a latency spectrum.
package struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The percentile.
  package var percentile: Double
  /// The highest time up to that percentile.
  package var milliseconds: Double
}
