import Base
import Cache
import Catalog

/// Makes the report of a run.
///
/// It compares the sections with those of the previous run while pictures are still being fetched. The rest is added
/// when all stages have ended.
struct ReportWriting {
  private let context: RunContext
  private let sections: [SectionResult]
  private let items: Result<SyncReport.Items, LarderError>
  /// The changes to record in the history of prices and items.
  let changes: ListingChanges

  /// Compares the sections with those of the previous run.
  init(
    _ context: RunContext,
    before: [RunSection],
    sections: [SectionResult]
  ) {
    self.context = context
    self.sections = sections
    var changes = ListingChanges()
    let diff = Result { () throws(LarderError) in
      let after = sections.map { RunSection($0) }
      // Without a previous run, this is the first run, or the index was rebuilt and still has an older history.
      guard !before.isEmpty else {
        try changes.addAll(after, context)
        return try CatalogDiff(context.index, before: [], after: after)
      }
      return try CatalogDiff(context.index, before: before, after: after) {
        item,
        move throws(LarderError) in
        let (index, catalog) = (context.index, context.entry.id)
        if let move, try index.hasHistory(of: move.id, in: item.section, catalog: catalog) {
          changes.addReturn(item, from: move)
        } else {
          changes.items.append(item)
        }
      }
    }
    if case .success(let diff) = diff { changes.addMoves(of: diff) }
    // Keep the report's form alone: a change of all prices would otherwise be in memory twice.
    items = diff.map { diff in
      var items = SyncReport.Items()
      items.added = diff.added.map(\.id)
      items.removed = diff.removed.map(\.id)
      items.changed = diff.changed.map {
        SyncReport.Change(id: $0.id, field: $0.field, from: $0.from, to: $0.to)
      }
      return items
    }
    self.changes = changes
  }

  func report(
    details: SyncReport.Details?,
    lost: [ExactText: [LostField]],
    pictures: SyncReport.Pictures,
    bytesHeld: ByteCount
  ) throws(LarderError) -> SyncReport {
    var report = SyncReport(catalog: context.catalog.name)
    report.items = try items.get()
    for section in sections {
      let count = try section.listing.map { id throws(LarderError) in
        try context.index.itemCount(listing: id)
      }
      var row = section.row
      row.items = count ?? 0
      row.skipped = section.notes.skipped.count { $0.lost == .item } + section.notes.omitted.items
      row.withheld = section.withheld.count
      row.skippedReasons = section.notes.omitted.reasons
      report.sections.append(row)
      report.skipped += section.notes.skipped
      report.items.withheld += section.withheld
      report.items.total += count ?? 0
    }
    try add(lost, to: &report)
    report.details = details ?? SyncReport.Details()
    report.pictures = pictures
    report.pictures.bytesHeld = bytesHeld.count
    (report.failures, report.failuresOmitted) = context.failures.all(owners: try owners())
    // Most runs have no failures, and do not need the reports before.
    let hasFailures = !report.failures.isEmpty || !report.failuresOmitted.isEmpty
    let last = LastFailures(
      hasFailures
        ? try context.index.runs(
          catalog: context.entry.id,
          finishedOnly: true,
          before: context.number,
          limit: 10
        ).compactMap(\.report) : [],
      context.catalog.pictures.identity
    )
    last.mark(&report.failures)
    (report.unfinished, report.unfinishedOmitted) = context.failures.unfinished
    report.limit = context.failures.limit
    report.requests = context.failures.requests
    report.outcome = outcome(report, last)
    return report
  }

  private func outcome(_ report: SyncReport, _ last: LastFailures) -> SyncReport.Outcome {
    // If one response has all sections and it failed, no section is known.
    let isNothing = sections.isEmpty && report.failures.contains { $0.stage == .section }
    if isNothing || !sections.isEmpty && sections.allSatisfy({ $0.source == .failed }) {
      return .failed
    }
    // With `--strict`, a failure that the previous run had too counts as a new one.
    let isFailing =
      report.failures.contains { context.options.strict || !$0.isKnown }
      || !last.knows(report.failuresOmitted)
    if isFailing || report.unfinishedCount > 0 { return .partial }
    if sections.contains(where: { $0.warning != nil }) { return .partial }
    if sections.contains(where: { $0.source == .failed || $0.source == .stale && !$0.isExcused }) {
      return .partial
    }
    let isWithheld =
      !report.items.withheld.isEmpty || !report.details.withheld.isEmpty
      || !report.details.kept.isEmpty
      || sections.contains { $0.source == .withheld }
    return isWithheld ? .withheld : .complete
  }

  /// Adds the unreadable fields of details, in the order of sections and items.
  ///
  /// Each section lists them up to its limit of rows, and counts the others.
  private func add(
    _ lost: [ExactText: [LostField]],
    to report: inout SyncReport
  ) throws(LarderError) {
    var rest = lost
    for (place, section) in sections.enumerated() {
      guard !rest.isEmpty, let listing = section.listing else { continue }
      var notes = section.notes
      let rows = try context.index.itemKeys(listing: listing).flatMap { id in
        (rest.removeValue(forKey: id.exact) ?? []).map { fault in
          SyncReport.Skipped(
            section: section.key,
            field: fault.field,
            id: id,
            lost: .field,
            reason: fault.reason
          )
        }
      }
      notes.add(skipped: rows)
      report.skipped += notes.skipped.dropFirst(section.notes.skipped.count)
      report.sections[place].skippedReasons = notes.omitted.reasons
    }
  }

  /// The ids of items that show failed pictures, by picture.
  private func owners() throws(LarderError) -> [PictureID: String] {
    let (index, failed) = (context.index, context.failures.pictureFailures.keys)
    var owners: [PictureID: String] = [:]
    for listing in sections.compactMap(\.listing) {
      for (picture, _, id) in try index.items(
        of: listing,
        showing: failed.filter { owners[$0] == nil }
      ) { owners[picture] = owners[picture] ?? id }
    }
    for (picture, id) in try index.details(
      of: context.entry.id,
      showing: failed.filter { owners[$0] == nil }
    ) { owners[picture] = owners[picture] ?? id }
    return owners
  }
}

/// The difference between two runs: items that were added, removed or changed, and pictures with new bytes.
public struct RunDiff: Sendable, Hashable {
  /// The catalog's name.
  public let catalog: String
  /// The older run; nil if the newer run is the first.
  public let old: RunID?
  /// The newer run.
  public let new: RunID
  /// The items that were added, removed or changed.
  public let items: CatalogDiff
  /// The URLs of pictures with new bytes.
  public package(set) var pictures: [String] = []
  /// The pictures that were removed between the runs because no catalog needed them.
  package var removed: [Tombstone] = []
}

extension RunDiff: Encodable {
  /// Writes the difference as `diff --json` prints it.
  public func encode(to encoder: any Encoder) throws {
    let changed = items.changed.map {
      JSONMembers([
        "id": $0.id, "section": $0.section, "field": $0.field, "from": $0.from, "to": $0.to,
      ])
    }
    let swept = removed.map {
      JSONMembers(["url": $0.url, "at": $0.removed, "reason": $0.reason])
    }
    try encoder.write([
      "catalog": catalog, "old": old, "new": new, "added": items.added, "removed": items.removed,
      "changed": changed, "pictures": pictures, "swept": swept,
    ])
  }
}

extension CatalogDiff {
  /// Compares the items in the sections of two runs.
  ///
  /// Only items that both runs have in different versions are read. The memory grows with the number of changes alone.
  ///
  /// - Parameters:
  ///   - index: The index that has the items.
  ///   - before: The sections of the older run.
  ///   - after: The sections of the newer run.
  ///   - each: Called with each item that was added, removed, changed or moved, and with the section that listed it before if
  ///     it moved.
  /// - Throws: ``LarderError`` when the index cannot be read.
  init(
    _ index: Index,
    before: [RunSection],
    after: [RunSection],
    each: (ChangedItem, _ move: Listing?) throws(LarderError) -> Void = { _, _ in }
  ) throws(LarderError) {
    let same = Set(
      before.filter { old in
        after.contains { $0.key == old.key && $0.listing == old.listing }
      }.map(\.key)
    )
    func listings(_ sections: [RunSection]) -> [(key: String, listing: ListingID)] {
      sections.compactMap { section in
        same.contains(section.key) ? nil : section.listing.map { (section.key, $0) }
      }
    }
    let (old, new) = (listings(before), listings(after))
    let (oldByKey, newByKey) = (
      Dictionary(old) { first, _ in first }, Dictionary(new) { first, _ in first }
    )
    var comparison = Comparison<ItemVersion>()
    for (key, listing) in old {
      try index.forEachDifference(of: listing, from: newByKey[key]) { item throws(LarderError) in
        guard item.other == nil else { return }
        comparison.depart(Listing(section: key, id: item.id), item.version)
      }
    }
    for (key, listing) in new {
      try index.forEachDifference(
        of: listing,
        from: oldByKey[key],
        reading: true
      ) { item throws(LarderError) in
        let moved = item.other == nil ? comparison.arrive(Listing(section: key, id: item.id)) : nil
        let move = moved.map { Listing(section: $0.section, id: item.id) }
        let before = item.other ?? moved?.item
        try each(ChangedItem(section: key, from: before, to: item.version), move)
        guard let before, before != item.version else { return }
        // An item that moved is in two listings, so its earlier version has not been read yet.
        let old = item.bodies == nil ? try index.item(version: before) : item.bodies?.other
        let new = item.bodies == nil ? try index.item(version: item.version) : item.bodies?.own
        guard let first = old.flatMap({ try? StoreItem(decoding: $0) }),
          let second = new.flatMap({ try? StoreItem(decoding: $0) })
        else { return }
        comparison.change(CatalogDiff.changes(from: first, to: second, in: key))
      }
    }
    self = comparison.diff
    for (listing, version) in comparison.removed {
      try each(ChangedItem(section: listing.section, from: version, to: nil), nil)
    }
  }
}
