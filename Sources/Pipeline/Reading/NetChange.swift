import Base
import Cache
import Catalog

/// An item that is not as an earlier run left it: all its changes since then taken together.
package struct NetChange: Sendable, Hashable {
  /// Whether it was listed then, and is now.
  package enum Presence: Sendable {
    /// No section listed it before, ever.
    case added
    /// No section listed it then, but once.
    case back
    /// No section lists it any more.
    case removed
    /// A section listed it then, and one does now.
    case stayed
  }

  /// The item's id.
  package let id: String
  /// The key of a section that lists it, or listed it last.
  package let section: String
  /// Whether it came or went.
  package let presence: Presence
  /// The item now, or as that run left it; nil when that is not kept.
  package let item: StoreItem?
  /// The price to pay then; nil for none.
  package let price: Price?
  /// The badges then, a comma and a space between.
  package let badges: String
  /// Whether a picture has other bytes.
  package let hasNewPictures: Bool

  /// The price to pay now; nil for none, and for an item that went.
  package var newPrice: Price? { presence == .removed ? nil : item?.price }

  /// The badges now, a comma and a space between.
  package var newBadges: String { item?.badges.joined(separator: ", ") ?? "" }
}

extension CatalogReader {
  /// The items that changed after a run, in the order of their first change.
  ///
  /// A change that another took back since is none. An item that is in two sections counts once.
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
    if run == nil {
      // The oldest that is kept has the items that went since.
      run = try index.runTimes(catalog: catalog.id, since: .distantPast).last {
        $0.finished != nil
      }
    }
    let changes = try index.history(catalog: catalog.id, since: moment)
    return try netChanges(changes, then: run?.id ?? RunID(rawValue: 0))
  }

  // All changes of a time, taken together; `run` is the last one before it, which has the items that went.
  private func netChanges(
    _ changes: [RecordedChange],
    then run: RunID
  ) throws(LarderError) -> [NetChange] {
    guard !changes.isEmpty else { return [] }
    var ids: [String] = []
    var byID: [String: [RecordedChange]] = [:]
    for change in changes {
      if byID[change.id] == nil { ids.append(change.id) }
      byID[change.id, default: []].append(change)
    }
    let wanted = Set(ids)
    let now = try items(wanted, in: sections())
    let then = try items(wanted.subtracting(now.keys), in: index.sections(run: run))
    return ids.compactMap { id in
      Self.net(id, byID[id] ?? [], now[id], then[id]?.item)
    }
  }

  /// Some listed items by id, with all sections that list each.
  private func items(
    _ wanted: Set<String>,
    in sections: [RunSection]
  ) throws(LarderError) -> [String: (item: StoreItem, sections: [String])] {
    var found: [String: (item: StoreItem, sections: [String])] = [:]
    for section in sections where !wanted.isEmpty {
      guard let listing = section.listing else { continue }
      try index.forEachBatch(of: listing) { records throws(LarderError) in
        for record in records where wanted.contains(record.key) {
          if found[record.key] == nil { found[record.key] = (try record.storeItem(), []) }
          found[record.key]?.sections.append(section.key)
        }
      }
    }
    return found
  }

  /// The changes of an item taken together; nil when it is as it was.
  private static func net(
    _ id: String,
    _ changes: [RecordedChange],
    _ now: (item: StoreItem, sections: [String])?,
    _ then: StoreItem?
  ) -> NetChange? {
    func isListing(_ change: RecordedChange) -> Bool {
      [.added, .removed, .back].contains(change.kind)
    }
    // The first event of a section says whether it listed the item before; one without events always did.
    let events = Dictionary(grouping: changes.filter(isListing), by: \.section)
    let wasListed =
      events.values.contains { $0.first?.kind == .removed }
      || now.map { $0.sections.contains { events[$0] == nil } } == true
    let presence: NetChange.Presence
    switch (wasListed, now != nil) {
    case (true, true): presence = .stayed
    case (true, false): presence = .removed
    case (false, true):
      presence = events.values.contains { $0.first?.kind == .back } ? .back : .added
    case (false, false): return nil
    }
    func first(_ field: HistoryField) -> RecordedChange? {
      changes.first { $0.kind == .changed(field) }
    }
    func before(_ field: HistoryField, _ present: Price?) -> Price? {
      first(field).map { Price($0.from) } ?? present
    }
    let item = now?.item ?? then
    let badges =
      first(.badges).map { $0.from?.text ?? "" } ?? item?.badges.joined(separator: ", ") ?? ""
    let pictures = [HistoryField.thumbnail, .images].contains { field in
      let own = changes.filter { $0.kind == .changed(field) }
      return own.first?.from != own.last?.to
    }
    let change = NetChange(
      id: id,
      section: now?.sections.first ?? changes.last?.section ?? "",
      presence: presence,
      item: item,
      price: before(.salePrice, item?.salePrice) ?? before(.normalPrice, item?.normalPrice),
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

  /// The failures that runs after another found and that the last run still has.
  ///
  /// - Parameter run: The run before them.
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

  /// The last finished run, and the one before it; 0 when there is none.
  package func lastRuns() throws(LarderError) -> (last: RunTime, before: RunID) {
    let run = try lastRun()
    let before = try index.lastRun(catalog: catalog.id, before: run.id)?.id
    return (
      RunTime(id: run.id, started: run.started, finished: run.finished, outcome: run.outcome),
      before ?? RunID(rawValue: 0)
    )
  }
}
