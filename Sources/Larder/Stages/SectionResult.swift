import Cache
import Catalog

/// A section as this run found it, before the report is written.
struct SectionResult: Sendable {
  var key: String
  var title: String
  var subtitle: String?
  var source: SyncReport.Source
  /// What is shown: the feed's items and those the shrink guard kept.
  var listing: Int64?
  var withheld: [String] = []
  /// The fields that the feed has lost and that items keep from before.
  var kept: [ItemField] = []
  /// The items that the feed lists, that cannot be read, and that stay as they were.
  var unread: [String] = []
  var skipped: [SyncReport.Skipped] = []
  var error: String?
  /// Whether the origin itself lets what is held stand in for an error, so that nothing failed.
  var isExcused = false
}

extension SectionResult {
  /// What the pages of a section came to, and the guards after them; `excused` is the error that one
  /// of them stands in for.
  init(
    _ section: DecodedSection,
    _ guarded: GuardedListing,
    isNew: Bool,
    excused: String?
  ) {
    self.init(
      key: section.key,
      title: section.title,
      subtitle: section.subtitle,
      source: excused != nil ? .stale : isNew ? .network : .unchanged,
      listing: guarded.listing,
      withheld: guarded.withheld,
      kept: guarded.kept,
      unread: guarded.unread,
      skipped: SkippedText.read(section.skipped),
      error: excused,
      isExcused: excused != nil
    )
  }
}
