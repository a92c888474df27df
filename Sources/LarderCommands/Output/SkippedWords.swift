import Catalog
import Pipeline

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
