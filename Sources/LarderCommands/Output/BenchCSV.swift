import Bench
import Pipeline

/// A measurement for spreadsheets: a head and a line a pass and parallelism. (RFC 4180)
struct BenchCSV {
  private let report: BenchReport

  init(_ report: BenchReport) {
    self.report = report
  }

  private static let head = [
    "parallel", "pass", "repetitions", "images", "bytes", "seconds", "imagesPerSecond", "low",
    "high", "bytesPerSecond", "ttfbP50", "ttfbP90", "ttfbP99", "ttfbP999", "ttfbMax", "totalP50",
    "totalP90", "totalP99", "totalP999", "totalMax", "requests", "notModified", "opened", "reused",
    "retries", "failures", "cpuSeconds", "peakBytes", "loop",
  ]

  var text: String {
    let lines = report.runs.map { row in
      let many = [row.ttfbMilliseconds, row.totalMilliseconds].flatMap {
        [$0.p50, $0.p90, $0.p99, $0.p999, $0.max].map(Self.number)
      }
      let start: [CSVLine.Cell] = [
        Self.number(row.parallel), .text(row.pass.rawValue), Self.number(row.repetitions),
        Self.number(row.images), Self.number(row.bytes.count), Self.number(row.seconds),
        Self.number(row.imagesPerSecond), Self.number(row.confidence.low),
        Self.number(row.confidence.high), Self.number(row.bytesPerSecond),
      ]
      let end: [CSVLine.Cell] = [
        Self.number(row.requests), Self.number(row.notModified),
        Self.number(row.connections.opened), Self.number(row.connections.reused),
        Self.number(row.retries), Self.number(row.failures), Self.number(row.cpuSeconds),
        Self.number(row.peakBytes.count), .text(report.loop),
      ]
      return CSVLine(start + many + end).text
    }
    return ([CSVLine(heading: Self.head).text] + lines).joined(separator: "\n")
  }

  private static func number(_ value: (some CustomStringConvertible)?) -> CSVLine.Cell {
    .number(value?.description)
  }
}
