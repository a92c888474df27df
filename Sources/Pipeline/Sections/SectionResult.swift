import Base
import Cache
import Catalog
import FoundationEssentials

/// The result of a section in a run, for the report and the index.
///
/// A section is a list of items, such as all soups. In the index, its items are stored as a listing.
///
/// The members of ``row``, for example `key` and `error`, are members of this type too.
@dynamicMemberLookup
struct SectionResult: Sendable {
  /// The section's row in the report, without its counts.
  var row: SyncReport.Section
  var subtitle: String?
  /// The listing to show.
  ///
  /// It is the listing of the last run if a guard rejected the new one. A guard is a check that rejects a change if it
  /// looks like a fault of the shop.
  var listing: ListingID?
  /// The ids of items that the shop no longer lists, and that are shown because a guard rejected the new listing.
  var withheld: [String] = []
  /// The ids of items that the shop no longer lists and that are not shown, until all sections are judged together.
  var vanished: [String] = []
  /// The unreadable items and fields.
  var notes = SectionNotes()
  /// Whether cached pages were used after an error, as the shop's response allows; if so, the section has not failed.
  var isExcused = false

  subscript<Value>(
    dynamicMember member: WritableKeyPath<SyncReport.Section, Value>
  ) -> Value {
    get { row[keyPath: member] }
    set { row[keyPath: member] = newValue }
  }
}

extension SectionResult {
  /// Makes the result of a section from its pages, before the guards judge it.
  init(_ joined: JoinedSection, of reading: SectionReading) {
    let isWhole = reading.broken == nil && reading.ceiling == nil && reading.excused == nil
    row = SyncReport.Section(
      key: joined.section.key,
      title: joined.section.title,
      repeats: joined.repeats,
      source: reading.excused != nil ? .stale : reading.isNew ? .network : .unchanged,
      error: reading.excused ?? reading.broken ?? reading.ceiling,
      warning: joined.notes.unfollowed ?? (isWhole ? joined.shortfall : nil)
    )
    subtitle = joined.section.subtitle
    listing = joined.section.listing
    notes = joined.notes
    isExcused = reading.excused != nil
  }

  mutating func note(_ finding: GuardMessage.Finding) {
    row.error = finding.problem
    row.remedy = finding.remedy
  }
}

/// Findings about a section on one page.
///
/// They are stored in the index with the page.
///
/// If the page is unchanged in a later run, it is not decoded again, so that run reports these findings again.
struct SectionNotes: Sendable, Equatable, Codable {
  /// The unreadable items and fields, at most 1,000.
  var skipped: [SyncReport.Skipped] = []
  /// Counts of the unreadable items and fields beyond the limit.
  var omitted = SkipTally()
  /// Whether reading stopped early because too many items were unreadable.
  var isGivenUp = false
  /// The fields that have a path in the catalog file, but no value in any item.
  var absent: [ItemField] = []
  /// The reason why the whole section is unusable; nil if it is usable.
  var failure: String?
  /// A reason to assume that the section has further pages that are not read; nil if there is no such reason.
  var unfollowed: String?
  /// The total number of items of a section with several pages, as the shop announces it; nil if the shop announces
  /// none.
  var total: Int?
  /// The number of elements of the shop's list on this page; nil if it is not known, or not needed because the page has
  /// items and the shop announces no total.
  var listed: Int?

  /// The number of unreadable items.
  var lost: Int { skipped.count(where: \.isUnread) + omitted.unread }

  /// The ids of the unreadable items in `skipped`, if the ids can be read.
  var unreadIDs: Set<ExactText> {
    Set(skipped.filter(\.isUnread).compactMap { $0.id?.exact })
  }

  /// Adds the notes of the next page.
  mutating func add(_ page: SectionNotes) {
    add(skipped: page.skipped)
    omitted.add(page.omitted)
    isGivenUp = isGivenUp || page.isGivenUp
    absent.removeAll { !page.absent.contains($0) }
    failure = failure ?? page.failure
    unfollowed = unfollowed ?? page.unfollowed
    // If a page announces fewer than an earlier one, the list changed between them.
    total = [total, page.total].compactMap(\.self).max()
  }

  /// Adds unreadable items and fields, and counts those beyond the limit.
  mutating func add(skipped rows: [SyncReport.Skipped]) {
    let room = max(0, SkipTally.mostRows - skipped.count)
    skipped += rows.prefix(room)
    for row in rows.dropFirst(room) { omitted.add(row.lost, row.reason) }
  }
}

extension SectionNotes {
  /// The notes as JSON; an empty text if there are none.
  var text: String {
    guard self != SectionNotes() else { return "" }
    // Encoding cannot fail, because there are only texts and whole numbers.
    return String(decoding: (try? self.jsonLine()) ?? [], as: UTF8.self)
  }

  /// Parses the output of ``text``.
  init(_ text: String) {
    guard !text.isEmpty else { return }
    self = (try? JSONDecoder().decode(Self.self, from: Data(text.utf8))) ?? SectionNotes()
  }
}

extension SyncReport.Skipped {
  /// Whether this is an unreadable item, and not one that was skipped because its id is repeated.
  var isUnread: Bool { lost == .item && reason != SkippedItem.duplicateID }

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
