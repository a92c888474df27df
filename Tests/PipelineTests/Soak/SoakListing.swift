/// A listing that a section may show.
struct SoakListing {
  let items: [SoakItem]
  /// The number of items that would be removed if only the section's own guard applied.
  var vanished = 0
  /// Whether the listing was rejected because the whole catalog lost too much.
  var isKept = false

  /// The listings that a section may show after its new listing was received.
  ///
  /// A new listing is shown as it is, or rejected as a whole. Then the items before are shown.
  ///
  /// - A listing is rejected if more than a tenth of it, and more than one item, cannot be read.
  /// - It is rejected if it has none of the items before, if all items lost a field, or if more than 10 items have one
  ///   value where they had several.
  /// - It is rejected if it had more than 10 items and lost more than a tenth of them.
  /// - It is rejected if it lost any items and the whole catalog lost too much; see ``SoakCatalogGuard``.
  /// - Items of an accepted listing that cannot be read keep their earlier form, after the item they followed before.
  ///
  /// - Parameters:
  ///   - incoming: The listing that the shop sent, joined from all pages.
  ///   - before: The items shown before; nil for a new section.
  ///   - allowsRemovals: Whether the user accepts all removals.
  /// - Returns: The allowed listings, of which one must be shown.
  static func choices(
    _ incoming: SoakSection,
    after before: [SoakItem]?,
    allowsRemovals: Bool
  ) -> [SoakListing] {
    if incoming.isRefused { return [SoakListing(items: before ?? [])] }
    guard let before, !allowsRemovals else { return [SoakListing(items: incoming.readable)] }
    let items = incoming.readable
    let listed = Set(items.map(\.id)).union(incoming.unreadable)
    let vanished = before.count { !listed.contains($0.id) }
    let isCut = before.count > 10 && vanished * 10 > before.count
    let isReplaced = vanished > 0 && vanished == before.count
    if isCut || isReplaced || items.isFault(after: before) { return [SoakListing(items: before)] }
    let unreadable = Set(incoming.unreadable)
    let alone = items.keeping(before.filter { unreadable.contains($0.id) }, of: before)
    if vanished == 0 { return [SoakListing(items: alone)] }
    return [
      SoakListing(items: alone, vanished: vanished),
      SoakListing(items: before, vanished: vanished, isKept: true),
    ]
  }
}

extension SoakListing {
  /// The listings that a section may show if only its first pages were received.
  ///
  /// They have the items of those pages, and the items that the section showed before.
  ///
  /// - Parameters:
  ///   - incoming: The pages that were received.
  ///   - before: The items shown before; nil for a new section.
  ///   - allowsRemovals: Whether the user accepts all removals, also of fields.
  /// - Returns: The allowed listings, of which one must be shown.
  static func choices(
    beginning incoming: SoakSection,
    after before: [SoakItem]?,
    allowsRemovals: Bool
  ) -> [SoakListing] {
    guard let before else { return [SoakListing(items: incoming.readable)] }
    let whole = incoming.readable.keeping(before, of: before)
    let isTaken = allowsRemovals || !whole.isFault(after: before)
    return [SoakListing(items: isTaken ? whole : before)]
  }
}

/// The guard of a catalog with 30 items or more.
///
/// If the catalog would lose more than a tenth of its items, every listing that lost items is rejected.
struct SoakCatalogGuard {
  private var before = 0
  /// The items of sections that the catalog file no longer names; a run may count them or not.
  var others = 0
  private var vanished = 0
  private var lost = 0
  private var keeps = false

  /// Adds the allowed listings of a section.
  mutating func add(_ fitting: [SoakListing], before old: [SoakItem]?) {
    guard let old, let first = fitting.first else { return }
    before += old.count
    let isAlone = fitting.contains { !$0.isKept }
    // The page of an interrupted run may be one of several, so the largest number is what could have gone.
    vanished += fitting.map(\.vanished).max() ?? first.vanished
    lost += isAlone ? fitting.filter { !$0.isKept }.map(\.vanished).min() ?? 0 : 0
    keeps = keeps || !isAlone
  }

  /// The violations across all sections, in words.
  var complaints: [String] {
    func isTooMuch(_ gone: Int, of all: Int) -> Bool { all >= 30 && gone * 10 > all }
    if isTooMuch(lost, of: before), isTooMuch(lost, of: before + others) {
      return ["of \(before) items \(lost) are gone, and nothing was withheld"]
    }
    if keeps, !isTooMuch(vanished, of: before), !isTooMuch(vanished, of: before + others) {
      return ["of \(before) items \(vanished) were to go, and they are kept"]
    }
    return []
  }
}

extension SoakSection {
  /// Joins pages.
  ///
  /// If an item is on two pages, because it moved while they were read, only its first occurrence counts.
  init(pages: [SoakSection]) {
    self = pages.reduce(SoakSection(key: "")) { $0.adding($1) }
  }

  /// The section followed by the items of the next page.
  func adding(_ page: SoakSection) -> SoakSection {
    let known = Set(readable.map(\.id))
    return SoakSection(
      key: key,
      items: items + page.items.filter { $0.title == nil || !known.contains($0.id) }
    )
  }

  /// Whether too many items are unreadable.
  ///
  /// That is so if all items are, or if more than one and more than a tenth of them are.
  fileprivate var isRefused: Bool {
    let bad = unreadable.count
    return bad > 0 && (bad == items.count || bad > 1 && bad * 10 > items.count)
  }
}

extension [SoakItem] {
  /// Inserts the missing items of `kept`, each after the item that it followed in `before`.
  fileprivate func keeping(_ kept: [SoakItem], of before: [SoakItem]) -> [SoakItem] {
    let ids = Set(map(\.id))
    let kept = Set(kept.map(\.id)).subtracting(ids)
    var items = self
    var place = 0
    for item in before {
      if kept.contains(item.id) {
        items.insert(item, at: place)
        place += 1
      } else if let own = items.firstIndex(where: { $0.id == item.id }) {
        place = own + 1
      }
    }
    return items
  }

  /// Whether the items lost a field that most of them had, which is a picture, or a price in a section of at least
  /// three items.
  ///
  /// The result is also true if more than 10 items now have the same picture, price or title, and had different ones
  /// before.
  fileprivate func isFault(after before: [SoakItem]) -> Bool {
    func isLost<Value>(_ field: KeyPath<SoakItem, Value?>) -> Bool {
      !isEmpty && allSatisfy { $0[keyPath: field] == nil }
        && before.count { $0[keyPath: field] != nil } * 2 > before.count
    }
    func isShared<Value: Hashable>(_ field: KeyPath<SoakItem, Value?>) -> Bool {
      count > 10 && first?[keyPath: field] != nil && Set(map { $0[keyPath: field] }).count == 1
        && Set(before.map { $0[keyPath: field] }).count > 1
    }
    return isLost(\.picture) || before.count >= 3 && isLost(\.price)
      || isShared(\.picture) || isShared(\.price) || isShared(\.title)
  }
}
