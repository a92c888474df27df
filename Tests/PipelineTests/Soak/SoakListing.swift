/// What a section may show: what its listing says, in that order, and items that the listing lacks.
struct SoakListing {
  var items: [SoakItem]
  /// In any place among the others.
  var withheld: Set<SoakItem> = []

  /// A listing that is shown as it is.
  init(items: [SoakItem]) {
    self.items = items
  }

  /// What the shrink guard lets through of a listing that comes after another: one that is empty, and
  /// one of more than 10 items that lost more than a tenth, lose none.
  private init(incoming: [SoakItem], after before: [SoakItem]) {
    items = incoming
    let ids = Set(incoming.map(\.id))
    let isEmptied = incoming.isEmpty
    let isCut = before.count > 10 && (before.count - incoming.count) * 10 > before.count
    if isEmptied || isCut { withheld = Set(before.filter { !ids.contains($0.id) }) }
  }

  /// What is shown of a section when the whole catalog lost too much: it loses nothing.
  private init(incoming: [SoakItem], keeping before: [SoakItem]) {
    items = incoming
    let ids = Set(incoming.map(\.id))
    withheld = incoming.count < before.count ? Set(before.filter { !ids.contains($0.id) }) : []
  }

  /// What may be shown of a section whose listing came.
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
    // Of a listing that cannot be read the last good one stays.
    if incoming.isRefused { return before.map { [SoakListing(items: $0)] } ?? [] }
    guard let before, !allowsRemovals else { return [SoakListing(items: incoming.items)] }
    let items = incoming.items.keepingLostFields(of: before)
    return [
      SoakListing(incoming: items, after: before), SoakListing(incoming: items, keeping: before),
    ]
  }

  /// Whether these items are what it says.
  func allows(_ shown: [SoakItem]) -> Bool {
    shown.filter { !withheld.contains($0) } == items
      && Set(shown.filter(withheld.contains)) == withheld
  }
}

extension SoakSection {
  /// What pages list together: an item that two of them list, as when it moved while they were read,
  /// counts where it came first.
  init(pages: [SoakSection]) {
    self.init(key: "")
    for page in pages {
      items = items(withNew: page.items)
      unreadable += page.unreadable
    }
  }

  /// Its items, and behind them those of others that it does not have.
  func items(withNew others: [SoakItem]) -> [SoakItem] {
    let known = Set(items.map(\.id))
    return items + others.filter { !known.contains($0.id) }
  }

  /// Whether too much of it cannot be read for it to be taken: all, or more than a tenth and than one.
  var isRefused: Bool {
    let all = items.count + unreadable
    return unreadable > 0 && (unreadable == all || unreadable > 1 && unreadable * 10 > all)
  }
}

extension [SoakItem] {
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
