import Base

/// The result of decoding a shop's response: its sections with the items that can be used, and the items that were
/// skipped.
///
/// An element is an entry of the JSON array of a section. It becomes an item, or it is skipped because it cannot be
/// read. A section is identified by its key, such as "soup".
public struct DecodedListing: Hashable, Sendable {
  /// The sections.
  ///
  /// There is one, unless the response holds many sections.
  public var sections: [Section] = []
  /// The skipped items and fields, in the order of the response.
  ///
  /// At most ``SkipTally/mostRows`` are kept for each section, and ten times as many in all.
  public private(set) var skipped: [SkippedItem] = []
  /// For each section key, the counts of skipped items and fields that are not in ``skipped`` because it was full.
  public private(set) var omitted: [String: SkipTally] = [:]
  /// The sections that cannot be used, although other sections of the same response can.
  public var failed: [FailedSection] = []
  /// For each section key, the fields that have paths in the catalog file, but no value in any element of the section.
  ///
  /// If a section has no elements, it lacks all of these fields.
  public var absent: [String: Set<ItemField>] = [:]
  /// The number of elements that are read as items, including the skipped ones.
  public var elementCount = 0
  /// The number of elements in the response's list, also of those that a filter or `records:` leaves out; 0 if the path to
  /// the items leads through no list.
  var listCount = 0
  /// Whether the items are not elements of this list, but are in lists inside of it, or a transform made them.
  var isNested = false
  /// The number of elements of the page, before which the next page begins.
  ///
  /// If pages are requested by their number, a page with 0 elements is the last one. If it is not known what the shop
  /// counts, this is the lower number: an overlap of two pages costs a request, and a gap would cost items.
  public var listedCount: Int {
    listCount == 0 ? elementCount : isNested ? min(listCount, elementCount) : listCount
  }
  /// The highest number of elements that the shop can have counted on the page.
  public var mostListed: Int { max(listCount, elementCount) }
  /// A warning that the value at the path of the next page is not an address, such as `{"page": 2}`.
  ///
  /// It is nil if the value is an address, or if there is none.
  package var invalidNext: String?
  /// The cursor or URL of the next page, if the catalog file says where the body has it.
  public var nextPage: String?
  /// The total number of items according to the body.
  ///
  /// It is nil if the body has no such number, or if a transform has changed the body.
  public var total: Int?
  /// A sign in the body that there are more pages, for example "has_more is true".
  ///
  /// It is nil if there is no sign.
  package var continuation: String?
  /// For each section key, the number of entries in ``skipped``.
  private var rows: [String: Int] = [:]

  /// Makes an empty listing.
  public init() {}

  /// The number of elements that are missing in the sections because they cannot be used.
  public var lost: Int {
    skipped.count { $0.lost == .item } + omitted.values.reduce(0) { $0 + $1.items }
  }

  /// Records a skipped item or field.
  ///
  /// If ``skipped`` is full for its section, the item or field is only counted.
  mutating func note(_ row: SkippedItem) {
    let count = rows[row.section, default: 0]
    if count < SkipTally.mostRows, skipped.count < 10 * SkipTally.mostRows {
      rows[row.section] = count + 1
      skipped.append(row)
    } else {
      omitted[row.section, default: SkipTally()].add(row.lost, row.reason)
    }
  }

  /// Adds the result of the next window.
  ///
  /// If it begins with the section that this result ends with, the items of both are joined.
  ///
  /// - Parameter page: The next result. The indices of its skipped items must continue those of this result.
  package mutating func append(_ page: DecodedListing) {
    for section in page.sections {
      if let last = sections.indices.last, sections[last].key == section.key {
        sections[last].items += section.items
      } else {
        sections.append(section)
      }
    }
    for row in page.skipped { note(row) }
    for (key, tally) in page.omitted { omitted[key, default: SkipTally()].add(tally) }
    failed += page.failed
    absent.merge(page.absent) { $0.intersection($1) }
    elementCount += page.elementCount
    listCount += page.listCount
    isNested = isNested || page.isNested
    invalidNext = page.invalidNext ?? invalidNext
    nextPage = page.nextPage ?? nextPage
    total = total ?? page.total
    continuation = continuation ?? page.continuation
  }

  /// Removes each item that has the same id as an earlier item of the same section.
  ///
  /// If the removed item differs from the earlier item, it is recorded as skipped.
  package mutating func dropRepeats() {
    for place in sections.indices {
      var firsts: [ExactText: Int] = [:]
      var others: [(place: Int, id: String)] = []
      var kept: [StoreItem] = []
      for (place, item) in sections[place].items.enumerated() {
        let id = item.id.exact
        if let first = firsts[id] {
          if item != kept[first] { others.append((place, item.id)) }
        } else {
          firsts[id] = kept.count
          kept.append(item)
        }
      }
      sections[place].items = kept
      noteDuplicates(others, in: sections[place].key)
    }
  }

  /// Records items as skipped because an earlier item of the section has the same id.
  ///
  /// - Parameters:
  ///   - items: The id of each item, and its position among the readable items of the section. The positions must be in
  ///     ascending order.
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

  /// The number of elements of a section that could not be read, and of all its elements.
  ///
  /// Items with the same id count once, as in a sync.
  package func losses(in section: Section) -> (unread: Int, elements: Int) {
    let unread =
      skipped.count { $0.section == section.key && $0.isUnread }
      + (omitted[section.key]?.unread ?? 0)
    return (unread, unread + Set(section.items.map(\.id.exact)).count)
  }

  /// Whether a sync refuses a section, because too many of its elements cannot be read.
  package func isRefused(_ section: Section) -> Bool {
    let (unread, elements) = losses(in: section)
    return SkipLimit.standard.refuses(lost: unread, of: elements)
  }

  /// Removes a field from ``absent`` if at least one section has it.
  ///
  /// All sections of a response are read with the same paths. If a path finds a value in one section, the path is
  /// right, and the other sections just have no such value.
  package mutating func settleAbsence() {
    let all = absent.values.dropFirst().reduce(absent.values.first ?? []) { $0.intersection($1) }
    for key in absent.keys { absent[key] = all }
  }
}

/// A section that cannot be used, although other sections of the same response can.
public struct FailedSection: Hashable, Sendable {
  /// The position among the sections of the response, counted from 0.
  public var index: Int
  /// The key of the section, or nil if it has no key that can be read.
  public var key: String?
  /// The reason why the section cannot be used, and a possible remedy.
  public var reason: String
}

/// Counts of those skipped items and fields of one section that did not fit into ``DecodedListing/skipped``.
public struct SkipTally: Hashable, Sendable, Codable {
  /// The maximum number of skipped items and fields that are kept for each section.
  ///
  /// Further ones are only counted.
  public static let mostRows = 1000
  /// The maximum number of reasons that are counted separately.
  ///
  /// A reason can quote a value of the response, so every reason can be different.
  private static let mostReasons = 50

  /// The number of elements that were skipped as a whole.
  public private(set) var items = 0
  /// For each reason, the number of elements and fields that were skipped because of it.
  public private(set) var reasons: [String: Int] = [:]

  /// Makes an empty tally.
  public init() {}

  /// The number of elements that could not be read.
  ///
  /// Elements that repeat the id of another element are not counted.
  package var unread: Int { items - (reasons[SkippedItem.duplicateID] ?? 0) }
  /// The number of skipped elements and fields.
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

/// An element of a shop's response, or a field of an element, that was skipped because it could not be used.
public struct SkippedItem: Hashable, Sendable, Codable {
  /// The part of the element that is lost.
  public enum Loss: String, Hashable, Sendable, Codable {
    /// The whole element. It is not in the section.
    case item
    /// One field. The element is in the section, but without this field.
    case field
  }

  /// The ``reason`` for an item that has the id of an earlier item of the section, but other values.
  public static let duplicateID = "duplicate-id"

  /// The key of the section.
  public var section: String
  /// The position of the element in the section, counted from 0.
  public var index: Int
  /// The field at fault by its name in the response, such as "s_price", or nil if the element itself is at fault.
  public var field: String?
  /// The item's id, or nil if it has no id that can be read.
  public var id: String?
  /// Whether the whole element is lost, or only one field.
  public var lost: Loss
  /// The reason why the element or field could not be used.
  public var reason: String

  /// Whether the element could not be read.
  ///
  /// It is false if only a field was skipped, or if the element was skipped because it repeats an id.
  package var isUnread: Bool { lost == .item && reason != Self.duplicateID }
}

/// The limit on unreadable elements of a section: `percent(10)` or `count(3)`.
///
/// If the limit is exceeded, the section is rejected. As JSON, it is `{"percent": 10}` or `{"count": 3}`.
public struct SkipLimit: Hashable, Sendable, Codable {
  private var percent: Double?
  private var count: Int?

  /// A percentage of the section's elements.
  ///
  /// If the percentage is above 0, one unreadable element is allowed even if there are few elements.
  public static func percent(_ share: Double) -> SkipLimit {
    SkipLimit(percent: share, count: nil)
  }

  /// A number of elements.
  public static func count(_ elements: Int) -> SkipLimit {
    SkipLimit(percent: nil, count: elements)
  }

  /// The default limit, 10 %.
  public static let standard = SkipLimit.percent(10)

  /// Whether a section is rejected, because too many of its elements cannot be read, or none of them can.
  ///
  /// - Parameters:
  ///   - lost: The number of unreadable elements.
  ///   - elements: The number of all elements, including the unreadable ones.
  /// - Returns: Whether the section is rejected.
  public func refuses(lost: Int, of elements: Int) -> Bool {
    guard lost > 0 else { return false }
    return lost >= elements || isPassed(by: lost, of: elements)
  }

  /// Whether the number of unreadable elements is so high that the section is rejected even if all further elements can
  /// be read.
  ///
  /// - Parameters:
  ///   - lost: The number of unreadable elements so far.
  ///   - most: An upper bound for the number of all elements of the section.
  /// - Returns: Whether it is already certain that the section will be rejected.
  package func isPassed(by lost: Int, of most: Int) -> Bool {
    guard let percent else { return lost > count ?? 0 }
    return lost > (percent > 0 ? 1 : 0) && Double(lost) * 100 > percent * Double(most)
  }
}
