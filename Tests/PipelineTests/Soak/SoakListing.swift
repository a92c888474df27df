/// What a section may show.
struct SoakListing {
  let items: [SoakItem]
  /// How many items would be gone if nothing but its own guard had judged it.
  var vanished = 0
  /// Whether those were kept because the catalog as a whole lost too much.
  var isKept = false

  /// What may be shown of a section whose listing came.
  ///
  /// Where something is kept it stands behind the item that it followed.
  ///
  /// - A listing of which more than a tenth, and more than one item, cannot be read is not taken.
  /// - One that has none of the items before is not taken, nor one that lost a field of all items, or in which more
  ///   than 10 items have one value where they had several.
  /// - A listing that had more than 10 items and lost more than a tenth of them loses none.
  /// - Items that are there and cannot be read stay as they were.
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
    let items = incoming.readable
    let listed = Set(items.map(\.id)).union(incoming.unreadable)
    let vanished = before.count { !listed.contains($0.id) }
    let isReplaced = vanished > 0 && vanished == before.count
    if isReplaced || items.isFault(after: before) { return [SoakListing(items: before)] }
    let isCut = before.count > 10 && vanished * 10 > before.count
    let unreadable = Set(incoming.unreadable)
    let alone = items.keeping(
      isCut ? before : before.filter { unreadable.contains($0.id) },
      of: before
    )
    if isCut || vanished == 0 { return [SoakListing(items: alone)] }
    return [
      SoakListing(items: alone, vanished: vanished),
      SoakListing(items: alone.keeping(before, of: before), vanished: vanished, isKept: true),
    ]
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
    let whole = incoming.readable.keeping(before, of: before)
    return [SoakListing(items: whole.isFault(after: before) ? before : whole)]
  }
}

/// The guard of a whole catalog: one of 30 items or more that would lose more than a tenth in many small
/// places loses none.
struct SoakCatalogGuard {
  private var before = 0
  private var vanished = 0
  private var lost = 0
  private var keeps = false

  /// Takes in what a section shows.
  mutating func add(_ fitting: [SoakListing], before old: [SoakItem]?) {
    guard let old, let first = fitting.first else { return }
    before += old.count
    let isAlone = fitting.contains { !$0.isKept }
    vanished += fitting.map(\.vanished).min() ?? first.vanished
    lost += isAlone ? fitting.filter { !$0.isKept }.map(\.vanished).min() ?? 0 : 0
    keeps = keeps || !isAlone
  }

  /// What is wrong with the sections together, in words.
  var complaints: [String] {
    func isTooMuch(_ gone: Int) -> Bool { before >= 30 && gone * 10 > before }
    if isTooMuch(lost) { return ["of \(before) items \(lost) are gone, and nothing was withheld"] }
    if keeps, !isTooMuch(vanished) {
      return ["of \(before) items \(vanished) were to go, and they are kept"]
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

  /// Whether a field is gone that most items had, a picture, or in a section of at least three items a price; or
  /// whether more than 10 items have one picture, price or title, where they had several.
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
