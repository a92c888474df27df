import Base
import Catalog
import FoundationEssentials
import Pipeline

/// The results, key for key as `bench --json` prints them; a baseline is read from the same form.
package struct BenchReport: Sendable, Equatable, Codable {
  /// One pass at one number of transfers at once.
  package struct Row: Sendable, Equatable, Codable {
    /// Transfers at once.
    package var parallel: Int
    /// Which pass.
    package var pass: Pass
    /// The number of runs; the other values are over all of them unless noted.
    package var repetitions = 0
    /// Pictures that were as they should be after the median run.
    package var images = 0
    /// Body bytes of the median run.
    package var bytes: ByteCount = 0
    /// How long the median run took, sections and report included.
    package var seconds = 0.0
    /// The median of the runs' rates.
    package var imagesPerSecond = 0.0
    /// The median run's body bytes a second.
    package var bytesPerSecond = 0.0
    /// Each run's rate, in order.
    package var rates: [Double] = []
    /// The 95 % confidence interval of the rates' geometric mean.
    package var confidence = Confidence()
    /// Until the first byte.
    package var ttfbMilliseconds = Quantiles.none
    /// Until the end; from the planned start under a rate, else from the attempt's own.
    package var totalMilliseconds = Quantiles.none
    /// Until the end from the attempt's own start, under a rate; else nothing.
    package var serviceMilliseconds = Quantiles.none
    /// Until the name was an address; of new connections only, as the next two.
    package var dnsMilliseconds = Quantiles.none
    /// Until the connection was open.
    package var connectMilliseconds = Quantiles.none
    /// Until TLS was agreed on.
    package var tlsMilliseconds = Quantiles.none
    /// From the request to the first byte.
    package var waitMilliseconds = Quantiles.none
    /// From the first byte to the last.
    package var transferMilliseconds = Quantiles.none
    /// Each run's median of the total, in order; reports of earlier versions have none.
    package var p50OfRuns: [Double]? = []
    /// Each run's 99th percentile of the total, in order.
    package var p99OfRuns: [Double] = []
    /// Requests for pictures that ended, well or not.
    package var requests = 0
    /// How many of them the origin answered with 304.
    package var notModified = 0
    /// Requests for sections and details.
    package var otherRequests = 0
    /// How many requests found an open connection, and how many did not.
    package var connections = Connections()
    /// Requests by protocol.
    package var protocols: [String: Int] = [:]
    /// Attempts beyond the first.
    package var retries = 0
    /// The requests that failed.
    package var failures = 0
    /// Failures by their reason.
    package var failureReasons: [String: Int] = [:]
    /// Requests by the status of their last answer; reports of earlier versions have none.
    package var statuses: [String: Int]? = [:]
    /// The ten slowest URLs, the slowest first; reports of earlier versions have none.
    package var slowest: [SlowURL]? = []
    /// The share of the median run in which transfers waited for larder's own files, hashes and index.
    ///
    /// 0 when the bytes are thrown away; reports of earlier versions have none.
    package var writingShare: Double? = 0
    /// The median of the runs' processor time.
    package var cpuSeconds = 0.0
    /// The most memory in any run.
    package var peakBytes: ByteCount = 0
    /// The distribution of the total.
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
    /// How long its slowest request took, as the row's total counts.
    package var milliseconds: Double
  }

  /// How sure a rate is.
  package struct Confidence: Sendable, Equatable, Codable {
    /// The interval's lower bound; nil, as the others, after a single run.
    @OrNull package var low: Double? = nil
    /// The interval's upper bound.
    @OrNull package var high: Double? = nil
    /// Half of it beside its middle.
    @OrNull package var halfWidth: Double? = nil
  }

  /// How requests found their connections.
  package struct Connections: Sendable, Equatable, Codable {
    /// Had to open one, or waited for one to open.
    package var opened = 0
    /// Found one.
    package var reused = 0
  }

  /// Completions over a run, in intervals of equal length.
  package struct Timeline: Sendable, Equatable, Codable {
    /// How long an interval is.
    package var intervalSeconds = 0.0
    /// Pictures that ended in each.
    package var images: [Int] = []
    /// Their bytes.
    package var bytes: [ByteCount] = []
  }

  /// The row that was quickest.
  package struct Best: Sendable, Equatable, Codable {
    /// Transfers at once.
    package var parallel: Int
    /// Which pass.
    package var pass: Pass
    /// Its rate.
    package var imagesPerSecond: Double
    /// Its bytes a second.
    package var bytesPerSecond: Double
  }

  /// The rows, by parallelism and then by pass.
  package var runs: [Row] = []
  /// The quickest of the first pass; nil when nothing was fetched.
  @OrNull package var best: Best? = nil
  /// `closed` when a request starts as another ends, `open` under a rate.
  package var loop = "closed"
  /// The meaning of the latencies, in words.
  package var latency = ""
  /// Requests a second, under a rate.
  @OrNull package var rate: Double? = nil
  /// Where the bytes went.
  package var sink = Sink.cache
  /// How it compares with an earlier one.
  @OrNull package var baseline: BaselineComparison? = nil
  /// Whether a signal ended it early.
  package var interrupted = false

  /// An empty report.
  package init() {}

  /// Reads a report that ``json()`` wrote.
  ///
  /// - Throws: ``LarderError`` when it is none.
  package init(json bytes: [UInt8], name: String) throws(LarderError) {
    do {
      self = try Self.decoded(bytes)
    } catch {
      throw LarderError(
        .data,
        "cannot read the baseline \(name): it is no report of a measurement",
        remedy: .newBaseline
      )
    }
  }

  /// How many failures there were in all.
  package var failures: Int { runs.reduce(0) { $0 + $1.failures } }
}

extension BenchReport {
  /// The report as one line of JSON; every key is there.
  package func json() throws -> [UInt8] { try jsonLine() }

  static func decoded(_ bytes: [UInt8]) throws -> BenchReport {
    try JSONDecoder().decode(BenchReport.self, from: Data(bytes))
  }
}

/// The milliseconds that a share of all requests did not exceed.
package struct Quantiles: Sendable, Equatable, Codable {
  /// How many requests there were.
  package var count: Int
  /// Half of them.
  @OrNull package var p50: Double? = nil
  /// Nine in ten.
  @OrNull package var p90: Double? = nil
  /// 99 in a hundred.
  @OrNull package var p99: Double? = nil
  /// 999 in a thousand.
  @OrNull package var p999: Double? = nil
  /// All of them.
  @OrNull package var max: Double? = nil

  /// Nothing at all.
  package static let none = Quantiles(count: 0)
}

/// One point of a latency spectrum.
package struct SpectrumPoint: Sendable, Equatable, Codable {
  /// The share of requests, in percent.
  package var percentile: Double
  /// The upper bound of these values.
  package var milliseconds: Double
}
