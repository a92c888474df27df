import Base
import Histogram
import Transport

/// Combines all runs of a pass with one number of simultaneous transfers into a row of the report.
///
/// A pass fetches all pictures once, for example into an empty cache. It is run several times.
struct RowBuilder: Sendable {
  /// The number of parts into which a run is divided for its timeline.
  private static let intervals = 48

  private let parallel: Int
  private let pass: Pass
  private let isOpen: Bool
  private var runs: [Summary] = []
  /// A row that has only the counts, which are about all runs.
  private var counts: BenchReport.Row
  private var total = LatencyHistogram(isFine: true)
  private var service = LatencyHistogram(isFine: false)
  private var firstByte = LatencyHistogram(isFine: false)
  private var parts = [LatencyHistogram](repeating: LatencyHistogram(isFine: false), count: 5)
  private var slowest: [(url: WebURL, latency: Int64)] = []
  private var p50: [Double] = []
  private var p99: [Double] = []

  /// The values of a run that are kept.
  ///
  /// The samples are not kept, because those of all runs would soon need more memory than everything else.
  private struct Summary: Sendable {
    var images: Int
    var bytes: ByteCount
    var seconds: Double
    var rate: Double
    var cpuSeconds: Double
    var peakBytes: ByteCount
    var timeline: BenchReport.Timeline
    var writingShare: Double
  }

  /// Creates a builder without runs.
  ///
  /// - Parameters:
  ///   - parallel: The number of simultaneous transfers.
  ///   - pass: The pass.
  ///   - isOpen: Whether requests start at a constant rate.
  init(parallel: Int, pass: Pass, isOpen: Bool) {
    self.parallel = parallel
    self.pass = pass
    self.isOpen = isOpen
    counts = BenchReport.Row(parallel: parallel, pass: pass)
  }

  /// The rates of the runs so far, in pictures per second.
  var rates: [Double] { runs.map(\.rate) }

  /// Adds a run.
  mutating func add(_ run: RunRecord) {
    runs.append(
      Summary(
        images: run.images,
        bytes: run.bytes,
        seconds: run.seconds,
        rate: run.imagesPerSecond,
        cpuSeconds: run.cpuSeconds,
        peakBytes: run.peakBytes,
        timeline: Self.timeline(of: run),
        writingShare: run.seconds > 0 ? min(1, run.writingSeconds / run.seconds) : 0
      )
    )
    count(run)
    var own = LatencyHistogram(isFine: true)
    for sample in run.samples where sample.failure == nil {
      own.record(nanoseconds: sample.latency)
      if let url = sample.url { note(url, sample.latency) }
      firstByte.record(nanoseconds: sample.firstByte)
      if isOpen { service.record(seconds: sample.timing?.total ?? 0) }
      let phases = sample.phases
      if !sample.reused {
        parts[0].record(seconds: phases.dns)
        parts[1].record(seconds: phases.connect)
        if phases.tls > 0 { parts[2].record(seconds: phases.tls) }
      }
      parts[3].record(seconds: phases.wait)
      parts[4].record(seconds: phases.transfer)
    }
    if let value = own.milliseconds(at: 50) { p50.append(value) }
    if let value = own.milliseconds(at: 99) { p99.append(value) }
    total.add(own)
  }

  /// Updates the list of the ten slowest URLs, which has the slowest request of each.
  private mutating func note(_ url: WebURL, _ latency: Int64) {
    if slowest.count == Self.mostSlow, latency <= slowest[Self.mostSlow - 1].latency { return }
    if let place = slowest.firstIndex(where: { $0.url.text == url.text }) {
      guard latency > slowest[place].latency else { return }
      slowest.remove(at: place)
    }
    let place = slowest.firstIndex { $0.latency < latency } ?? slowest.count
    slowest.insert((url, latency), at: place)
    if slowest.count > Self.mostSlow { slowest.removeLast() }
  }

  private static let mostSlow = 10

  /// The run with the median rate; if two runs are in the middle, the slower one.
  private var median: Summary? {
    guard !runs.isEmpty else { return nil }
    return runs.sorted { $0.rate < $1.rate }[(runs.count - 1) / 2]
  }

  /// The row; nil if there was no run.
  var row: BenchReport.Row? {
    guard let median else { return nil }
    var row = counts
    row.repetitions = runs.count
    row.images = median.images
    row.bytes = median.bytes
    row.seconds = median.seconds
    row.rates = rates
    row.writingShare = median.writingShare
    row.slowest = slowest.map {
      BenchReport.SlowURL(url: $0.url.redacted, milliseconds: Double($0.latency) / 1e6)
    }
    row.p50OfRuns = p50
    if let estimate = Estimate(rates) {
      row.imagesPerSecond = estimate.median
      if let interval = estimate.interval, let halfWidth = estimate.halfWidth {
        row.confidence = BenchReport.Confidence(
          low: interval.lowerBound,
          high: interval.upperBound,
          halfWidth: halfWidth
        )
      }
    }
    row.bytesPerSecond = median.seconds > 0 ? Double(median.bytes.count) / median.seconds : 0
    row.ttfbMilliseconds = firstByte.quantiles
    row.totalMilliseconds = total.quantiles
    row.serviceMilliseconds = service.quantiles
    row.dnsMilliseconds = parts[0].quantiles
    row.connectMilliseconds = parts[1].quantiles
    row.tlsMilliseconds = parts[2].quantiles
    row.waitMilliseconds = parts[3].quantiles
    row.transferMilliseconds = parts[4].quantiles
    row.p99OfRuns = p99
    row.spectrum = total.spectrum
    row.timeline = median.timeline
    row.cpuSeconds = Estimate(runs.map(\.cpuSeconds))?.median ?? 0
    row.peakBytes = runs.map(\.peakBytes).max() ?? 0
    return row
  }

  private mutating func count(_ run: RunRecord) {
    counts.otherRequests += run.others
    counts.failureReasons.merge(run.failures) { $0 + $1 }
    counts.failures = counts.failureReasons.values.reduce(0, +)
    for sample in run.samples {
      counts.requests += 1
      counts.retries += max(0, sample.attempts - 1)
      if let status = sample.status { counts.statuses?[status, default: 0] += 1 }
      guard sample.failure == nil else { continue }
      counts.notModified += sample.isNotModified ? 1 : 0
      counts.protocols[sample.version.rawValue, default: 0] += 1
      if sample.reused { counts.connections.reused += 1 } else { counts.connections.opened += 1 }
    }
  }

  private static func timeline(of run: RunRecord) -> BenchReport.Timeline {
    guard run.seconds > 0, !run.samples.isEmpty else { return BenchReport.Timeline() }
    var timeline = BenchReport.Timeline(
      intervalSeconds: run.seconds / Double(intervals),
      images: [Int](repeating: 0, count: intervals),
      bytes: [ByteCount](repeating: 0, count: intervals)
    )
    for sample in run.samples where sample.failure == nil {
      let seconds = Double(sample.ended - run.began) / 1e9
      let place = min(max(0, Int(seconds / timeline.intervalSeconds)), intervals - 1)
      timeline.images[place] += 1
      timeline.bytes[place] += sample.bytes
    }
    return timeline
  }
}

/// A distribution of durations, in whole microseconds.
///
/// With five significant digits, durations up to 131 ms are exact, and longer ones are precise to 1/100,000. This takes
/// one or two megabytes. With four digits, durations up to 16 ms are exact, and the memory is a tenth.
struct LatencyHistogram: Sendable {
  private var histogram: Histogram<UInt32>

  /// Creates an empty histogram, with five significant digits if `isFine` is true, and with four otherwise.
  init(isFine: Bool) {
    histogram = Histogram(numberOfSignificantValueDigits: isFine ? .five : .four)
  }

  /// Records a duration in nanoseconds; a negative duration counts as zero.
  mutating func record(nanoseconds: Int64) {
    // A longer duration is recorded as one day, because no transfer is allowed to take longer.
    let longest: Int64 = 86_400_000_000_000
    histogram.record(UInt64((min(max(0, nanoseconds), longest) + 500) / 1000))
  }

  mutating func record(seconds: Double) {
    record(nanoseconds: Int64(min(max(0, seconds), 86_400) * 1e9))
  }

  mutating func add(_ other: LatencyHistogram) {
    histogram.add(other.histogram)
  }

  var isEmpty: Bool { histogram.totalCount == 0 }

  /// A percentile in milliseconds, such as the median for 50; nil if nothing was recorded.
  func milliseconds(at percentile: Double) -> Double? {
    isEmpty ? nil : Double(histogram.valueAtPercentile(percentile)) / 1000
  }

  /// The percentiles that reports have.
  var quantiles: Quantiles {
    Quantiles(
      count: Int(histogram.totalCount),
      p50: milliseconds(at: 50),
      p90: milliseconds(at: 90),
      p99: milliseconds(at: 99),
      p999: milliseconds(at: 99.9),
      max: milliseconds(at: 100)
    )
  }

  /// The whole distribution as points of a curve.
  ///
  /// The points approach 100 %: there are four from 0 to 50 %, four from 50 to 75 %, four from 75 to 87.5 %, and so on.
  var spectrum: [SpectrumPoint] {
    guard !isEmpty else { return [] }
    let least = 100 / Double(histogram.totalCount)
    var points = [SpectrumPoint(percentile: 0, milliseconds: milliseconds(at: 0) ?? 0)]
    var (start, rest) = (0.0, 100.0)
    while rest > least {
      for quarter in 1...4 {
        let percentile = start + rest / 2 * Double(quarter) / 4
        guard let value = milliseconds(at: percentile) else { continue }
        points.append(SpectrumPoint(percentile: percentile, milliseconds: value))
      }
      start += rest / 2
      rest /= 2
    }
    points.append(SpectrumPoint(percentile: 100, milliseconds: milliseconds(at: 100) ?? 0))
    return points
  }
}
