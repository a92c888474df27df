/// What a section may show.
struct SoakListing {
  let items: [SoakItem]
  /// How many items it would show if nothing but its own guard had judged it; nil when that did.
  var alone: Int?

  /// A listing that is shown as it is.
  init(items: [SoakItem], alone: Int? = nil) {
    self.items = items
    self.alone = alone
  }

  /// What may be shown of a section whose listing came.
  ///
  /// Where something is kept it stands behind the item that it followed.
  ///
  /// - A listing of which more than a tenth, and more than one item, cannot be read is not taken.
  /// - A listing that is empty, or had more than 10 items and lost more than a tenth, loses none.
  /// - Items that are there and cannot be read stay as they were.
  /// - Fields that all items lose at once stay as they were.
  /// - When the whole catalog lost too much it loses nothing; see ``SoakCatalogGuard``.
  ///
  /// - Parameters:
  ///   - incoming: what the feed says, all pages together.
  ///   - before: what was shown; nil when the section is new.
  ///   - allowsRemovals: whether the user wants the feed to be believed.
  /// - Returns: The listings of which one has to be shown; none when there can be none.
  static func choices(
    _ incoming: SoakSection,
    after before: [SoakItem]?,
    allowsRemovals: Bool
  ) -> [SoakListing] {
    if incoming.isRefused { return before.map { [SoakListing(items: $0)] } ?? [] }
    guard let before, !allowsRemovals else { return [SoakListing(items: incoming.readable)] }
    let items = incoming.readable.keepingLostFields(of: before)
    let isEmptied = items.isEmpty
    let isCut = before.count > 10 && (before.count - items.count) * 10 > before.count
    let unreadable = Set(incoming.unreadable)
    let alone = items.keeping(
      isEmptied || isCut ? before : before.filter { unreadable.contains($0.id) },
      of: before
    )
    let whole = alone.count < before.count ? alone.keeping(before, of: before) : alone
    return [SoakListing(items: alone), SoakListing(items: whole, alone: alone.count)]
  }
}

extension SoakListing {
  /// What may be shown of a section of whose pages only the first came: these, and what was shown and they do not list.
  ///
  /// - Parameters:
  ///   - incoming: what the pages that came say.
  ///   - before: what was shown; nil when the section is new.
  /// - Returns: The listings of which one has to be shown.
  static func choices(beginning incoming: SoakSection, after before: [SoakItem]?) -> [SoakListing]
  {
    guard let before else { return [SoakListing(items: incoming.readable)] }
    return [incoming.readable, incoming.readable.keepingLostFields(of: before)].map {
      SoakListing(items: $0.keeping(before, of: before))
    }
  }
}

/// The guard of a whole catalog: one of 30 items or more that would lose more than a tenth in many small
/// places loses none.
struct SoakCatalogGuard {
  private var before = 0
  private var shown = 0
  private var alone = 0
  private var keeps = false

  /// Takes in what a section shows.
  mutating func add(_ fitting: [SoakListing], before old: [SoakItem]?) {
    guard let old, let first = fitting.first else { return }
    let isAlone = fitting.contains { $0.alone == nil }
    before += old.count
    shown += first.items.count
    alone += isAlone ? first.items.count : fitting.compactMap(\.alone).min() ?? 0
    keeps = keeps || !isAlone
  }

  /// What is wrong with the sections together, in words.
  var complaints: [String] {
    func isTooMuch(_ left: Int) -> Bool { before >= 30 && (before - left) * 10 > before }
    if isTooMuch(shown) {
      return ["of \(before) items \(shown) are left, and nothing was withheld"]
    }
    if keeps, !isTooMuch(alone) {
      return ["of \(before) items \(alone) were to be left, and others are kept"]
    }
    return []
  }
}

extension SoakSection {
  /// What pages list together: an item that two of them list, as when it moved while they were read,
  /// counts where it came first.
  init(pages: [SoakSection]) {
    self = pages.reduce(SoakSection(key: "")) { $0.adding($1) }
  }

  /// The section with what the next page lists.
  func adding(_ page: SoakSection) -> SoakSection {
    let known = Set(readable.map(\.id))
    return SoakSection(
      key: key,
      items: items + page.items.filter { $0.title == nil || !known.contains($0.id) }
    )
  }

  /// Whether too much of it cannot be read for it to be taken: all, or more than a tenth and than one.
  fileprivate var isRefused: Bool {
    let bad = unreadable.count
    return bad > 0 && (bad == items.count || bad > 1 && bad * 10 > items.count)
  }
}

extension [SoakItem] {
  /// The items with those of `kept` that they lack, each behind the item that it followed in `before`.
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

  /// The items with what they had in a field that most had and that none has any more: a picture, and in
  /// a section of at least three items a price.
  fileprivate func keepingLostFields(of before: [SoakItem]) -> [SoakItem] {
    func isLost<Value>(_ field: KeyPath<SoakItem, Value?>) -> Bool {
      allSatisfy { $0[keyPath: field] == nil }
        && before.count { $0[keyPath: field] != nil } * 2 > before.count
    }
    let old = Dictionary(before.map { ($0.id, $0) }) { first, _ in first }
    let (losesPictures, losesPrices) = (isLost(\.picture), before.count >= 3 && isLost(\.price))
    return map { item in
      var item = item
      if losesPictures { item.picture = old[item.id]?.picture }
      if losesPrices { item.price = old[item.id]?.price }
      return item
    }
  }
}
