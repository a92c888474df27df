import Cache
import Catalog
import FoundationEssentials

/// A section as this run found it, before the report is written.
struct SectionResult: Sendable {
  var key: String
  var title: String
  var subtitle: String?
  var source: SyncReport.Source
  /// The shown listing: the feed's items and those that the shrink guard kept.
  var listing: ListingID?
  var withheld: [String] = []
  /// Why the feed's listing as a whole looks like a fault; empty when its values are not the reason.
  var findings: [FieldGuard.Finding] = []
  /// The items that stay as they were because they, or the page that may list them, cannot be read.
  var unread: [String] = []
  var skipped: [SyncReport.Skipped] = []
  /// Counts of the other unreadable items.
  var omitted = SkipTally()
  /// How many items were left out because an earlier page listed them.
  var repeats = 0
  var error: String?
  /// A possible fault although the section is shown unchanged.
  var warning: String?
  /// The remedy.
  var remedy: SyncReport.Remedy?
  /// Whether the origin itself lets the held version replace an error, so that nothing failed.
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
  /// The result of a section's pages after the guards.
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
  mutating func note(_ finding: GuardMessage.Finding) {
    error = finding.problem
    remedy = finding.remedy
  }
}

/// The data about a decoded section besides its items, as the index keeps it with a page, so that an
/// unchanged one still reports it.
struct SectionNotes: Sendable, Equatable {
  /// The items and fields that could not be read: the first of them.
  var skipped: [SyncReport.Skipped] = []
  /// Counts of the others.
  var omitted = SkipTally()
  /// Whether the section was not read to its end, because too much of it is lost.
  var isGivenUp = false
  /// The fields that the catalog file names and that no item yields.
  var absent: Set<ItemField> = []
  /// Why the section as a whole cannot be used; nil when it can.
  var failure: String?
  /// The sign that the listing has pages that are not read; nil when there is none.
  var unfollowed: String?
  /// How many items there are by the listing's own account, of one that is read page by page; nil when it does not say.
  var total: Int?
  /// The number of elements on such a page, read or not; nil when it announces no total.
  var listed: Int?

  /// How many items could not be read.
  var lost: Int { skipped.count(where: \.isUnread) + omitted.unread }

  /// The ids of the items that could not be read, as far as these could and have rows.
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
  /// The notes as JSON; nothing when there are none.
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

  /// Parses ``text``; also that of an older larder, which has only the skipped items.
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
  /// The items as JSON; nothing when there are none.
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
  /// Whether it stands for an item that could not be read, and not for a second one of its id.
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
