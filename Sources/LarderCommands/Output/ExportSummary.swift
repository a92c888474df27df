import Catalog
import Pipeline

/// What an export did, as people read it.
struct ExportSummary {
  private let report: CacheExport.Report
  private let folder: String

  init(_ report: CacheExport.Report, folder: String) {
    self.report = report
    self.folder = folder
  }

  /// A line for each collision, each picture that is not held and each file that could not be written, then the sum.
  var text: String {
    var lines = report.collisions.map { "taken    \($0.wanted): \($0.url) is \($0.path)" }
    lines += report.missing.map { "missing  \($0)" }
    lines += report.failed.map { "failed   \($0.url): \($0.reason)" }
    if report.unfinished > 0 {
      lines.append(
        "\(folder): interrupted: \(Quantities.count(report.files, "picture")) there, "
          + "\(report.unfinished) not exported and no manifest written; run it again to continue"
      )
      return lines.map(PlainText.row).joined(separator: "\n")
    }
    var sum =
      "\(folder): \(Quantities.count(report.files, "picture")), \(report.linked) linked, "
      + "\(report.copied) copied, \(report.unchanged) there already; catalog.json, "
      + "manifest.jsonl, manifest.csv"
    if report.places > 0 {
      sum += ", items.geojson with \(Quantities.count(report.places, "place"))"
    }
    if report.squares > 0 { sum += "; \(Quantities.count(report.squares, "square"))" }
    if report.deleted > 0 { sum += "; \(Quantities.count(report.deleted, "old file")) removed" }
    lines.append(sum)
    return lines.map(PlainText.row).joined(separator: "\n")
  }
}
