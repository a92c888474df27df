/// The content of a listing's body: its sections with their usable items, and the items that were skipped.
public struct DecodedListing: Hashable, Sendable {
  /// The sections: one, unless a single response holds all sections.
  public var sections: [Section]
  /// Skipped items and fields in feed order: at most ``SkipTally/mostRows`` rows for each section, and ten times as
  /// many in all.
  public private(set) var skipped: [SkippedItem] = []
  /// By section, counts of skipped items and fields beyond the rows of ``skipped``.
  public private(set) var omitted: [String: SkipTally] = [:]
  /// The keys of sections whose decoding stopped early, because more of their items were unreadable than the limit
  /// allows.
  public package(set) var givenUp: Set<String> = []
  /// The sections of a combined response that cannot be used.
  public var failed: [FailedSection] = []
  /// By section, the mapped fields that no element of the section has.
  ///
  /// A section without elements lacks all mapped fields.
  public var absent: [String: Set<ItemField>] = [:]
  /// How many elements the body listed, skipped ones included.
  ///
  /// If pages are counted, a page with 0 elements is the end.
  public var elementCount: Int
  /// The cursor or URL of the next page in the body, if the paging uses it.
  public var nextPage: String?
  /// The total number of elements that the body states; nil when it states none, or a transform made the listing.
  public var total: Int?
  /// The sign in the body that there are more pages, such as "has_more is true"; nil without a sign, or after a
  /// transform.
  package var continuation: String?
  /// How many rows of ``skipped`` a section has.
  private var rows: [String: Int] = [:]

  /// Makes a listing.
  public init(
    sections: [Section],
    skipped: [SkippedItem] = [],
    elementCount: Int,
    nextPage: String? = nil
  ) {
    self.sections = sections
    self.elementCount = elementCount
    self.nextPage = nextPage
    for row in skipped { note(row) }
  }

  /// How many elements could not be used, and are therefore missing in the sections.
  public var lost: Int {
    skipped.count { $0.lost == .item } + omitted.values.reduce(0) { $0 + $1.items }
  }

  /// Records a skipped item or field: as a row, or only as a count once the section has many rows.
  mutating func note(_ row: SkippedItem) {
    let count = rows[row.section, default: 0]
    if count < SkipTally.mostRows, skipped.count < 10 * SkipTally.mostRows {
      rows[row.section] = count + 1
      skipped.append(row)
    } else {
      omitted[row.section, default: SkipTally()].add(row.lost, row.reason)
    }
  }

  /// Adds the next page: its items extend sections with the same key, and other sections are appended.
  ///
  /// - Parameter page: The next page, decoded with a `firstIndex` that counts this listing's elements.
  public mutating func append(_ page: DecodedListing) {
    append(page, isNew: false)
  }

  /// Adds a page; `isNew` says that this listing has none of the page's sections yet, so that no search is needed.
  mutating func append(_ page: DecodedListing, isNew: Bool) {
    for section in page.sections {
      if !isNew, let index = sections.firstIndex(where: { $0.key == section.key }) {
        sections[index].items += section.items
      } else {
        sections.append(section)
      }
    }
    for row in page.skipped { note(row) }
    for (key, tally) in page.omitted { omitted[key, default: SkipTally()].add(tally) }
    givenUp.formUnion(page.givenUp)
    failed += page.failed
    absent.merge(page.absent) { $0.intersection($1) }
    elementCount += page.elementCount
    nextPage = page.nextPage
    total = total ?? page.total
    continuation = continuation ?? page.continuation
  }

  /// If several items of a section have the same id, keeps only the first.
  ///
  /// An equal repetition is dropped silently; one with other values is recorded as skipped.
  package mutating func dropRepeats() {
    for place in sections.indices {
      let items = sections[place].items
      let repeats = PackedIDs(items.lazy.map(\.id)).repeats
      guard !repeats.isEmpty else { continue }
      let others = repeats.filter { items[$0.place] != items[$0.first] }.map(\.place)
      noteDuplicates(others.map { ($0, items[$0].id) }, in: sections[place].key)
      let dropped = Set(repeats.map(\.place))
      sections[place].items = items.indices.filter { !dropped.contains($0) }.map { items[$0] }
    }
  }

  /// Records items as skipped because an earlier item of the section has the same id.
  ///
  /// - Parameters:
  ///   - items: The items' ids, each with its index among the readable items, in ascending order.
  ///   - key: The key of the section.
  package mutating func noteDuplicates(_ items: [(place: Int, id: String)], in key: String) {
    guard !items.isEmpty else { return }
    var own = skipped.filter { $0.section == key }
    let unread = own.filter(\.isUnread).map(\.index)
    var before = 0
    for (place, id) in items.prefix(SkipTally.mostRows) {
      while before < unread.count, unread[before] <= place + before { before += 1 }
      own.append(
        SkippedItem(
          section: key,
          index: place + before,
          field: nil,
          id: id,
          lost: .item,
          reason: SkippedItem.duplicateID
        )
      )
    }
    skipped.removeAll { $0.section == key }
    rows[key] = nil
    for row in own.sorted(by: { $0.index < $1.index }) { note(row) }
    for _ in items.dropFirst(SkipTally.mostRows) {
      omitted[key, default: SkipTally()].add(.item, SkippedItem.duplicateID)
    }
  }

  /// Moves all sections that share a key to ``failed``, because nothing says which of them is the right one.
  ///
  /// - Returns: The indices that the removed sections had in ``sections``.
  package mutating func refuseRepeatedKeys() -> [Int] {
    let repeats = failed.filter(\.repeatsKey)
    guard !repeats.isEmpty else { return [] }
    let reasons = Dictionary(repeats.map { ($0.key ?? "", $0.reason) }) { first, _ in first }
    let taken = Set(failed.map(\.index))
    let positions = (0..<sections.count + failed.count).filter { !taken.contains($0) }
    let places = sections.indices.filter { reasons[sections[$0].key] != nil }
    for place in places {
      let key = sections[place].key
      let reason = reasons[key] ?? ""
      failed.append(FailedSection(index: positions[place], key: key, reason: reason))
    }
    failed.sort { $0.index < $1.index }
    sections.removeAll { reasons[$0.key] != nil }
    skipped.removeAll { reasons[$0.section] != nil }
    for key in reasons.keys {
      (absent[key], omitted[key], rows[key]) = (nil, nil, nil)
      givenUp.remove(key)
    }
    return places
  }

  /// Removes from ``absent`` every field that some section has.
  ///
  /// The sections of one response are read by the same paths. Therefore a field that only some sections lack is not
  /// missing.
  package mutating func settleAbsence() {
    let all = absent.values.dropFirst().reduce(absent.values.first ?? []) { $0.intersection($1) }
    for key in absent.keys { absent[key] = all }
  }
}

/// A section of a combined response that cannot be used.
public struct FailedSection: Hashable, Sendable {
  /// Its position among the sections, counted from 0.
  public var index: Int
  /// Its key; nil when it has none that can be read.
  public var key: String?
  /// Why it cannot be used, and a possible remedy.
  public var reason: String
  /// Whether an earlier section of the same body has the key too.
  var repeatsKey = false

  /// Makes a record.
  public init(index: Int, key: String?, reason: String) {
    self.index = index
    self.key = key
    self.reason = reason
  }
}

/// Counts of the unreadable items and fields of a section that are not listed in ``DecodedListing/skipped``.
public struct SkipTally: Hashable, Sendable, Codable {
  /// At most this many rows are kept for each section; further skips are only counted.
  public static let mostRows = 1000
  /// At most this many reasons are counted separately.
  ///
  /// A reason may quote the feed, so each may be different.
  private static let mostReasons = 50

  /// How many whole elements were counted.
  public private(set) var items = 0
  /// How many elements and fields were counted, by reason.
  public private(set) var reasons: [String: Int] = [:]

  /// Makes an empty tally.
  public init() {}

  /// How many elements could not be read; elements that repeat an id are not counted.
  package var unread: Int { items - (reasons[SkippedItem.duplicateID] ?? 0) }
  /// Whether nothing was counted.
  public var isEmpty: Bool { reasons.isEmpty }
  /// How many elements and fields were counted.
  public var count: Int { reasons.values.reduce(0, +) }

  /// Counts one skipped element or field.
  public mutating func add(_ loss: SkippedItem.Loss, _ reason: String) {
    if loss == .item { items += 1 }
    add(1, reason)
  }

  /// Adds the counts of another part of the section.
  public mutating func add(_ other: SkipTally) {
    items += other.items
    for (reason, count) in other.reasons.sorted(by: { $0.key < $1.key }) { add(count, reason) }
  }

  private mutating func add(_ count: Int, _ reason: String) {
    let isKnown = reasons[reason] != nil || reasons.count < Self.mostReasons
    reasons[isKnown ? reason : "other reasons", default: 0] += count
  }
}

/// An element of a feed, or a field of an element, that could not be used.
public struct SkippedItem: Hashable, Sendable, Codable {
  /// How much of the element is lost.
  public enum Loss: String, Hashable, Sendable, Codable {
    /// The whole element: it is not in the section.
    case item
    /// One field: the element is in the section without it.
    case field
  }

  /// The reason to skip an item that has the id of an earlier item of its section, but other values.
  public static let duplicateID = "duplicate-id"

  /// The key of its section.
  public var section: String
  /// Its position among the section's elements, counted from 0.
  public var index: Int
  /// The field at fault as the feed calls it; nil when the element itself is at fault.
  public var field: String?
  /// The item's id; nil when it has none that can be read.
  public var id: String?
  /// Whether the whole element is lost, or only one field.
  public var lost: Loss
  /// Why it could not be used.
  public var reason: String

  /// Whether the element could not be read; false if it was skipped because it repeats an id.
  package var isUnread: Bool { lost == .item && reason != Self.duplicateID }

  /// Makes a record.
  public init(
    section: String,
    index: Int,
    field: String?,
    id: String? = nil,
    lost: Loss,
    reason: String
  ) {
    self.section = section
    self.index = index
    self.field = field
    self.id = id
    self.lost = lost
    self.reason = reason
  }
}

/// How many items of a listing may be unreadable before the listing is rejected.
public enum SkipLimit: Hashable, Sendable {
  /// A percentage of the elements.
  ///
  /// At least one element may be unreadable, unless the percentage is 0.
  case percent(Double)
  /// A number of elements.
  case count(Int)

  /// The default limit.
  public static let standard = SkipLimit.percent(10)

  /// Whether a listing is rejected: too many of its elements cannot be read, or none can.
  ///
  /// - Parameters:
  ///   - lost: The number of unreadable elements.
  ///   - elements: The number of elements that the feed lists, unreadable ones included.
  /// - Returns: Whether the listing is rejected.
  public func refuses(lost: Int, of elements: Int) -> Bool {
    guard lost > 0 else { return false }
    return lost >= elements || isPassed(by: lost, of: elements)
  }

  /// Whether the number of unreadable elements already exceeds the limit, even if every further element can be read.
  ///
  /// - Parameters:
  ///   - lost: The number of unreadable elements.
  ///   - most: The largest number of elements that the feed may list, unreadable ones included.
  /// - Returns: Whether the listing will be rejected once all of it is read.
  package func isPassed(by lost: Int, of most: Int) -> Bool {
    switch self {
    case .percent(let share):
      return lost > (share > 0 ? 1 : 0) && Double(lost) * 100 > share * Double(most)
    case .count(let limit):
      return lost > limit
    }
  }
}
