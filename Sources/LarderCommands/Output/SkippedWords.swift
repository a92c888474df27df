import Larder

extension SyncReport.Skipped {
  /// The row in words: which item of which section, what is lost, and why.
  var words: String {
    let item = [index.map { "item \($0)" }, id].compactMap(\.self)
    let name = item.isEmpty ? "an item" : item.joined(separator: ", ")
    switch lost {
    case .item:
      return "section \(section): skipped \(name)" + (field.map { ", \($0)" } ?? "")
        + ": \(reason)"
    case .field:
      let part = index == nil ? "detail field" : "field"
      return "section \(section): \(name): left out \(part)" + (field.map { " \($0)" } ?? "")
        + ": \(reason)"
    }
  }
}
