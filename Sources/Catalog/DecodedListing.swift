/// What a body listed: sections with their usable items, and what had to be left out.
public struct DecodedListing: Hashable, Sendable {
  /// The sections; one, unless the response holds them all.
  public var sections: [Section]
  /// What was left out, in feed order.
  public var skipped: [SkippedItem]
  /// The sections of a combined response that cannot be used.
  public var failed: [FailedSection] = []
  /// By section, the fields that the catalog file names and that none of its elements yields; all of
  /// them when there are no elements.
  public var absent: [String: Set<ItemField>] = [:]
  /// How many elements the body listed, skipped ones included; 0 ends counted pages.
  public var elementCount: Int
  /// What the body calls the next page, where paging asks for it.
  public var nextPage: String?
  /// How many elements the body says that there are; nil when it says nothing, or a transform made the listing.
  public var total: Int?
  /// What in the body says that the listing goes on; nil when nothing does, or a transform made the listing.
  package var continuation: String?

  /// Makes a listing.
  public init(
    sections: [Section],
    skipped: [SkippedItem] = [],
    elementCount: Int,
    nextPage: String? = nil
  ) {
    self.sections = sections
    self.skipped = skipped
    self.elementCount = elementCount
    self.nextPage = nextPage
  }

  /// Adds the page that follows: sections with the same key grow, others join at the end.
  ///
  /// - Parameter page: The next page, decoded with `firstIndex` after this one's elements.
  public mutating func append(_ page: DecodedListing) {
    for section in page.sections {
      if let index = sections.firstIndex(where: { $0.key == section.key }) {
        sections[index].items += section.items
      } else {
        sections.append(section)
      }
    }
    skipped += page.skipped
    failed += page.failed
    absent.merge(page.absent) { $0.intersection($1) }
    elementCount += page.elementCount
    nextPage = page.nextPage
    total = total ?? page.total
    continuation = continuation ?? page.continuation
  }

  /// Leaves as absent what no section has: those of one response are read by the same paths, and a field that a small
  /// one lacks is not missing.
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
  /// Why it cannot be used, and what may be done about it.
  public var reason: String

  /// Makes a record.
  public init(index: Int, key: String?, reason: String) {
    self.index = index
    self.key = key
    self.reason = reason
  }
}

/// An element of a feed that could not be used, whole or in one field.
public struct SkippedItem: Hashable, Sendable, Codable {
  /// What a fault costs.
  public enum Loss: String, Hashable, Sendable, Codable {
    /// The whole element: it is not in the section.
    case item
    /// One field: the element is in the section without it.
    case field
  }

  /// The key of its section.
  public var section: String
  /// Its position among the section's elements, counted from 0.
  public var index: Int
  /// The field at fault as the feed calls it; nil when the element itself is.
  public var field: String?
  /// The item's id; nil when it has none that can be read.
  public var id: String?
  /// What is lost by it.
  public var lost: Loss
  /// Why it could not be used.
  public var reason: String

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
