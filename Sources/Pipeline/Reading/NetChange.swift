import Base
import Cache
import Catalog

/// The changes of an item since an earlier run, combined.
///
/// For example, two price cuts are one change from the first price to the last.
///
/// In the comments below, "then" means at the end of that run, and "now" at the end of the last run.
package struct NetChange: Sendable, Hashable {
  /// Whether a section listed the item then, and whether one does now.
  package enum Presence: Sendable {
    /// A section lists the item for the first time.
    case added
    /// No section listed the item then, but one had listed it before, and one does now.
    case back
    /// A section listed the item then, and none does now.
    case removed
    /// A section listed the item then, and one does now.
    case stayed
  }

  /// The item's id.
  package let id: String
  /// The key of a section that lists the item, or was the last to list it.
  package let section: String
  /// Whether the item was added, removed or came back.
  package let presence: Presence
  /// The item now.
  ///
  /// For a removed item, it is the item then, or nil if the cache no longer has the earlier run.
  package let item: StoreItem?
  /// The price to pay then; nil if there was none.
  package let price: Price?
  /// The badges then, for example `new, sale`.
  package let badges: String
  /// Whether the item has other pictures now than then, or pictures with other bytes.
  package let hasNewPictures: Bool

  /// The price to pay now; nil if the item has no price, or if it was removed.
  package var newPrice: Price? { presence == .removed ? nil : item?.price }

  /// The badges now, for example `new, sale`.
  package var newBadges: String { item?.badges.joined(separator: ", ") ?? "" }
}

extension CatalogReader {
  /// The items that changed after a run, in the order of their first change.
  ///
  /// A change that was undone later does not count. An item in two sections is returned once.
  ///
  /// - Parameter run: The run.
  /// - Returns: The items.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func netChanges(after run: RunID) throws(LarderError) -> [NetChange] {
    try netChanges(index.history(catalog: catalog.id, after: run), then: run)
  }

  /// The items that changed since a moment, in the order of their first change.
  ///
  /// - Parameter moment: The moment.
  /// - Returns: The items.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func netChanges(since moment: UnixTime) throws(LarderError) -> [NetChange] {
    var run = try index.lastRunTime(catalog: catalog.id, at: moment + -1)
    // Use the oldest run in the cache, because it still has the items that were removed since.
    if run == nil { run = try index.oldestRunTime(catalog: catalog.id) }
    let changes = try index.history(catalog: catalog.id, since: moment)
    return try netChanges(changes, then: run?.id ?? RunID(rawValue: 0))
  }

  // Combines the changes of a period by item. `run` is the last run before the period, which still has the items that
  // were removed in it.
  private func netChanges(
    _ changes: [RecordedChange],
    then run: RunID
  ) throws(LarderError) -> [NetChange] {
    guard !changes.isEmpty else { return [] }
    var ids: [ExactText] = []
    var byID: [ExactText: [RecordedChange]] = [:]
    for change in changes {
      let id = change.id.exact
      if byID[id] == nil { ids.append(id) }
      byID[id, default: []].append(change)
    }
    let wanted = Set(ids)
    let now = try items(wanted, in: sections())
    let then = try items(wanted.subtracting(now.keys), in: index.sections(run: run))
    return ids.compactMap { id in
      Self.net(id.text, byID[id] ?? [], now[id] ?? [], then[id]?.first?.item)
    }
  }

  /// The titles of some items in a run.
  ///
  /// - Parameters:
  ///   - ids: The items.
  ///   - run: The run.
  /// - Returns: The titles, by the ids of the items. Items that the run does not list are left out.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func titles(
    of ids: Set<ExactText>,
    in run: RunID
  ) throws(LarderError) -> [ExactText: String] {
    guard !ids.isEmpty else { return [:] }
    return try items(ids, in: index.sections(run: run)).compactMapValues(\.first?.item.title)
  }

  /// Finds items by their ids, each in every section that lists it.
  private func items(
    _ wanted: Set<ExactText>,
    in sections: [RunSection]
  ) throws(LarderError) -> [ExactText: [(section: String, item: StoreItem)]] {
    var found: [ExactText: [(section: String, item: StoreItem)]] = [:]
    for section in sections {
      guard let listing = section.listing else { continue }
      for item in try index.items(listing: listing, ids: wanted.lazy.map(\.text)).storeItems()
      where found[item.id.exact]?.last?.section != section.key {
        found[item.id.exact, default: []].append((section.key, item))
      }
    }
    return found
  }

  /// Combines the changes of an item; nil if they cancel each other out.
  private static func net(
    _ id: String,
    _ changes: [RecordedChange],
    _ now: [(section: String, item: StoreItem)],
    _ then: StoreItem?
  ) -> NetChange? {
    func isListing(_ change: RecordedChange) -> Bool {
      [.added, .removed, .back].contains(change.kind)
    }
    // If a section began or ceased to list the item, its first such change tells whether it listed the item before. If
    // a section lists the item now and has no such change, it listed the item all the time.
    let events = Dictionary(grouping: changes.filter(isListing), by: \.section)
    let wasListed =
      events.values.contains { $0.first?.kind == .removed }
      || now.contains { events[$0.section] == nil }
    let presence: NetChange.Presence
    switch (wasListed, !now.isEmpty) {
    case (true, true): presence = .stayed
    case (true, false): presence = .removed
    case (false, true):
      presence = events.values.contains { $0.first?.kind == .back } ? .back : .added
    case (false, false): return nil
    }
    /// The price to pay then in a section, which lists the item now or listed it last.
    func price(_ section: String, _ item: StoreItem?) -> Price? {
      func before(_ field: ChangeKind, _ present: Price?) -> Price? {
        changes.first { $0.kind == field && $0.section == section }
          .map { Price($0.from) } ?? present
      }
      return before(.salePrice, item?.salePrice) ?? before(.normalPrice, item?.normalPrice)
    }
    // Sections can list the item at different prices.
    let shown = now.first { price($0.section, $0.item) != $0.item.price } ?? now.first
    let (section, item) = (shown?.section ?? changes.last?.section ?? "", shown?.item ?? then)
    let badges =
      changes.first { $0.kind == .badges }.map { $0.from?.text ?? "" }
      ?? item?.badges.joined(separator: ", ") ?? ""
    let pictures = [ChangeKind.thumbnail, .images].contains { field in
      let own = changes.filter { $0.kind == field }
      return own.first?.from != own.last?.to
    }
    let change = NetChange(
      id: id,
      section: section,
      presence: presence,
      item: item,
      price: price(section, item),
      badges: badges,
      hasNewPictures: pictures
    )
    if presence == .stayed, change.price == change.newPrice, change.badges == change.newBadges,
      !pictures
    {
      return nil
    }
    return change
  }

  /// The failures of the last run that began after an earlier run.
  ///
  /// - Parameter run: The earlier run.
  /// - Returns: The failures, in the last run's order.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func newFailures(after run: RunID) throws(LarderError) -> [SyncReport.Failure] {
    let last = try lastRun()
    guard last.id > run, let report = last.report.flatMap({ try? SyncReport(json: $0) }) else {
      return []
    }
    var found: Set<String> = []
    var before = last.id
    while before > run, let older = try index.lastRun(catalog: catalog.id, before: before),
      older.id > run
    {
      before = older.id
      let failures = older.report.flatMap { try? SyncReport(json: $0) }?.failures ?? []
      found.formUnion(failures.filter { !$0.isKnown }.map(\.url))
    }
    return report.failures.filter { !$0.isKnown || found.contains($0.url) }
  }

  /// The last run that ended, and the id of the run before it.
  ///
  /// The id is 0 if there is no such run.
  package func lastRuns() throws(LarderError) -> (last: RunEntry, before: RunID) {
    let run = try lastRun()
    let before = try index.lastRun(catalog: catalog.id, before: run.id)?.id
    return (run, before ?? RunID(rawValue: 0))
  }
}
