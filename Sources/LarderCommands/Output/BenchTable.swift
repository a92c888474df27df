import Bench

/// A measurement for people: an aligned row a pass and parallelism, then what it means.
struct BenchTable {
  private let report: BenchReport
  private let terminal: Terminal

  init(_ report: BenchReport, _ terminal: Terminal) {
    self.report = report
    self.terminal = terminal
  }

  /// What a terminal shows meanwhile, what matters least last.
  static func words(of step: BenchRun.Step) -> [String] {
    let rate = step.imagesPerSecond.map { ["\(number($0)) pictures/s"] } ?? []
    return ["\(step.parallel) at once, run \(step.repetition)"] + rate
  }

  /// What was found, then what it took, in lines that fit 80 columns.
  var text: String {
    let result = aligned(Self.results, report.runs.map(results))
    let cost = aligned(Self.costs, report.runs.map(costs))
    return ([result, "", cost] + notes.flatMap { Self.folded($0) }).joined(separator: "\n")
  }

  private static let results = [
    "PASS", "AT ONCE", "PICTURES/S", "±", "MIB/S", "P50", "P99", "MAX MS", "FAILED",
  ]
  private static let costs = [
    "PASS", "AT ONCE", "PICTURES", "FIRST BYTE", "P90", "P99.9", "REUSED", "CPU S", "PEAK MIB",
  ]

  /// From here on a half-width says less than that the rate is not known.
  private static let noise = 1.0
  private static let noisy = "noisy"

  private func aligned(_ head: [String], _ cells: [[String]]) -> String {
    let rows = [head] + cells
    let widths = head.indices.map { column in rows.map { columns($0[column]) }.max() ?? 0 }
    return rows.enumerated().map { number, row in
      let line = row.indices.map { column in
        let blanks = String(repeating: " ", count: widths[column] - columns(row[column]))
        return column == 0 ? row[column] + blanks : blanks + row[column]
      }.joined(separator: "  ")
      return number == 0 ? terminal.paint(line, .faint) : line
    }.joined(separator: "\n")
  }

  private func results(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    return [
      row.pass.rawValue, "\(row.parallel)", Self.number(row.imagesPerSecond),
      row.confidence.halfWidth.map {
        $0 < Self.noise ? "\(Self.number($0 * 100))%" : Self.noisy
      } ?? "-",
      Self.number(row.bytesPerSecond / 1_048_576), milliseconds(total.p50),
      milliseconds(total.p99), milliseconds(total.max), "\(row.failures)",
    ]
  }

  private func costs(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    let found = row.connections.reused + row.connections.opened
    return [
      row.pass.rawValue, "\(row.parallel)", "\(row.images)",
      milliseconds(row.ttfbMilliseconds.p50), milliseconds(total.p90), milliseconds(total.p999),
      found == 0 ? "-" : "\(Self.number(100 * Double(row.connections.reused) / Double(found)))%",
      Self.number(row.cpuSeconds), Self.number(Double(row.peakBytes.count) / 1_048_576),
    ]
  }

  private var noiseNote: [String] {
    guard report.runs.contains(where: { ($0.confidence.halfWidth ?? 0) >= Self.noise }) else {
      return []
    }
    return [
      "noisy: the runs differ too much to say how exact the rate is; more pictures or --runs would"
    ]
  }

  /// A line in lines of 80 columns at most, broken between words.
  static func folded(_ line: String) -> [String] {
    var lines = [""]
    for word in line.split(separator: " ", omittingEmptySubsequences: false) {
      let last = lines[lines.count - 1]
      if !last.isEmpty, columns(last) + 1 + columns(String(word)) > 80 {
        lines.append("  " + word)
      } else {
        lines[lines.count - 1] = last.isEmpty ? String(word) : "\(last) \(word)"
      }
    }
    return lines
  }

  private func milliseconds(_ value: Double?) -> String {
    value.map { Self.number($0) } ?? "-"
  }

  private var notes: [String] {
    var notes = [""]
    if let best = report.best {
      notes.append(
        terminal.paint(
          "best: \(best.pass.rawValue) with \(best.parallel) at once, "
            + "\(Self.number(best.imagesPerSecond)) pictures/s",
          .bold
        )
      )
    }
    notes.append(report.latency)
    notes += noiseNote + parts + failures + baseline
    if report.interrupted { notes.append("interrupted: what stands here was measured before") }
    return notes
  }

  /// Where the time of a request went at the best parallelism.
  private var parts: [String] {
    guard let best = report.best,
      let row = report.runs.first(where: { $0.pass == best.pass && $0.parallel == best.parallel })
    else { return [] }
    let named = [
      ("DNS", row.dnsMilliseconds), ("connect", row.connectMilliseconds),
      ("TLS", row.tlsMilliseconds), ("wait", row.waitMilliseconds),
      ("transfer", row.transferMilliseconds),
    ]
    let words = named.filter { $0.1.count > 0 }.map { name, part in
      "\(name) \(milliseconds(part.p50)) (\(milliseconds(part.p99)))"
    }
    let protocols = row.protocols.sorted { $0.key < $1.key }.map(\.key)
    return [
      "there, median (and 99 %) in ms: \(words.joined(separator: ", ")); "
        + "\(protocols.joined(separator: ", ")), retries: \(row.retries)"
    ]
  }

  private var failures: [String] {
    let reasons = report.runs.reduce(into: [String: Int]()) {
      $0.merge($1.failureReasons) { $0 + $1 }
    }
    guard !reasons.isEmpty else { return [] }
    let words = reasons.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
    return [terminal.paint("failed: \(words.joined(separator: ", "))", .red)]
  }

  private var baseline: [String] {
    guard let baseline = report.baseline else { return [] }
    let limit = Self.number(baseline.maxRegression * 100)
    var lines = baseline.findings.filter(\.regressed).map { finding in
      terminal.paint(
        "regressed: \(finding.metric) of \(finding.pass.rawValue) with \(finding.parallel) at once, "
          + "\(Self.number(finding.before)) to \(Self.number(finding.now)), "
          + "\(Self.number(finding.worse * 100))% worse",
        .red
      )
    }
    if lines.isEmpty {
      lines.append(
        "no figure of \(baseline.findings.count) is worse than the baseline by \(limit)%"
      )
    }
    if !baseline.missing.isEmpty {
      lines.append("not measured this time: \(baseline.missing.joined(separator: ", "))")
    }
    return lines + ["judged by a \(baseline.test)"]
  }

  /// Three digits that mean something.
  static func number(_ value: Double) -> String {
    guard value.isFinite else { return "-" }
    let size = abs(value)
    let digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    let factor = [1.0, 10, 100, 1000][digits]
    let whole = Int((size * factor).rounded())
    let fraction = digits == 0 ? "" : "." + zeros(whole % Int(factor), digits)
    return "\(value < 0 ? "-" : "")\(whole / Int(factor))\(fraction)"
  }

  private static func zeros(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
