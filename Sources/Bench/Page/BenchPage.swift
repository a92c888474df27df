import Web

/// A report of `larder bench` as one self-contained HTML page, which runs no scripts.
package struct BenchPage: PageView, Sendable {
  package static let template = "bench"

  /// A figure at the top of the page, with its meaning.
  struct Tile {
    let value, label: String
  }

  /// A table of the page.
  struct Table {
    let title: String
    let head: [String]
    let rows: [[String]]
    var note = ""
  }

  let language = "en"
  let style = PageAssets.benchStyle
  let title, heading, subtitle, facts, command, latency: String
  let tiles: [Tile]
  let plots: [Plot]
  let tables: [Table]

  /// Creates the page of a report.
  ///
  /// The page shows the date, the machine and the command, because the figures depend on them.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - title: The measured catalog, file or URL.
  ///   - facts: The date, the machine and the version of larder, such as `host, 2 processors` and `larder 1.2`.
  ///   - command: The command line, with its secrets replaced.
  package init(_ report: BenchReport, title: String, facts: [String], command: String) {
    self.title = "larder bench: \(title)"
    heading = title
    let sink =
      report.sink == .cache
      ? "pictures written, hashed and indexed in a temporary cache"
      : "pictures fetched and discarded"
    let rate = report.rate.map { ", \(Markup.number($0)) requests a second" } ?? ""
    subtitle = "larder bench: \(sink)\(rate)\(report.interrupted ? "; interrupted" : "")"
    self.facts = facts.joined(separator: " · ")
    self.command = command
    latency =
      report.latency.prefix(1).uppercased() + report.latency.dropFirst()
      + (report.latency.isEmpty ? "" : ".")
    tiles = report.bestRow.map(Self.tiles) ?? []
    plots = Self.plots(report.runs)
    tables = Self.tables(report, report.bestRow).filter { !$0.rows.isEmpty }
  }

  /// The HTML of the page.
  ///
  /// - Throws: A template's error, which a test rules out.
  package var html: String {
    get throws { try PageTemplates.shared(.english).html(self) }
  }

  /// The figures of the fastest row.
  private static func tiles(_ best: BenchReport.Row) -> [Tile] {
    let requests = best.connections.reused + best.connections.opened
    let reused = 100 * Double(best.connections.reused) / Double(requests)
    return [
      (Markup.number(best.imagesPerSecond) + "/s", "pictures, \(best.pass.rawValue), at best"),
      ("\(best.parallel)", "simultaneous transfers for that rate"),
      (Markup.number(best.bytesPerSecond / 1_048_576) + " MiB/s", "picture bytes"),
      (
        best.totalMilliseconds.p99.map { Markup.number($0) + " ms" } ?? "–",
        "99 % of requests took at most this"
      ), (requests > 0 ? Markup.decimal(reused, 1) + " %" : "–", "reused a connection"),
      (best.protocols.keys.sorted().joined(separator: ", "), "protocol"),
    ].map(Tile.init)
  }

  private static func plots(_ rows: [BenchReport.Row]) -> [Plot] {
    func lines(
      _ suffix: String = "",
      isDashed: Bool = false,
      _ value: (BenchReport.Row) -> Double?,
      band: (BenchReport.Row) -> BenchReport.Confidence? = { _ in nil }
    ) -> [Plot.Series] {
      Pass.allCases.map { pass in
        let own = rows.filter { $0.pass == pass }.sorted { $0.parallel < $1.parallel }
        return Plot.Series(
          name: pass.rawValue + suffix,
          style: pass.rawValue,
          points: own.compactMap { row in
            value(row).map {
              Plot.Point(x: Double(row.parallel), y: max($0, 0.001), band: band(row))
            }
          },
          isDashed: isDashed
        )
      }
    }
    let rates = lines {
      $0.imagesPerSecond > 0 ? $0.imagesPerSecond : nil
    } band: {
      $0.confidence
    }
    let latencies = zip(
      lines(" p50") { $0.totalMilliseconds.p50 },
      lines(" p99", isDashed: true) { $0.totalMilliseconds.p99 }
    )
    return [
      Plot("Pictures a second (band: 95 % confidence)", "pictures a second", rates),
      Plot("Latency of a picture", "milliseconds", latencies.flatMap { [$0, $1] }),
    ].filter { !$0.lines.isEmpty }
  }

  private static func tables(_ report: BenchReport, _ best: BenchReport.Row?) -> [Table] {
    [
      Table(
        title: "Every run",
        head: [
          "pass", "at once", "runs", "pictures", "seconds", "pictures/s", "±", "MiB/s",
          "first byte p50", "total p50", "p90", "p99", "p99.9", "max", "reused", "retries",
          "failed", "CPU s", "peak MiB",
        ],
        rows: report.runs.map(measured)
      ),
      Table(
        title: "Where the time of a request went, p50 / p99 in ms",
        head: ["pass", "at once", "DNS", "connect", "TLS", "wait", "transfer", "protocol"],
        rows: report.runs.filter { $0.requests > 0 }.map(parts)
      ),
      Table(
        title: "Answers by status",
        head: ["pass", "at once", "status", "requests"],
        rows: report.runs.flatMap { row in
          row.statuses.sorted { $0.key < $1.key }.map {
            [row.pass.rawValue, "\(row.parallel)", $0.key, "\($0.value)"]
          }
        }
      ),
      Table(
        title:
          "The slowest, \(best.map { "\($0.pass.rawValue) with \($0.parallel) at once" } ?? "")",
        head: ["ms", "URL"],
        rows: (best?.slowest ?? []).map { [Markup.number($0.milliseconds), $0.url] }
      ), baseline(report.baseline),
    ]
  }

  private static func measured(_ row: BenchReport.Row) -> [String] {
    let total = row.totalMilliseconds
    let times = [row.ttfbMilliseconds.p50, total.p50, total.p90, total.p99, total.p999, total.max]
    return [
      row.pass.rawValue, "\(row.parallel)", "\(row.repetitions)", "\(row.images)",
      Markup.decimal(row.seconds, 3), Markup.number(row.imagesPerSecond),
      row.confidence.halfWidth.map { Markup.decimal($0 * 100, 1) + " %" } ?? "–",
      Markup.number(row.bytesPerSecond / 1_048_576),
    ] + times.map(milliseconds) + [
      "\(row.connections.reused)", "\(row.retries)", "\(row.failures)",
      Markup.decimal(row.cpuSeconds, 2),
      Markup.decimal(Double(row.peakBytes.count) / 1_048_576, 0),
    ]
  }

  private static func parts(_ row: BenchReport.Row) -> [String] {
    let parts = [
      row.dnsMilliseconds, row.connectMilliseconds, row.tlsMilliseconds, row.waitMilliseconds,
      row.transferMilliseconds,
    ]
    return [row.pass.rawValue, "\(row.parallel)"]
      + parts.map { part in
        part.count == 0 ? "–" : "\(milliseconds(part.p50)) / \(milliseconds(part.p99))"
      } + [row.protocols.keys.sorted().joined(separator: ", ")]
  }

  private static func baseline(_ baseline: BaselineComparison?) -> Table {
    let limit = Markup.decimal((baseline?.maxRegression ?? 0) * 100, 1)
    return Table(
      title: "Compared with the baseline; more than \(limit) % worse counts as a regression",
      head: ["pass", "at once", "figure", "before", "now", "worse by", "by chance", ""],
      rows: (baseline?.findings ?? []).map { finding in
        [
          finding.pass.rawValue, "\(finding.parallel)", finding.metric,
          Markup.number(finding.before), Markup.number(finding.now),
          Markup.decimal(finding.worse * 100, 1) + " %", Markup.decimal(finding.probability, 3),
          finding.regressed ? "regressed" : "",
        ]
      },
      note: baseline?.test ?? ""
    )
  }

  private static func milliseconds(_ value: Double?) -> String {
    value.map { Markup.number($0) } ?? "–"
  }
}

enum Markup {
  /// A number with at most three significant digits, such as `1.23` or `123`.
  ///
  /// Thousands and millions are written as `12.3k` and `1.23M`.
  static func number(_ value: Double) -> String {
    let size = abs(value)
    switch size {
    case 0: return "0"
    case .infinity: return "–"
    case 999_500...: return short(value / 1e6) + "M"
    case 9_995...: return short(value / 1e3) + "k"
    default: return short(value)
    }
  }

  private static func short(_ value: Double) -> String {
    let size = abs(value)
    let digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    return decimal(value, digits)
  }

  /// A number with at most `digits` decimals, up to three, and without zeros at the end, such as `1.5`.
  static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    let factor = [1.0, 10, 100, 1000][digits]
    let rounded = (value * factor).rounded() / factor
    let text = "\(abs(rounded))"
    return (rounded < 0 ? "−" : "") + (text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }
}
