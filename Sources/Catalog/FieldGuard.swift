/// Keeps the values of a field that the whole feed suddenly lacks: a shop that renames or empties a field removes it
/// from all items at once.
public enum FieldGuard {
  /// What a section holds from now on.
  public struct Verdict: Hashable, Sendable {
    /// The incoming items, with what they held in the fields that were lost.
    public let items: [StoreItem]
    /// The fields that were lost; empty when nothing was kept.
    public let kept: [ItemField]
  }

  /// The fields that are guarded.
  ///
  /// Badges and ways of delivery come and go with a shop's campaigns.
  public static let guarded: [ItemField] = [
    .description, .normalPrice, .salePrice, .latitude, .thumbnail, .top, .gallery, .section,
  ]

  /// Judges a section's new items against those it held.
  ///
  /// A field is lost when more than half of the items had it and none has it now. Of text, prices and
  /// places that needs three items at least: a smaller section may change as it likes. Pictures are
  /// kept of a section of any size, because their files would go with them. The price before a
  /// reduction alone is not lost: reductions end.
  ///
  /// - Parameters:
  ///   - previous: The items held, in order.
  ///   - incoming: The items that the feed lists now, in order.
  /// - Returns: What to hold from now on.
  public static func judge(previous: [StoreItem], incoming: [StoreItem]) -> Verdict {
    let missing = guarded.filter { field in !incoming.contains(where: field.isHeld) }
    let lost = lostFields(of: missing, sample: previous)
    return restore(lost, previous: previous, incoming: incoming)
  }

  /// Which of the fields that no incoming item has are lost.
  ///
  /// - Parameters:
  ///   - missing: The fields that no incoming item has.
  ///   - sample: The items held, or some of them, evenly spread.
  /// - Returns: The guarded ones that most of the sample has.
  public static func lostFields(
    of missing: some Collection<ItemField>,
    sample: [StoreItem]
  ) -> [ItemField] {
    guarded.filter { field in
      guard missing.contains(field), field.role != nil || sample.count >= 3 else { return false }
      if field == .normalPrice, !missing.contains(.salePrice) { return false }
      return sample.count(where: field.isHeld) * 2 > sample.count
    }
  }

  /// Gives items what their earlier versions held in some fields.
  public static func restore(
    _ fields: [ItemField],
    previous: [StoreItem],
    incoming: [StoreItem]
  ) -> Verdict {
    let held = Dictionary(previous.map { ($0.id, $0) }) { first, _ in first }
    guard !fields.isEmpty, incoming.contains(where: { held[$0.id] != nil }) else {
      return Verdict(items: incoming, kept: [])
    }
    let items = incoming.map { item in
      held[item.id].map { restore(fields, of: item, from: $0) } ?? item
    }
    return Verdict(items: items, kept: fields)
  }

  /// Gives an item what its earlier version held in some fields.
  package static func restore(
    _ fields: [ItemField],
    of item: StoreItem,
    from old: StoreItem
  ) -> StoreItem {
    var item = item
    for field in fields { item.take(field, from: old) }
    return item
  }
}

extension StoreItem {
  /// Takes over what another version of the item has in a field.
  fileprivate mutating func take(_ field: ItemField, from old: StoreItem) {
    switch field {
    case .description: description = old.description
    case .badges: badges = old.badges
    case .deliveryTypes: deliveryTypes = old.deliveryTypes
    case .normalPrice: normalPrice = old.normalPrice
    case .salePrice: salePrice = old.salePrice
    case .latitude, .longitude: coordinate = old.coordinate
    case .address: address = old.address
    case .thumbnail, .top, .gallery, .section:
      guard let role = field.role else { return }
      images += old.images.filter { $0.role == role }
      let order = ImageReference.Role.allCases
      images = order.flatMap { role in images.filter { $0.role == role } }
    }
  }
}
