/// Finds fields that all items of a listing suddenly lack, and values that all its items suddenly share.
///
/// A shop that renames or empties a field removes it from all items at once. A shop that serves a placeholder has the
/// same picture, price or title in all items. A sync does not show such a listing, and keeps showing the previous one.
package struct FieldGuard {
  /// A fault of a listing.
  package enum Finding: Sendable, Hashable {
    /// Most items had the field before, and no item has it now.
    case gone(ItemField)
    /// All items have the same value now; before, they had several values.
    case shared(SharedField)
  }

  /// A value that usually differs between items.
  package enum SharedField: String, Sendable, CaseIterable {
    case picture, price, title

    fileprivate func value(of item: StoreItem) -> AnyHashable? {
      switch self {
      case .picture: item.images.first.map { AnyHashable($0.url) }
      case .price: (item.salePrice ?? item.normalPrice).map(AnyHashable.init)
      case .title: AnyHashable(item.title)
      }
    }
  }

  /// The fields that are guarded.
  ///
  /// Badges and delivery types are not, because they change with a shop's campaigns.
  private static let guarded: [ItemField] = [
    .description, .normalPrice, .salePrice, .latitude, .thumbnail, .top, .gallery, .section,
  ]

  /// At most this many items may share a value without being reported.
  private static let mostAlike = 10

  private var gone: [ItemField]
  private var shared: [(field: SharedField, value: AnyHashable?)]

  /// Makes a guard from the held items: the items of the listing that the cache shows now.
  ///
  /// A field is guarded if more than half of the held items have it. Text, prices and coordinates are guarded only if
  /// at least three items are held, so that a smaller section may change freely. Pictures are guarded in a section of
  /// any size, because their files would be deleted too. The price before a reduction counts as lost only if no item
  /// has a price to pay, because reductions end.
  ///
  /// - Parameters:
  ///   - held: The held items, or an evenly spread sample of them.
  ///   - item: The paths to the fields; a field without a path is not guarded.
  ///   - count: How many items the feed lists now.
  package init(held: [StoreItem], _ item: Mapping.Item, count: Int) {
    gone = Self.guarded.filter { field in
      guard !item.paths(of: field).isEmpty, field.role != nil || held.count >= 3 else {
        return false
      }
      return held.count(where: field.isHeld) * 2 > held.count
    }
    shared = SharedField.allCases.filter { field in
      count > Self.mostAlike && Self.haveSeveral(held.map(field.value))
    }.map { ($0, nil) }
    if count == 0 { gone = [] }
  }

  /// Whether more than a tenth of the values differ from the most frequent one.
  ///
  /// A few different values do not count: a shop whose prices are all equal but one may make that one equal too.
  private static func haveSeveral(_ values: [AnyHashable?]) -> Bool {
    var counts: [AnyHashable?: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    return (values.count - (counts.values.max() ?? 0)) * 10 > values.count
  }

  /// Whether a fault is no longer possible: each guarded field is in some item, and no value is shared by all items.
  package var isSettled: Bool { gone.isEmpty && shared.isEmpty }

  /// Adds the next items that the feed lists.
  package mutating func add(_ items: [StoreItem]) {
    for item in items where !isSettled {
      gone.removeAll { $0.isHeld(by: item) || $0 == .normalPrice && item.salePrice != nil }
      for place in shared.indices.reversed() {
        let value = shared[place].field.value(of: item)
        if let value, shared[place].value == nil || shared[place].value == value {
          shared[place].value = value
        } else {
          shared.remove(at: place)
        }
      }
    }
  }

  /// The faults that were found; complete once all items were added.
  package var findings: [Finding] { gone.map(Finding.gone) + shared.map { .shared($0.field) } }
}

/// Keeps the old values of fields that all details have suddenly lost.
///
/// A shop that renames a field removes it from all details at once.
///
/// `DetailGuard` does for details, which are fetched item by item, the work of `FieldGuard` for listings.
public enum DetailGuard {
  /// The evidence about one field in one run.
  public struct Evidence: Hashable, Sendable {
    /// How many of the cached details the server answered for in this run, changed or not.
    public var held = 0
    /// How many of these cached details had the field.
    public var had = 0
    /// Whether any detail has the field now, in a new body or an unchanged one.
    public var isLeft = false
    /// How many of the cached details were fetched again and got a new body.
    public var came = 0
    /// How many of the cached details that were fetched again had the field before.
    public var cameWith = 0
    /// Whether any detail that was fetched again has the field now.
    public var isInNew = false

    /// Makes empty evidence.
    public init() {}
  }

  /// At least this many details with new bodies must have lost a field to be enough evidence for a fault.
  static let telling = 10

  /// Judges whether the shop lost a field by a fault, or only dropped it from some details.
  ///
  /// A field is lost if more than half of the answered details had it, and no detail has it now.
  ///
  /// Details are often fetched a few at a time, as each becomes stale. Therefore ten details with new bodies can be
  /// enough evidence. They must have had the field before, and be more than half of the details with new bodies. No new
  /// body may have the field. Fewer than three details may change freely.
  ///
  /// - Parameter evidence: The evidence of a run about the field.
  /// - Returns: Whether to keep the old value.
  public static func isLost(_ evidence: Evidence) -> Bool {
    guard evidence.held >= 3 else { return false }
    if !evidence.isLeft { return evidence.had * 2 > evidence.held }
    return !evidence.isInNew && evidence.cameWith >= telling
      && evidence.cameWith * 2 > evidence.came
  }
}
