/// A report as one self-contained HTML page: nothing is loaded from anywhere, and nothing runs.
package struct BenchPage: Sendable {
  private let report: BenchReport
  private let title: String
  private let setting: BenchSetting

  /// The page of a report; `title` says what was measured.
  package init(_ report: BenchReport, title: String, setting: BenchSetting) {
    self.report = report
    self.title = title
    self.setting = setting
  }

  /// The page's text.
  package var html: String {
    """
    <!doctype html>
    <html lang="en"><head><meta charset="utf-8">
    <meta name="viewport" content="width=device-width,initial-scale=1">
    <title>larder bench: \(Markup.escaped(title))</title>
    <style>\(PageStyle.css)</style></head>
    <body><main>
    <h1>\(Markup.escaped(title))</h1>
    <p class="faint">\(Markup.escaped(subtitle))</p>
    \(setting.html)
    \(tiles)
    <p>\(Markup.escaped(sentence(report.latency)))</p>
    <div class="plots">
    \(figures.joined(separator: "\n"))
    </div>
    \(BenchPageTables(report).html)
    </main></body></html>

    """
  }

  private var passes: [Pass] {
    Pass.allCases.filter { pass in report.runs.contains { $0.pass == pass } }
  }

  private func rows(_ pass: Pass) -> [BenchReport.Row] {
    report.runs.filter { $0.pass == pass }.sorted { $0.parallel < $1.parallel }
  }

  private var subtitle: String {
    let sink =
      report.sink == .cache
      ? "pictures written, hashed and indexed in a cache of their own"
      : "pictures fetched and thrown away"
    let rate = report.rate.map { ", \(Markup.number($0)) requests a second" } ?? ""
    return "larder bench: \(sink)\(rate)\(report.interrupted ? "; interrupted" : "")"
  }

  private func sentence(_ text: String) -> String {
    guard let first = text.first else { return "" }
    return first.uppercased() + text.dropFirst() + "."
  }

  private var tiles: String {
    guard let best = report.best,
      let row = report.runs.first(where: { $0.pass == best.pass && $0.parallel == best.parallel })
    else { return "" }
    let reuse = row.connections.reused + row.connections.opened
    let tiles = [
      (Markup.number(best.imagesPerSecond) + "/s", "pictures, \(best.pass.rawValue), at best"),
      ("\(best.parallel)", "transfers at once for that"),
      (Markup.number(best.bytesPerSecond / 1_048_576) + " MiB/s", "picture bytes"),
      (row.totalMilliseconds.p99.map { Markup.number($0) + " ms" } ?? "–", "99 % took no longer"),
      (
        reuse > 0
          ? Markup.decimal(100 * Double(row.connections.reused) / Double(reuse), 1) + " %" : "–",
        "found an open connection"
      ),
      (row.protocols.keys.sorted().joined(separator: ", "), "protocol"),
    ]
    let items = tiles.map {
      "<li><b>\(Markup.escaped($0.0))</b><span>\(Markup.escaped($0.1))</span></li>"
    }
    return "<ul class=\"tiles\">\(items.joined())</ul>"
  }

  private var figures: [String] {
    var figures: [String] = []
    if report.runs.contains(where: { $0.imagesPerSecond > 0 }) {
      figures.append(throughput.figure)
    }
    if report.runs.contains(where: { $0.totalMilliseconds.count > 0 }) {
      figures += [latency.figure, spectrum.figure, timeline.figure]
    }
    return figures
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

  /// The rows at the parallelism that was best, where the other plots look.
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
