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
  /// Why the feed's listing as a whole looks like a fault; empty when its values are not the reason.
  var findings: [FieldGuard.Finding] = []
  /// The items that the feed lists, that cannot be read, and that stay as they were.
  var unread: [String] = []
  var skipped: [SyncReport.Skipped] = []
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
    _ guarded: GuardedListing,
    of reading: SectionReading
  ) {
    self.init(
      key: joined.section.key,
      title: joined.section.title,
      subtitle: joined.section.subtitle,
      source: guarded.isWhole
        ? .withheld : reading.excused != nil ? .stale : reading.isNew ? .network : .unchanged,
      listing: guarded.listing,
      withheld: guarded.withheld,
      findings: guarded.findings,
      unread: guarded.unread,
      skipped: SkippedText.read(joined.section.skipped),
      repeats: joined.repeats,
      error: reading.excused ?? reading.ceiling,
      warning: SectionNotes(joined.section.skipped).unfollowed,
      isExcused: reading.excused != nil
    )
  }

  /// Says why the section is not shown as it came.
  mutating func note(_ finding: GuardWords.Finding) {
    error = finding.problem
    remedy = finding.remedy
  }
}
