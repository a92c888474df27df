/// What was measured, key for key what `bench --json` prints; also what a baseline is read from.
public struct BenchReport: Sendable, Equatable, Codable {
  /// One pass at one number of transfers at once.
  public struct Row: Sendable, Equatable, Codable {
    /// Transfers at once.
    public var parallel: Int
    /// Which pass.
    public var pass: Pass
    /// How often it was run; what follows is of all those runs unless it says otherwise.
    public var repetitions = 0
    /// Pictures that were as they should be after the median run.
    public var images = 0
    /// Body bytes of the median run.
    public var bytes: Int64 = 0
    /// How long the median run took, sections and report included.
    public var seconds = 0.0
    /// The median of the runs' rates.
    public var imagesPerSecond = 0.0
    /// The median run's body bytes a second.
    public var bytesPerSecond = 0.0
    /// Each run's rate, in order.
    public var rates: [Double] = []
    /// The 95 % confidence interval of the rates' geometric mean.
    public var confidence = Confidence()
    /// Until the first byte.
    public var ttfbMilliseconds = Quantiles.none
    /// Until the end; from the planned start under a rate, else from the attempt's own.
    public var totalMilliseconds = Quantiles.none
    /// Until the end from the attempt's own start, under a rate; else nothing.
    public var serviceMilliseconds = Quantiles.none
    /// Until the name was an address; of new connections only, as the next two.
    public var dnsMilliseconds = Quantiles.none
    /// Until the connection was open.
    public var connectMilliseconds = Quantiles.none
    /// Until TLS was agreed on.
    public var tlsMilliseconds = Quantiles.none
    /// From the request to the first byte.
    public var waitMilliseconds = Quantiles.none
    /// From the first byte to the last.
    public var transferMilliseconds = Quantiles.none
    /// Each run's 99th percentile of the total, in order.
    public var p99OfRuns: [Double] = []
    /// Requests for pictures that ended, well or not.
    public var requests = 0
    /// How many of them the origin answered with 304.
    public var notModified = 0
    /// Requests for sections and details.
    public var otherRequests = 0
    /// How many requests found an open connection, and how many did not.
    public var connections = Connections()
    /// Requests by protocol.
    public var protocols: [String: Int] = [:]
    /// Attempts beyond the first.
    public var retries = 0
    /// What could not be had.
    public var failures = 0
    /// Failures by their reason.
    public var failureReasons: [String: Int] = [:]
    /// The median of the runs' processor time.
    public var cpuSeconds = 0.0
    /// The most memory in any run.
    public var peakBytes: Int64 = 0
    /// The distribution of the total.
    public var spectrum: [SpectrumPoint] = []
    /// The median run over time.
    public var timeline = Timeline()

    /// An empty row.
    public init(parallel: Int, pass: Pass) {
      self.parallel = parallel
      self.pass = pass
    }
  }

  /// How sure a rate is.
  public struct Confidence: Sendable, Equatable, Codable {
    /// The interval's lower bound; nil, as the others, after a single run.
    public var low: Double?
    /// The interval's upper bound.
    public var high: Double?
    /// Half of it beside its middle.
    public var halfWidth: Double?

    /// Writes every key.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(low, forKey: .low)
      try container.encode(high, forKey: .high)
      try container.encode(halfWidth, forKey: .halfWidth)
    }
  }

  /// How requests found their connections.
  public struct Connections: Sendable, Equatable, Codable {
    /// Had to open one, or waited for one to open.
    public var opened = 0
    /// Found one.
    public var reused = 0
  }

  /// Completions over a run, in intervals of equal length.
  public struct Timeline: Sendable, Equatable, Codable {
    /// How long an interval is.
    public var intervalSeconds = 0.0
    /// Pictures that ended in each.
    public var images: [Int] = []
    /// Their bytes.
    public var bytes: [Int64] = []
  }

  /// The row that was quickest.
  public struct Best: Sendable, Equatable, Codable {
    /// Transfers at once.
    public var parallel: Int
    /// Which pass.
    public var pass: Pass
    /// Its rate.
    public var imagesPerSecond: Double
    /// Its bytes a second.
    public var bytesPerSecond: Double
  }

  /// One request of the run that the waterfall shows, in milliseconds.
  public struct Bar: Sendable, Equatable, Codable {
    /// When it started, after the run's start.
    public var start: Double
    /// DNS, connect, TLS, wait and transfer, one after the other.
    public var phases: [Double]
    /// Whether it found an open connection.
    public var reused: Bool
  }

  /// The rows, by parallelism and then by pass.
  public var runs: [Row] = []
  /// The quickest of the first pass; nil when nothing was fetched.
  public var best: Best?
  /// `closed` when a request starts as another ends, `open` under a rate.
  public var loop = "closed"
  /// What the latencies mean because of that, in words.
  public var latency = ""
  /// Requests a second, under a rate.
  public var rate: Double?
  /// Where the bytes went.
  public var sink = Sink.cache
  /// What the embedded origin does, when it was measured.
  public var origin: OriginFacts?
  /// The first requests of the quickest row's median run.
  public var waterfall: [Bar] = []
  /// How it compares with an earlier one.
  public var baseline: BaselineComparison?
  /// Whether a signal ended it early.
  public var interrupted = false

  /// An empty report.
  public init() {}

  /// Reads a report that ``json()`` wrote.
  ///
  /// - Throws: ``BenchError`` when it is none.
  public init(json bytes: [UInt8], name: String) throws(BenchError) {
    do {
      self = try Self.decoded(bytes)
    } catch {
      throw BenchError(
        .data,
        "cannot read the baseline \(name): it is no output of larder bench --json; make it anew"
      )
    }
  }

  /// How many failures there were in all.
  public var failures: Int { runs.reduce(0) { $0 + $1.failures } }
}

extension BenchReport {
  /// Writes every key, null where there is nothing to say.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(runs, forKey: .runs)
    try container.encode(best, forKey: .best)
    try container.encode(loop, forKey: .loop)
    try container.encode(latency, forKey: .latency)
    try container.encode(rate, forKey: .rate)
    try container.encode(sink, forKey: .sink)
    try container.encode(origin, forKey: .origin)
    try container.encode(waterfall, forKey: .waterfall)
    try container.encode(baseline, forKey: .baseline)
    try container.encode(interrupted, forKey: .interrupted)
  }
}
