/// Finds signs that a shop's new list of items is faulty: a field is missing in all items, or all items share a value.
///
/// If a shop renames a field, all items lose the field at once. If a shop sends a placeholder instead of its pictures,
/// all items have the same picture. A sync does not show such a list, but keeps the items of the previous sync.
package struct FieldGuard {
  /// A sign that the new list is faulty.
  package enum Finding: Sendable, Hashable {
    /// Most items had the field before, but no item has it now.
    case gone(ItemField)
    /// All items have the same value now, but they had different values before.
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

  /// The fields that must not disappear from all items.
  ///
  /// Badges and delivery types are not among them, because they change with a shop's campaigns.
  private static let guarded: [ItemField] = [
    .description, .normalPrice, .salePrice, .latitude, .address, .thumbnail, .top, .gallery,
    .section,
  ]

  /// In a list of at most this many items, all items can have the same value.
  private static let mostAlike = 10

  /// The fields that no added item has had so far.
  private var gone: [ItemField]
  /// The fields that had the same value in all items added so far, with this value.
  private var shared: [(field: SharedField, value: AnyHashable?)]

  /// Makes a guard from the items of the previous sync, which are called the held items.
  ///
  /// A field is guarded if more than half of the held items have it. Texts, prices and coordinates are guarded only if
  /// there are at least three held items, so that a smaller section can change freely. Pictures are guarded in a
  /// section of any size, because a sync would also delete their files. The price before a reduction is allowed to
  /// disappear as long as items have a price to pay, because reductions end.
  ///
  /// - Parameters:
  ///   - held: The held items. If there are many, every second, third, … item is enough.
  ///   - item: The paths to the fields. A field without a path is not guarded.
  ///   - count: The number of items in the new list.
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

  /// Whether more than a tenth of the values differ from the most frequent value.
  ///
  /// If fewer values differ, it is possible that they became equal without a fault. For example, all prices but one
  /// were 5 euros, and then the shop changed the last price to 5 euros too.
  private static func haveSeveral(_ values: [AnyHashable?]) -> Bool {
    var counts: [AnyHashable?: Int] = [:]
    for value in values { counts[value, default: 0] += 1 }
    return (values.count - (counts.values.max() ?? 0)) * 10 > values.count
  }

  /// Whether the added items rule out a fault: some item has each guarded field, and the items have different values.
  package var isSettled: Bool { gone.isEmpty && shared.isEmpty }

  /// Adds the next items of the new list.
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

  /// The signs of a fault.
  ///
  /// Ask for them only after all items of the new list have been added.
  package var findings: [Finding] { gone.map(Finding.gone) + shared.map { .shared($0.field) } }
}
