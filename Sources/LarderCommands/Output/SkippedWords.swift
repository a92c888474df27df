import Catalog
import Pipeline

extension SyncReport {
  /// What could not be read and is counted alone, a sentence a section.
  var omittedSkips: [String] {
    sections.filter { !$0.skippedReasons.isEmpty }.map {
      "section \($0.key): … and \(Self.words($0.skippedReasons))"
    }
  }

  /// What failed and is counted alone, a sentence a stage.
  var omittedFailures: [String] {
    Stage.allCases.compactMap { stage in
      failuresOmitted[stage].map { "\(stage.rawValue): … and \(Self.words($0))" }
    }
  }

  /// `1,048 more: 1,000 × expected an object, found a number, 48 × the item has no id`, the most frequent first.
  private static func words(_ counts: [String: Int]) -> String {
    let reasons = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(5)
      .map { "\(Quantities.grouped($0.value)) × \($0.key)" }.joined(separator: ", ")
    return "\(Quantities.grouped(counts.values.reduce(0, +))) more: \(reasons)"
      + (counts.count > 5 ? ", …" : "")
  }
}

extension SyncReport.Skipped {
  /// The row in words: which item of which section, what is lost, and why.
  var words: String {
    let place = index.map { "item \($0)" } ?? "an item"
    let name = place + (id.map { " (\($0))" } ?? "")
    switch lost {
    case .item where reason == SkippedItem.duplicateID:
      return "section \(section): skipped \(name): an earlier item of the section has the same id"
    case .item:
      return "section \(section): skipped \(name)" + (field.map { ", \($0)" } ?? "")
        + ": \(reason)"
    case .field:
      let part = index == nil ? "the detail's field" : "field"
      return "section \(section): \(name): left out \(part)" + (field.map { " \($0)" } ?? "")
        + ": \(reason)"
    }
  }
}
