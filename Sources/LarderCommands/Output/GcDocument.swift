import Cache
import Catalog
import Pipeline
import Transport

/// What a sweep did or would do, as JSON and for people.
struct GcDocument: Encodable {
  private struct Removal: Encodable {
    var url: String
    var path: String
    var bytes: ByteCount
    var reason: String
    @OrNull var unreferencedSince: String?
    var used: String
  }

  private let dryRun: Bool
  private let removed: [Removal]
  private let orphans: [String]
  private let runsForgotten: Int
  private let bytesFreed: ByteCount
  private let bytesKept: ByteCount
  private let bytesOver: ByteCount
  private let unfinished: Int

  private enum CodingKeys: String, CodingKey {
    case dryRun, removed, runsForgotten, bytesFreed, bytesKept, bytesOver
    case unfinished
    case orphans = "strays"
  }

  init(_ report: CacheGc.Report, isDryRun: Bool) {
    dryRun = isDryRun
    removed = report.plan.removals.map { removal in
      let picture = removal.picture
      return Removal(
        url: picture.url,
        path: PictureName(url: picture.url, id: picture.id).path,
        bytes: picture.bytes,
        reason: removal.reason.rawValue,
        unreferencedSince: picture.unreferenced.map(\.rfc3339),
        used: picture.used.rfc3339
      )
    }
    orphans = report.orphans
    runsForgotten = report.runs
    bytesFreed = report.plan.bytesFreed
    bytesKept = report.plan.bytesKept
    bytesOver = report.plan.bytesOver
    unfinished = report.unfinished
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// A line for each thing that goes, if all are asked for, then the sum.
  func text(all: Bool) -> String {
    var lines: [String] = []
    if all {
      lines += removed.map { removal in
        let since = removal.unreferencedSince.map { " since \($0)" } ?? ""
        return "\(removal.reason)\(since)  \(removal.path)  \(PlainText.line(removal.url))"
      }
      lines += orphans.map { "orphan  \(PlainText.line($0))" }
    }
    var sum =
      "\(Quantities.count(removed.count, "picture")) and \(Quantities.count(orphans.count, "orphan")) "
      + (dryRun ? "would go" : "removed") + ": \(Quantities.bytes(bytesFreed)) freed, "
      + "\(Quantities.bytes(bytesKept)) kept"
    if runsForgotten > 0 { sum += ", \(Quantities.count(runsForgotten, "old run")) forgotten" }
    lines.append(sum)
    if unfinished > 0 {
      lines.append(
        "interrupted: \(Quantities.count(unfinished, "file")) still to go; run it again to continue"
      )
    }
    if bytesOver > 0 {
      lines.append(
        "\(Quantities.bytes(bytesOver)) more than --max-size are held because catalogs refer to "
          + "them; --include-referenced takes those too"
      )
    }
    return lines.joined(separator: "\n")
  }
}
