import Bench

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
        [$0.p50, $0.p90, $0.p99, $0.p999, $0.max].map(Self.optional)
      }
      let start = [
        "\(row.parallel)", row.pass.rawValue, "\(row.repetitions)", "\(row.images)",
        "\(row.bytes)", "\(row.seconds)", "\(row.imagesPerSecond)",
        Self.optional(row.confidence.low), Self.optional(row.confidence.high),
        "\(row.bytesPerSecond)",
      ]
      let end = [
        "\(row.requests)", "\(row.notModified)", "\(row.connections.opened)",
        "\(row.connections.reused)", "\(row.retries)", "\(row.failures)", "\(row.cpuSeconds)",
        "\(row.peakBytes)", report.loop,
      ]
      return (start + many + end).joined(separator: ",")
    }
    return ([Self.head.joined(separator: ",")] + lines).joined(separator: "\n")
  }

  private static func optional(_ value: Double?) -> String {
    value.map { "\($0)" } ?? ""
  }
}
