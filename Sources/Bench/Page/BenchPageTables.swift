/// The page's tables: every row, where the time went, and the baseline.
struct BenchPageTables: Sendable {
  private let report: BenchReport

  init(_ report: BenchReport) {
    self.report = report
  }

  var html: String {
    [rows, parts, baseline].filter { !$0.isEmpty }.joined(separator: "\n")
  }

  private func table(_ title: String, _ head: [String], _ body: [[String]]) -> String {
    guard !body.isEmpty else { return "" }
    let heads = head.map { "<th scope=\"col\">\(Markup.escaped($0))</th>" }.joined()
    let lines = body.map { line in
      "<tr>" + line.map { "<td>\(Markup.escaped($0))</td>" }.joined() + "</tr>"
    }
    return """
      <h2>\(Markup.escaped(title))</h2>
      <div class="scroll"><table><thead><tr>\(heads)</tr></thead>
      <tbody>\(lines.joined(separator: "\n"))</tbody></table></div>
      """
  }

  private func milliseconds(_ value: Double?) -> String {
    value.map { Markup.number($0) } ?? "–"
  }

  private var rows: String {
    table(
      "Every run",
      [
        "pass", "at once", "runs", "pictures", "seconds", "pictures/s", "±", "MiB/s",
        "first byte p50",
        "total p50", "p90", "p99", "p99.9", "max", "reused", "retries", "failed", "CPU s",
        "peak MiB",
      ],
      report.runs.map { row in
        [
          row.pass.rawValue, "\(row.parallel)", "\(row.repetitions)", "\(row.images)",
          Markup.decimal(row.seconds, 3), Markup.number(row.imagesPerSecond),
          row.confidence.halfWidth.map { Markup.decimal($0 * 100, 1) + " %" } ?? "–",
          Markup.number(row.bytesPerSecond / 1_048_576), milliseconds(row.ttfbMilliseconds.p50),
          milliseconds(row.totalMilliseconds.p50), milliseconds(row.totalMilliseconds.p90),
          milliseconds(row.totalMilliseconds.p99), milliseconds(row.totalMilliseconds.p999),
          milliseconds(row.totalMilliseconds.max), "\(row.connections.reused)", "\(row.retries)",
          "\(row.failures)", Markup.decimal(row.cpuSeconds, 2),
          Markup.decimal(Double(row.peakBytes.count) / 1_048_576, 0),
        ]
      }
    )
  }

  private var parts: String {
    table(
      "Where the time of a request went, p50 / p99 in ms",
      ["pass", "at once", "DNS", "connect", "TLS", "wait", "transfer", "protocol"],
      report.runs.filter { $0.requests > 0 }.map { row in
        let parts = [
          row.dnsMilliseconds, row.connectMilliseconds, row.tlsMilliseconds, row.waitMilliseconds,
          row.transferMilliseconds,
        ]
        return [row.pass.rawValue, "\(row.parallel)"]
          + parts.map { part in
            part.count == 0 ? "–" : "\(milliseconds(part.p50)) / \(milliseconds(part.p99))"
          } + [row.protocols.keys.sorted().joined(separator: ", ")]
      }
    )
  }

  private var baseline: String {
    guard let baseline = report.baseline else { return "" }
    let limit = Markup.decimal(baseline.maxRegression * 100, 1)
    let note = "<p class=\"faint\">\(Markup.escaped(baseline.test))</p>"
    return table(
      "Beside the baseline; \(limit) % worse is too much",
      ["pass", "at once", "figure", "before", "now", "worse by", "by chance", ""],
      baseline.findings.map { finding in
        [
          finding.pass.rawValue, "\(finding.parallel)", finding.metric,
          Markup.number(finding.before),
          Markup.number(finding.now), Markup.decimal(finding.worse * 100, 1) + " %",
          Markup.decimal(finding.probability, 3), finding.regressed ? "regressed" : "",
        ]
      }
    ) + note
  }
}
