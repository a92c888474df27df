import Catalog
import FoundationEssentials

/// Skipped items as they stand in the index, so that an unchanged section still reports them.
enum SkippedText {
  /// The items as JSON; nothing when there are none.
  static func write(_ skipped: [SyncReport.Skipped]) -> String {
    guard !skipped.isEmpty else { return "" }
    var writer = StoredFormWriter()
    writer.value(skipped)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Reads back what ``write(_:)`` gave.
  static func read(_ text: String) -> [SyncReport.Skipped] {
    guard !text.isEmpty else { return [] }
    return (try? JSONDecoder().decode([SyncReport.Skipped].self, from: Data(text.utf8))) ?? []
  }
}

extension SyncReport.Skipped {
  init(_ item: SkippedItem) {
    self.init(
      section: item.section,
      index: item.index,
      field: item.field,
      id: item.id,
      lost: item.lost,
      reason: item.reason
    )
  }
}
