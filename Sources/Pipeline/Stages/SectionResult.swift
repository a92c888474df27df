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
  /// The items that stay as they were because they, or the page that may list them, cannot be read.
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

extension SectionReading {
  /// The sentence about pages that all came, and list fewer items than the listing says that it has.
  fileprivate func shortfall(of joined: JoinedSection) -> String? {
    guard broken == nil, ceiling == nil, excused == nil, let (total, listed) = joined.shortfall
    else { return nil }
    return "the shop says that there are \(total) items, and its pages list \(listed); "
      + "look at paging in the catalog file"
  }
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
      source: guarded.isWhole
        ? .withheld : reading.excused != nil ? .stale : reading.isNew ? .network : .unchanged,
      listing: guarded.listing,
      withheld: guarded.withheld,
      findings: guarded.findings,
      unread: guarded.unread,
      skipped: notes.skipped,
      omitted: notes.omitted,
      repeats: joined.repeats,
      error: reading.excused ?? reading.broken ?? reading.ceiling,
      warning: notes.unfollowed ?? reading.shortfall(of: joined),
      isExcused: reading.excused != nil
    )
  }

  /// Says why the section is not shown as it came.
  mutating func note(_ finding: GuardWords.Finding) {
    error = finding.problem
    remedy = finding.remedy
  }
}
