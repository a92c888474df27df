import Cache
import Catalog

/// A section as this run found it, before the report is written.
struct SectionResult: Sendable {
  var key: String
  var title: String
  var subtitle: String?
  var source: SyncReport.Source
  /// What is shown: the feed's items and those the shrink guard kept.
  var listing: ListingID?
  var withheld: [String] = []
  /// The fields that the feed has lost and that items keep from before.
  var kept: [ItemField] = []
  /// The items that the feed lists, that cannot be read, and that stay as they were.
  var unread: [String] = []
  var skipped: [SyncReport.Skipped] = []
  /// Counts of what else could not be read.
  var omitted = SkipTally()
  /// How many items were left out because an earlier page listed them.
  var repeats = 0
  var error: String?
  /// What may be amiss although the section is shown as it came.
  var warning: String?
  /// What helps.
  var remedy: SyncReport.Remedy?
  /// Whether the origin itself lets what is held stand in for an error, so that nothing failed.
  var isExcused = false
}

extension SectionResult {
  /// What the pages of a section came to, and the guards after them.
  init(
    _ joined: JoinedSection,
    _ notes: SectionNotes,
    _ guarded: GuardedListing,
    of reading: SectionReading
  ) {
    self.init(
      key: joined.section.key,
      title: joined.section.title,
      subtitle: joined.section.subtitle,
      source: reading.excused != nil ? .stale : reading.isNew ? .network : .unchanged,
      listing: guarded.listing,
      withheld: guarded.withheld,
      kept: guarded.kept,
      unread: guarded.unread,
      skipped: notes.skipped,
      omitted: notes.omitted,
      repeats: joined.repeats,
      error: reading.excused ?? reading.ceiling,
      warning: notes.unfollowed,
      isExcused: reading.excused != nil
    )
  }

  /// Says why the section is not shown as it came.
  mutating func note(_ finding: GuardWords.Finding) {
    error = finding.problem
    remedy = finding.remedy
  }
}
