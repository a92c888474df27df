import Cache
import Catalog
import FoundationEssentials

/// What `verify` found, as JSON and for people.
struct VerifyDocument: Encodable {
  private let checked: Int
  private let damaged: [String]
  private let missing: [String]
  private let orphans: [String]
  private let unreadable: [String]
  private let index: String
  private let complete: Bool
  private let clean: Bool
  private let unchecked: Int

  private enum CodingKeys: String, CodingKey {
    case checked, damaged, missing, unreadable, index, complete, clean
    case orphans = "stray"
  }

  init(_ report: VerifyReport) {
    checked = report.checked
    damaged = report.damaged
    missing = report.missing
    orphans = report.orphans
    unreadable = report.unreadable
    index = report.index.rawValue
    complete = report.isComplete
    clean = report.isClean
    unchecked = report.unchecked
  }

  /// One line of JSON.
  func json() throws -> [UInt8] {
    try jsonLine()
  }

  /// A line a fault, then the verdict.
  func text(repaired: Bool) -> String {
    var lines = damaged.map { "damaged  \(PlainText.line($0))" }
    lines += missing.map { "missing  \(PlainText.line($0))" }
    lines += orphans.map { "orphan   \(PlainText.line($0))" }
    lines += unreadable.map { "unreadable  \(PlainText.line($0))" }
    if index != "whole" {
      lines.append(
        "the index is \(index)"
          + (repaired
            ? ": it was made anew; run larder sync or warm for each catalog to claim its pictures"
            : "; larder verify --repair makes it anew and keeps the pictures")
      )
    }
    guard complete else {
      lines.append("\(Quantities.count(checked, "picture")) checked; \(interruption)")
      return lines.joined(separator: "\n")
    }
    lines.append("\(Quantities.count(checked, "picture")) checked: \(verdict(repaired: repaired))")
    return lines.joined(separator: "\n")
  }

  /// What a check that was stopped left, and how to go on.
  var interruption: String {
    "interrupted: \(Quantities.count(unchecked, "picture")) not checked; run it again to continue"
  }

  private func verdict(repaired: Bool) -> String {
    guard !clean else { return "clean" }
    var counts = "\(damaged.count) damaged, \(missing.count) missing, \(orphans.count) orphaned"
    if !unreadable.isEmpty { counts += ", \(unreadable.count) unreadable" }
    let hasMending = !damaged.isEmpty || !missing.isEmpty || !orphans.isEmpty
    if hasMending || index != "whole" {
      counts +=
        repaired
        ? "; repaired: run larder sync to fetch what is missing"
        : "; larder verify --repair mends it"
    }
    if !unreadable.isEmpty {
      counts += "; what cannot be read is kept as it is: look at the disk and at who may read it"
    }
    return counts
  }
}
