import Base
import Transport

/// Combines all runs of a pass with one number of simultaneous transfers into a row of the report.
///
/// A pass fetches all pictures once, for example into an empty cache. It is run several times.
struct RowBuilder {
  /// The runs without the results of their requests.
  private var runs: [RunRecord] = []
  /// A row that has only the values about all runs, without the times of requests.
  private var sum: BenchReport.Row
  /// The times to the first and to the last byte of each request, in seconds.
  private var firstBytes: [Double] = []
  private var totals: [Double] = []

  /// Creates a builder without runs for a pass and a number of simultaneous transfers.
  init(parallel: Int, pass: Pass) {
    sum = BenchReport.Row(parallel: parallel, pass: pass)
  }

  /// The rates of the runs so far, in pictures per second.
  var rates: [Double] { sum.rates }

  /// Adds a run.
  mutating func add(_ run: RunRecord) {
    sum.rates.append(run.imagesPerSecond)
    sum.failureReasons.merge(run.failures) { $0 + $1 }
    sum.failures = sum.failureReasons.values.reduce(0, +)
    sum.requests += run.results.count
    for result in run.results {
      switch result {
      case .success(let response):
        sum.retries += response.attempts - 1
        sum.statuses["\(response.head.status)", default: 0] += 1
        sum.protocols[response.head.version.rawValue, default: 0] += 1
        if response.connectionReused {
          sum.connections.reused += 1
        } else {
          sum.connections.opened += 1
        }
        firstBytes.append(response.firstByte)
        totals.append(response.total)
      case .failure(let failure):
        sum.retries += max(0, failure.attempts - 1)
        if let status = failure.reason.status { sum.statuses["\(status)", default: 0] += 1 }
      }
    }
    var run = run
    run.results = []
    runs.append(run)
  }

  /// The row; nil if there was no run.
  var row: BenchReport.Row? {
    guard !runs.isEmpty else { return nil }
    // The run with the median rate; if two runs are in the middle, the slower one.
    let median = runs.sorted { $0.imagesPerSecond < $1.imagesPerSecond }[(runs.count - 1) / 2]
    var row = sum
    row.repetitions = runs.count
    row.images = median.images
    row.bytes = median.bytes
    row.seconds = median.seconds
    row.bytesPerSecond = median.seconds > 0 ? Double(median.bytes.count) / median.seconds : 0
    if let estimate = Estimate(rates) {
      row.imagesPerSecond = estimate.median
      row.confidence = BenchReport.Confidence(
        low: estimate.interval?.lowerBound,
        high: estimate.interval?.upperBound,
        halfWidth: estimate.halfWidth
      )
    }
    row.ttfbMilliseconds = Quantiles(seconds: firstBytes)
    row.totalMilliseconds = Quantiles(seconds: totals)
    return row
  }
}
