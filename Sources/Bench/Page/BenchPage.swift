import Web

/// A report of `larder bench` as one self-contained HTML page, which runs no scripts.
package struct BenchPage: Sendable {
  fileprivate let report: BenchReport
  fileprivate let title: String
  fileprivate let setting: BenchSetting

  /// Creates the page of a report.
  ///
  /// - Parameters:
  ///   - report: The report.
  ///   - title: The measured catalog, file or URL.
  ///   - setting: The date, the machine and the command of the measurement.
  package init(_ report: BenchReport, title: String, setting: BenchSetting) {
    self.report = report
    self.title = title
    self.setting = setting
  }

  /// The HTML of the page.
  ///
  /// - Throws: A template's error, which a test rules out.
  package var html: String {
    get throws { try PageTemplates.shared(.english).html(BenchView(self)) }
  }

  private var passes: [Pass] {
    Pass.allCases.filter { pass in report.runs.contains { $0.pass == pass } }
  }

  private func rows(_ pass: Pass) -> [BenchReport.Row] {
    report.runs.filter { $0.pass == pass }.sorted { $0.parallel < $1.parallel }
  }

  fileprivate var subtitle: String {
    let sink =
      report.sink == .cache
      ? "pictures written, hashed and indexed in a temporary cache"
      : "pictures fetched and discarded"
    let rate = report.rate.map { ", \(Markup.number($0)) requests a second" } ?? ""
    return "larder bench: \(sink)\(rate)\(report.interrupted ? "; interrupted" : "")"
  }

  fileprivate var latencySentence: String {
    report.latency.prefix(1).uppercased() + report.latency.dropFirst()
      + (report.latency.isEmpty ? "" : ".")
  }

  private var bestRow: BenchReport.Row? {
    report.runs.first { $0.pass == report.best?.pass && $0.parallel == report.best?.parallel }
  }

  fileprivate var tiles: [BenchView.Tile] {
    guard let best = report.best, let row = bestRow else { return [] }
    let reuse = row.connections.reused + row.connections.opened
    return [
      (Markup.number(best.imagesPerSecond) + "/s", "pictures, \(best.pass.rawValue), at best"),
      ("\(best.parallel)", "simultaneous transfers for that rate"),
      (Markup.number(best.bytesPerSecond / 1_048_576) + " MiB/s", "picture bytes"),
      (
        row.totalMilliseconds.p99.map { Markup.number($0) + " ms" } ?? "–",
        "99 % of requests took at most this"
      ),
      (
        reuse > 0
          ? Markup.decimal(100 * Double(row.connections.reused) / Double(reuse), 1) + " %" : "–",
        "reused a connection"
      ),
      (row.protocols.keys.sorted().joined(separator: ", "), "protocol"),
    ].map(BenchView.Tile.init)
  }

  fileprivate var plots: [Plot] {
    var plots: [Plot] = []
    if report.runs.contains(where: { $0.imagesPerSecond > 0 }) { plots.append(throughput) }
    if report.runs.contains(where: { $0.totalMilliseconds.count > 0 }) {
      plots += [latency, spectrum, timeline]
    }
    return plots
  }

  private var throughput: Plot {
    let series = passes.map { pass in
      let rows = rows(pass).filter { $0.imagesPerSecond > 0 }
      return Plot.Series(
        name: pass.rawValue,
        style: pass.rawValue,
        points: rows.map { (Double($0.parallel), $0.imagesPerSecond) },
        band: rows.compactMap { row in
          guard let low = row.confidence.low, let high = row.confidence.high else { return nil }
          return (Double(row.parallel), low, high)
        }
      )
    }
    return Plot(
      title: "Pictures a second (band: 95 % confidence)",
      xLabel: "transfers at once",
      yLabel: "pictures a second",
      x: .doubling,
      y: .decades,
      series: series
    )
  }

  private var latency: Plot {
    let series = passes.flatMap { pass in
      let rows = rows(pass)
      return [("p50", false), ("p99", true)].map { name, isTail in
        Plot.Series(
          name: "\(pass.rawValue) \(name)",
          style: pass.rawValue,
          points: rows.compactMap { row in
            let value = isTail ? row.totalMilliseconds.p99 : row.totalMilliseconds.p50
            return value.map { (Double(row.parallel), max($0, 0.001)) }
          },
          isDashed: isTail
        )
      }
    }
    return Plot(
      title: "Latency of a picture",
      xLabel: "transfers at once",
      yLabel: "milliseconds",
      x: .doubling,
      y: .decades,
      series: series.filter { !$0.points.isEmpty }
    )
  }

  /// The rows with the number of transfers that has the highest rate.
  private var atBest: [BenchReport.Row] {
    let parallel = report.best?.parallel ?? report.runs.first?.parallel
    return report.runs.filter { $0.parallel == parallel && $0.totalMilliseconds.count > 0 }
  }

  private var atBestWords: String {
    "\(report.best?.parallel ?? report.runs.first?.parallel ?? 0) at once"
  }

  private var spectrum: Plot {
    Plot(
      title: "Latency spectrum, \(atBestWords)",
      xLabel: "percentile",
      yLabel: "milliseconds",
      x: .nines,
      y: .decades,
      series: atBest.map { row in
        Plot.Series(
          name: row.pass.rawValue,
          style: row.pass.rawValue,
          points: row.spectrum.map { ($0.percentile, max($0.milliseconds, 0.001)) },
          hasDots: false
        )
      }
    )
  }

  private var timeline: Plot {
    Plot(
      title: "One run over time, \(atBestWords)",
      xLabel: "seconds since its start",
      yLabel: "pictures a second",
      x: .linear,
      y: .linear,
      series: atBest.map { row in
        let step = row.timeline.intervalSeconds
        return Plot.Series(
          name: row.pass.rawValue,
          style: row.pass.rawValue,
          points: row.timeline.images.enumerated().map {
            ((Double($0.offset) + 0.5) * step, Double($0.element) / max(step, 1e-9))
          },
          hasDots: false
        )
      },
      isFilled: true
    )
  }
}

/// The tables of the page.
extension BenchPage {
  /// The tables that have rows.
  fileprivate var tables: [BenchView.Table] {
    [measured, parts, statuses, slowest, baseline].filter { !$0.rows.isEmpty }
  }

  private func milliseconds(_ value: Double?) -> String {
    value.map { Markup.number($0) } ?? "–"
  }

  private var measured: BenchView.Table {
    BenchView.Table(
      title: "Every run",
      head: [
        "pass", "at once", "runs", "pictures", "seconds", "pictures/s", "±", "MiB/s",
        "first byte p50",
        "total p50", "p90", "p99", "p99.9", "max", "reused", "retries", "failed", "CPU s",
        "peak MiB",
      ],
      rows: report.runs.map { row in
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

  private var parts: BenchView.Table {
    BenchView.Table(
      title: "Where the time of a request went, p50 / p99 in ms",
      head: ["pass", "at once", "DNS", "connect", "TLS", "wait", "transfer", "protocol"],
      rows: report.runs.filter { $0.requests > 0 }.map { row in
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

  private var statuses: BenchView.Table {
    BenchView.Table(
      title: "Answers by status",
      head: ["pass", "at once", "status", "requests"],
      rows: report.runs.flatMap { row in
        (row.statuses ?? [:]).sorted { $0.key < $1.key }.map {
          [row.pass.rawValue, "\(row.parallel)", $0.key, "\($0.value)"]
        }
      }
    )
  }

  /// The slowest URLs of the fastest row.
  private var slowest: BenchView.Table {
    let row = bestRow
    return BenchView.Table(
      title: "The slowest, \(row.map { "\($0.pass.rawValue) with \($0.parallel) at once" } ?? "")",
      head: ["ms", "URL"],
      rows: (row?.slowest ?? []).map { [milliseconds($0.milliseconds), $0.url] }
    )
  }

  private var baseline: BenchView.Table {
    let limit = Markup.decimal((report.baseline?.maxRegression ?? 0) * 100, 1)
    return BenchView.Table(
      title: "Compared with the baseline; more than \(limit) % worse counts as a regression",
      head: ["pass", "at once", "figure", "before", "now", "worse by", "by chance", ""],
      rows: (report.baseline?.findings ?? []).map { finding in
        [
          finding.pass.rawValue, "\(finding.parallel)", finding.metric,
          Markup.number(finding.before),
          Markup.number(finding.now), Markup.decimal(finding.worse * 100, 1) + " %",
          Markup.decimal(finding.probability, 3), finding.regressed ? "regressed" : "",
        ]
      },
      note: report.baseline?.test ?? ""
    )
  }
}

/// The date, the machine and the command of a measurement.
///
/// The page shows them, because the figures depend on the machine and on larder's version.
package struct BenchSetting: Sendable {
  /// The date and time, such as `2026-01-13 06:30 UTC`.
  package let date: String
  /// The machine's name, processors and system, such as `host, 2 processors`.
  package let host: String
  /// The program that measured, with its version, such as `larder 1.2`.
  package let version: String
  /// The command line, with its secrets replaced.
  package let command: String

  package init(date: String, host: String, version: String, command: String) {
    (self.date, self.host, self.version, self.command) = (date, host, version, command)
  }
}

/// The template data of the page.
struct BenchView: PageView {
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
  let plots: [PlotDrawing]
  let tables: [Table]

  init(_ page: BenchPage) {
    title = "larder bench: \(page.title)"
    (heading, subtitle, latency) = (page.title, page.subtitle, page.latencySentence)
    facts = [page.setting.date, page.setting.host, page.setting.version].joined(separator: " · ")
    command = page.setting.command
    (tiles, plots) = (page.tiles, page.plots.map(PlotDrawing.init))
    tables = page.tables
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

  /// A number with at most `digits` decimals and without zeros at the end, such as `1.5`.
  static func decimal(_ value: Double, _ digits: Int) -> String {
    guard value.isFinite else { return "–" }
    let factor = (0..<digits).reduce(1.0) { factor, _ in factor * 10 }
    let whole = Int((value * factor).rounded())
    var text = String(abs(whole))
    while text.count <= digits { text = "0" + text }
    let cut = text.index(text.endIndex, offsetBy: -digits)
    var fraction = text[cut...]
    while fraction.last == "0" { fraction = fraction.dropLast() }
    let sign = whole < 0 ? "−" : ""
    return sign + text[..<cut] + (fraction.isEmpty ? "" : "." + fraction)
  }
}
