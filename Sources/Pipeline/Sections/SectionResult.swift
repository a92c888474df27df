import Cache
import Catalog
import FoundationEssentials

/// The result of a section in this run, for the report and the index.
struct SectionResult: Sendable {
  var key: String
  var title: String
  var subtitle: String?
  var source: SyncReport.Source
  /// The listing to show: the feed's items, and missing items that the shrink guard kept because their removal looks
  /// like a fault.
  var listing: ListingID?
  var withheld: [String] = []
  /// The fields that made a guard reject the feed's whole listing: they are gone, or suspiciously uniform.
  ///
  /// Empty if the listing was accepted, or was rejected for another reason.
  var findings: [FieldGuard.Finding] = []
  /// The ids of items whose last good versions are kept because the items, or a page that may list them, cannot be
  /// read.
  var unread: [String] = []
  var skipped: [SyncReport.Skipped] = []
  /// Counts of the unreadable items and fields that are not in `skipped`.
  var omitted = SkipTally()
  /// The number of items that were left out because an earlier page had listed them.
  var repeats = 0
  var error: String?
  /// A possible fault that does not affect the shown items.
  var warning: String?
  /// The remedy.
  var remedy: SyncReport.Remedy?
  /// Whether cached pages were used after an error, as the origin allows; if so, the section has not failed.
  var isExcused = false
}

extension SectionReading {
  /// The warning that the pages, although complete, list fewer items than the listing announces; nil when there is no
  /// difference.
  fileprivate func shortfall(of joined: JoinedSection) -> String? {
    guard broken == nil, ceiling == nil, excused == nil, let (total, listed) = joined.shortfall
    else { return nil }
    return "the shop announces \(total) items, but its pages list only \(listed); "
      + "check paging in the catalog file"
  }
}

extension SectionResult {
  /// Makes the result of a section from its pages, after the guards judged them.
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

  /// Records a guard's message about the section.
  mutating func note(_ finding: GuardMessage.Finding) {
    error = finding.problem
    remedy = finding.remedy
  }
}

/// Findings about a decoded section, stored in the index with its page.
///
/// The findings are reported again when the page is unchanged and therefore not decoded.
struct SectionNotes: Sendable, Equatable {
  /// The unreadable items and fields, up to a limit.
  var skipped: [SyncReport.Skipped] = []
  /// Counts of the unreadable items and fields beyond the limit.
  var omitted = SkipTally()
  /// Whether reading stopped early because too many items were unreadable.
  var isGivenUp = false
  /// The fields that the catalog file names but no item has.
  var absent: Set<ItemField> = []
  /// The reason why the whole section is unusable; nil when it is usable.
  var failure: String?
  /// The evidence that the listing has further pages that are not read; nil when there is none.
  var unfollowed: String?
  /// The total number of items that a paged listing announces; nil when it announces none.
  var total: Int?
  /// The number of elements on this page of the listing, readable or not; nil when the listing announces no total.
  var listed: Int?

  /// The number of unreadable items.
  var lost: Int { skipped.count(where: \.isUnread) + omitted.unread }

  /// The ids of unreadable items that have a row and a readable id.
  var unreadIDs: Set<String> { Set(skipped.filter(\.isUnread).compactMap(\.id)) }

  /// Adds the notes of the next page.
  mutating func add(_ page: SectionNotes) {
    let room = max(0, SkipTally.mostRows - skipped.count)
    skipped += page.skipped.prefix(room)
    for row in page.skipped.dropFirst(room) { omitted.add(row.lost, row.reason) }
    omitted.add(page.omitted)
    isGivenUp = isGivenUp || page.isGivenUp
    absent.formIntersection(page.absent)
    failure = failure ?? page.failure
    unfollowed = unfollowed ?? page.unfollowed
    total = page.total ?? total
  }
}

extension SectionNotes {
  /// The notes as JSON; empty when there are none.
  var text: String {
    if self == SectionNotes(skipped: skipped) { return SkippedText.write(skipped) }
    var writer = StoredFormWriter()
    writer.object {
      $0.member("absent", absent.map(\.rawValue).sorted())
      $0.member("failure", failure)
      if isGivenUp { $0.member("givenUp", Int(1)) }
      if let listed { $0.member("listed", listed) }
      if !omitted.isEmpty {
        $0.name("omitted")
        $0.object {
          $0.member("items", omitted.items)
          $0.name("reasons")
          $0.value(omitted.reasons)
        }
      }
      $0.name("skipped")
      $0.value(skipped)
      if let total { $0.member("total", total) }
      if let unfollowed { $0.member("unfollowed", unfollowed) }
    }
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Parses ``text``, or the older form with only the skipped items.
  init(_ text: String) {
    guard text.hasPrefix("{") else {
      if !text.isEmpty { skipped = SkippedText.rows(text) }
      return
    }
    guard let form = try? JSONDecoder().decode(Form.self, from: Data(text.utf8)) else { return }
    skipped = form.skipped
    omitted = form.omitted ?? SkipTally()
    isGivenUp = form.givenUp == 1
    absent = Set(form.absent.compactMap(ItemField.init))
    failure = form.failure
    unfollowed = form.unfollowed
    total = form.total
    listed = form.listed
  }

  private struct Form: Decodable {
    var absent: [String]
    var failure: String?
    var givenUp: Int?
    var listed: Int?
    var omitted: SkipTally?
    var skipped: [SyncReport.Skipped]
    var total: Int?
    var unfollowed: String?
  }
}

/// Skipped items as stored in the index.
enum SkippedText {
  /// The items as JSON; empty when there are none.
  static func write(_ skipped: [SyncReport.Skipped]) -> String {
    guard !skipped.isEmpty else { return "" }
    var writer = StoredFormWriter()
    writer.value(skipped)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  /// Parses the output of ``write(_:)``.
  fileprivate static func rows(_ text: String) -> [SyncReport.Skipped] {
    (try? JSONDecoder().decode([SyncReport.Skipped].self, from: Data(text.utf8))) ?? []
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
