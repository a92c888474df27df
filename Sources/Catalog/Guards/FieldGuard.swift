/// Finds values that a whole listing suddenly lacks, or that all its items suddenly share.
///
/// A shop that renames or empties a field removes it from all items at once. A shop that serves a placeholder has the
/// same picture, price or title in all of them. Such a listing is not shown.
package struct FieldGuard {
  /// A fault of a listing.
  package enum Finding: Sendable, Hashable {
    /// Most items had the field, and none has it now.
    case gone(ItemField)
    /// All items have the same value, and before they had several.
    case shared(SharedField)
  }

  /// A value that distinguishes items.
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

  /// The fields that are guarded; badges and ways of delivery come and go with a shop's campaigns.
  private static let guarded: [ItemField] = [
    .description, .normalPrice, .salePrice, .latitude, .thumbnail, .top, .gallery, .section,
  ]

  /// The most items that may share a value.
  private static let mostAlike = 10

  private var gone: [ItemField]
  private var shared: [(field: SharedField, value: AnyHashable?)]

  /// Makes a guard from the items held.
  ///
  /// A field is guarded if more than half of the held items have it. Text, prices and places need at least three items;
  /// a smaller section may change freely. Pictures are guarded in a section of any size, because their files would be
  /// deleted with them. The price before a reduction counts as lost only if no item has a price to pay: reductions end.
  ///
  /// - Parameters:
  ///   - held: The items held, or an evenly spread sample of them.
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
  /// A shop in which all prices but one are equal may make all of them equal.
  private static func haveSeveral(_ values: [AnyHashable?]) -> Bool {
    var counts: [AnyHashable?: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    return (values.count - (counts.values.max() ?? 0)) * 10 > values.count
  }

  /// Whether further items can change nothing: nothing is lost, and no value is shared.
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

  /// The faults found, once all items were added.
  package var findings: [Finding] { gone.map(Finding.gone) + shared.map { .shared($0.field) } }
}

/// Keeps fields of details that all of them have suddenly lost: a shop that renames a field removes it from all details
/// at once.
///
/// The counterpart of `FieldGuard` for fields that are fetched item by item.
public enum DetailGuard {
  /// The evidence of a run about one field.
  public struct Evidence: Hashable, Sendable {
    /// How many of the held details got an answer in this run, changed or not.
    public var held = 0
    /// How many of those had the field.
    public var had = 0
    /// Whether any detail has it now, fetched again or unchanged.
    public var isLeft = false
    /// How many of the held details were fetched again.
    public var came = 0
    /// How many of those had the field.
    public var cameWith = 0
    /// Whether any of the fetched details has it.
    public var isInNew = false

    /// Makes empty evidence.
    public init() {}
  }

  /// How many fetched details that lost a field are evidence enough for all of them.
  static let telling = 10

  /// Judges whether a field is lost as if by a fault, rather than dropped by some details.
  ///
  /// It is lost if more than half of the details had it and none has it now. If details are fetched a few at a time, as
  /// each goes stale, ten that had it are enough. More than half of those fetched must have had it, and none of them
  /// may have it now. Fewer than three details may change freely.
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
