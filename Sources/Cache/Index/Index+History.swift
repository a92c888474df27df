import Base
import GRDB

/// A field of an item whose changes the history records.
///
/// The raw values are stored in the table `history` and never change.
package enum HistoryField: Int64, CaseIterable, Sendable {
  /// Whether a section lists the item.
  case listed = 1
  /// The normal price.
  case normalPrice
  /// The sale price, which is the price to pay if it differs from the normal price.
  case salePrice
  /// The key of the section that lists the item.
  case section
  case title
  /// The item's badges as one text, separated by `, `.
  case badges
  /// The ways of delivery as one text, separated by `, `.
  case deliveryTypes
  /// The SHA-256 of the thumbnail's bytes.
  case thumbnail
  /// The SHA-256 of each of the other pictures.
  case images

  var isPrice: Bool { self == .normalPrice || self == .salePrice }

  /// The numbers of all fields as a JSON array, such as `[1, 2, 3]`.
  fileprivate static let numbers = "\(allCases.map(\.rawValue))"
}

/// The value of a field in the history.
///
/// If the field has no value, nil is used instead.
package enum HistoryValue: Hashable, Sendable {
  /// A section lists the item.
  case listed
  /// A price in minor units such as cents, and its currency.
  case price(Int64, currency: String)
  case text(String)
  /// The SHA-256 of one or more pictures, 32 bytes for each picture.
  case digests([UInt8])
}

/// A change that a run found in one field of an item.
package struct ItemChange: Sendable, Equatable {
  /// The key of the section that lists the item, or that listed it before it was removed.
  package let section: String
  /// The id of the item.
  package let id: String
  package let field: HistoryField
  /// The previous value.
  ///
  /// It can be equal to ``to``. In that case nothing changed, but the value must be recorded as the previous value of a
  /// later change.
  package let from: HistoryValue?
  package let to: HistoryValue?

  /// Makes a change from its parts.
  package init(
    section: String,
    id: String,
    field: HistoryField,
    from: HistoryValue?,
    to: HistoryValue?
  ) {
    (self.section, self.id, self.field, self.from, self.to) = (section, id, field, from, to)
  }
}

/// An item that a section added, removed or changed.
///
/// A run can have a million of them, so it keeps the versions, and not the values that changed.
package struct ChangedItem: Sendable {
  /// The key of the section that lists the item, or that listed it before it was removed.
  package let section: String
  /// The version before; nil if the section did not list the item.
  package let from: ItemVersion?
  /// The version now; nil if the section no longer lists the item.
  package let to: ItemVersion?

  /// Makes a value from its parts.
  package init(section: String, from: ItemVersion?, to: ItemVersion?) {
    (self.section, self.from, self.to) = (section, from, to)
  }
}

/// A change that was read from the history.
package struct RecordedChange: Sendable, Equatable {
  /// The end of the run that found the change.
  package let time: UnixTime
  /// The run that found the change.
  package let run: RunID
  /// The key of the section that lists the item, or that listed it before it was removed.
  package let section: String
  /// The id of the item.
  package let id: String
  package let kind: ChangeKind
  /// The previous value; nil if the field had no value.
  package let from: HistoryValue?
  /// The new value; nil if the field has no value any more.
  package let to: HistoryValue?
}

/// A price of an item, and the time since which it has been valid.
///
/// An item has several steps if its price changed. A step can also record that a section began or ceased to list the
/// item.
package struct PriceStep: Sendable, Equatable {
  /// The number of the run that found the value.
  ///
  /// Sort by it, because two runs can end in the same second.
  package let run: Int64
  /// The time since which the value has been valid.
  package let time: UnixTime
  /// The field: `listed`, `normalPrice` or `salePrice`.
  package let field: HistoryField
  /// The value; nil if the field has had no value since ``time``.
  package let value: HistoryValue?
}

/// The part of an item that changed; the raw values are those of `larder history --json`.
public enum ChangeKind: String, Sendable, CaseIterable, Encodable {
  /// A section lists the item for the first time.
  case added
  /// No section lists the item any more.
  case removed
  /// A section lists the item again.
  case back
  /// The normal price. Shops show it crossed out while the item is on sale.
  case normalPrice
  /// The price to pay, if it differs from the normal price.
  case salePrice
  /// The section that lists the item.
  case section
  /// The title.
  case title
  /// The badges.
  case badges
  /// The ways of delivery.
  case deliveryTypes
  /// The bytes of the small picture.
  case thumbnail
  /// The bytes of other pictures.
  case images
}

extension HistoryValue {
  /// The value as text.
  ///
  /// A price is written in minor units, such as `5900 KRW`. Pictures are written as their ``digests``, separated by
  /// spaces.
  package var text: String {
    switch self {
    case .listed: "listed"
    case .price(let units, let currency): "\(units) \(currency)"
    case .text(let text): text
    case .digests: digests.joined(separator: " ")
    }
  }

  /// The SHA-256 of each picture in hexadecimal digits; empty if the value is not ``digests(_:)``.
  package var digests: [String] {
    guard case .digests(let bytes) = self else { return [] }
    return stride(from: 0, to: bytes.count, by: 32).map {
      Hexadecimal.text(bytes[$0..<min($0 + 32, bytes.count)])
    }
  }

  /// The value as the table stores it: a price in another currency than that of the run is a text with its currency.
  fileprivate func stored(in currency: String) -> HistoryValue {
    guard case .price(let units, let own) = self, own != currency else { return self }
    return .text("\(units) \(own)")
  }

  /// Reads a column; nil if it is NULL, or if the field cannot have such a value.
  fileprivate init?(
    _ rows: borrowing RowStatement,
    _ column: Int32,
    of field: HistoryField,
    in currency: String
  ) {
    if field == .listed {
      guard rows.isInteger(column) else { return nil }
      self = .listed
    } else if field.isPrice, rows.isInteger(column) {
      self = .price(rows.number(column), currency: currency)
    } else if rows.isBytes(column) {
      self = .digests(rows.bytes(column) ?? [])
    } else if let text = rows.text(column) {
      let parts = text.split(separator: " ")
      if field.isPrice, parts.count == 2, let units = Int64(parts[0]) {
        self = .price(units, currency: String(parts[1]))
      } else {
        self = .text(text)
      }
    } else {
      return nil
    }
  }
}

extension HistoryValue: RowArgument {
  func bind(to statement: OpaquePointer, _ place: Int32) {
    switch self {
    case .listed: Int64(1).bind(to: statement, place)
    case .price(let units, _): units.bind(to: statement, place)
    case .text(let text): text.bind(to: statement, place)
    case .digests(let bytes): bytes.bind(to: statement, place)
    }
  }
}

/// The SHA-256 of a picture's bytes before a run and now; nil if the cache does not hold it.
package typealias PictureDigests = (before: [UInt8]?, now: [UInt8]?)

/// Returns the changes of an item of a section, from its JSON before and now.
///
/// It must not use the index, but asks the given function for the digests of pictures.
package typealias ItemComparison =
  @Sendable (
    _ section: String, _ from: [UInt8]?, _ to: [UInt8]?,
    _ digests: (PictureID) throws -> PictureDigests
  ) throws -> [ItemChange]

/// Writes the changes that a run found to the history, in the transaction that ends the run.
struct HistoryWriter {
  private let db: Database
  private let catalog: CatalogID
  private let run: RunID
  private let currency: String
  /// The run with which the history of the catalog begins, and the currency of that run.
  private let beginning: (run: RunID, currency: String)
  /// The item of the last change, because the changes of an item follow each other.
  private var item: (section: String, id: String, row: Int64)?
  /// Whether this call inserted the row of `item`, so that it has no earlier values.
  private var isNew = false
  /// The last run in which a section began to list `item`, if it is new.
  private var since: RunID

  /// Records the changes that a run found.
  ///
  /// The history of a catalog begins with its first run. For this run, only a row in `history_run` is written. A run
  /// without changes writes nothing.
  ///
  /// - Parameters:
  ///   - changes: The changes, those of items that moved to another section first.
  ///   - items: The items that were added, removed or changed.
  ///   - sections: The sections after the run. An item of them changed too if one of its pictures has other bytes.
  ///   - comparison: Compares one of these items.
  ///   - run: The run that found them.
  ///   - now: The time at which the run ends.
  ///   - db: The database.
  /// - Throws: `DatabaseError` when a row cannot be written.
  static func record(
    _ changes: [ItemChange],
    _ items: [ChangedItem],
    _ sections: [RunSection],
    _ comparison: ItemComparison,
    run: RunID,
    at now: UnixTime,
    in db: Database
  ) throws {
    let sql =
      "SELECT catalog, currency FROM run JOIN catalog ON catalog.id = catalog WHERE run.id = ?"
    let own = try db.first(sql, run) { (CatalogID(rawValue: $0.number(0)), $0.text(1) ?? "") }
    guard let (catalog, currency) = own else { return }
    func enter(_ run: RunID, _ time: UnixTime) throws {
      let insert =
        "INSERT OR IGNORE INTO history_run(run, catalog, time, currency) VALUES (?,?,?,?)"
      try db.run(insert, run, catalog, time, currency)
    }
    func first() throws -> (run: RunID, currency: String)? {
      try db.first(
        "SELECT run, currency FROM history_run WHERE catalog = ? ORDER BY run LIMIT 1",
        catalog
      ) { (RunID(rawValue: $0.number(0)), $0.text(1) ?? "") }
    }
    if try first() == nil {
      // If an older version of larder that had no history has synced the catalog, the history begins with the last run
      // of that version.
      let last = """
        SELECT id, finished FROM run WHERE catalog = ? AND id < ? AND finished IS NOT NULL \
        ORDER BY id DESC LIMIT 1
        """
      let previous = try db.first(last, catalog, run) {
        (RunID(rawValue: $0.number(0)), $0.time(1))
      }
      try enter(previous?.0 ?? run, previous?.1 ?? now)
    }
    guard let beginning = try first() else { return }
    var writer: HistoryWriter?
    func record(_ changes: [ItemChange]) throws {
      guard !changes.isEmpty else { return }
      if writer == nil {
        try enter(run, now)
        writer = HistoryWriter(
          db: db,
          catalog: catalog,
          run: run,
          currency: currency,
          beginning: beginning,
          since: beginning.run
        )
      }
      if let move = try writer?.move(changes[0], among: sections) { try writer?.record(move) }
      for change in changes { try writer?.record(change) }
    }
    try record(changes)
    let picture = try RowStatement(db, Self.digests)
    func digests(_ id: PictureID) throws -> PictureDigests {
      try picture.first(run, id) {
        let (before, now) = ($0.bytes(1), $0.bytes(0))
        return (before == nil ? now : before == [] ? nil : before, now)
      } ?? (nil, nil)
    }
    for item in items {
      let from = try item.from.map { try Index.body($0, db) }
      let to = try item.to.map { try Index.body($0, db) }
      // A version that is missing has no values to compare.
      if from == .some(nil) || to == .some(nil) { continue }
      try record(comparison(item.section, from ?? nil, to ?? nil, digests))
    }
    for section in sections {
      guard let listing = section.listing else { continue }
      try db.forEach(Self.repainted, run, listing) {
        let body = $0.bytes(1) ?? []
        try record(comparison(section.key, body, body, digests))
      }
    }
  }

  /// The digest of a picture, and the one that it had before a run changed it.
  private static let digests = """
    SELECT sha256, (SELECT before FROM picture_change WHERE run = ?1 AND picture = ?2) FROM picture WHERE id = ?2
    """

  /// The items of a listing that show a picture whose bytes a run changed.
  private static let repainted = """
    SELECT DISTINCT i.row, i.body FROM picture_change c CROSS JOIN picture p ON p.id = c.picture \
    CROSS JOIN item_picture s ON s.picture = p.row \
    CROSS JOIN listing_item l INDEXED BY listing_member ON l.listing = ?2 AND l.item = s.item \
    CROSS JOIN item i ON i.row = s.item WHERE c.run = ?1
    """

  private mutating func record(_ change: ItemChange) throws {
    if item?.id.exact != change.id.exact || item?.section.exact != change.section.exact {
      (isNew, since) = (false, beginning.run)
      item = (change.section, change.id, try number(of: change))
    }
    guard let item = item?.row else { return }
    if !isNew, let last = try last(change.field, of: item) {
      var value = last.value
      // If the item was removed and came back with another value, that change was not recorded. Record it now.
      if change.field != .listed, value != change.from {
        let back = try listed(item)
        if last.run < back, back < run {
          try insert(change.from, change.field, of: item, since: back)
          value = change.from
        }
      }
      if value != change.to { try insert(change.to, change.field, of: item, since: run) }
      return
    }
    // A removed item can come back with a price that it did not have. The other values of an added item are recorded
    // when it is removed.
    let isNeeded = change.from != nil && (change.field.isPrice || change.field == .listed)
    if change.from == change.to, isNew, since == run, !isNeeded { return }
    // An added item had no previous values.
    let isAdded = change.field == .listed && change.from == nil
    if isAdded {
      since = run
    } else {
      try insert(change.from, change.field, of: item, since: isNew ? since : try listed(item))
    }
    if isAdded || change.from != change.to {
      try insert(change.to, change.field, of: item, since: run)
    }
  }

  /// The number of the item in `history_item`.
  ///
  /// If the item is new, it is inserted. If the item moved to another section, its number stays the same.
  private mutating func number(of change: ItemChange) throws -> Int64 {
    if let number = try known(change.id, in: change.section) { return number }
    if change.field == .section, case .text(let old)? = change.from,
      let number = try known(change.id, in: old)
    {
      try db.run("UPDATE history_item SET section = ? WHERE row = ?", change.section, number)
      return number
    }
    let sql = "INSERT INTO history_item(catalog, key, section, changed) VALUES (?,?,?,?)"
    try db.run(sql, catalog, change.id, change.section, run)
    isNew = true
    return db.lastInsertedRowID
  }

  /// The move of an item that comes back in another section than the one that listed it last; nil if it is no such item, or
  /// if one of the other sections lists it too.
  ///
  /// With it, the history of the item continues.
  private func move(_ change: ItemChange, among sections: [RunSection]) throws -> ItemChange? {
    guard change.field == .listed, change.from == nil,
      try known(change.id, in: change.section) == nil
    else { return nil }
    for section in sections where section.key != change.section {
      let place = ListingQuery.itemsOfKey.rawValue
      let isListed = try section.listing.map {
        try db.first(place, $0, change.id) { _ in } != nil
      }
      if isListed == true { return nil }
    }
    let sql = """
      SELECT section, (SELECT max(run) FROM history WHERE item = row AND field = ?3) AS last FROM history_item \
      WHERE catalog = ?1 AND key = ?2 AND (SELECT value IS NULL FROM history WHERE item = row AND field = ?3 AND run = last) \
      ORDER BY last DESC LIMIT 1
      """
    let old = try db.first(sql, catalog, change.id, HistoryField.listed) { $0.text(0) } ?? nil
    return old.map { section in
      ItemChange(
        section: change.section,
        id: change.id,
        field: .section,
        from: .text(section),
        to: .text(change.section)
      )
    }
  }

  private func known(_ id: String, in section: String) throws -> Int64? {
    try Self.number(of: id, in: section, catalog, db)
  }

  /// The number of an item in `history_item`; nil if the history has no such item in the section.
  fileprivate static func number(
    of id: String,
    in section: String,
    _ catalog: CatalogID,
    _ db: Database
  ) throws -> Int64? {
    let sql = "SELECT row FROM history_item WHERE catalog = ? AND key = ? AND section = ?"
    return try db.first(sql, catalog, id, section) { $0.number(0) }
  }

  /// The last recorded value of a field, and the run that found it; nil if none was recorded.
  private func last(
    _ field: HistoryField,
    of item: Int64
  ) throws -> (value: HistoryValue?, run: RunID)? {
    let sql = """
      SELECT value, run, (SELECT currency FROM history_run WHERE history_run.run = history.run) \
      FROM history WHERE item = ? AND field = ? ORDER BY run DESC LIMIT 1
      """
    return try db.first(sql, item, field) {
      (HistoryValue($0, 0, of: field, in: $0.text(2) ?? ""), RunID(rawValue: $0.number(1)))
    }
  }

  /// The last run in which a section began to list the item.
  private func listed(_ item: Int64) throws -> RunID {
    let sql = "SELECT max(run) FROM history WHERE item = ? AND field = ? AND value IS NOT NULL"
    let run = try db.first(sql, item, HistoryField.listed) { $0.optionalNumber(0) } ?? nil
    return run.map { RunID(rawValue: $0) } ?? beginning.run
  }

  private func insert(
    _ new: HistoryValue?,
    _ field: HistoryField,
    of item: Int64,
    since run: RunID
  ) throws {
    // The currency of any other run is not known here, so its prices are written together with their currency.
    let currency = run == self.run ? self.currency : run == beginning.run ? beginning.currency : ""
    let sql = "INSERT OR REPLACE INTO history(item, field, run, value) VALUES (?,?,?,?)"
    try db.run(sql, item, field, run, new?.stored(in: currency))
    guard run == self.run, !isNew else { return }
    try db.run("UPDATE history_item SET changed = ?1 WHERE row = ?2", run, item)
  }
}

extension Index {
  /// Whether the history has an item in a section.
  package func hasHistory(
    of id: String,
    in section: String,
    catalog: CatalogID
  ) throws(LarderError) -> Bool {
    try read { db in try HistoryWriter.number(of: id, in: section, catalog, db) != nil }
  }

  /// The recorded changes of a catalog, sorted by run, section, item and field.
  ///
  /// - Parameters:
  ///   - catalog: The catalog.
  ///   - id: The item whose changes are returned. Pass nil to get the changes of all items.
  ///   - since: Only changes of runs that ended at this moment or later are returned. Pass nil to get the changes of
  ///     all runs.
  ///   - after: Only changes of runs after this run are returned. Pass nil to get the changes of all runs.
  /// - Returns: The changes.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func history(
    catalog: CatalogID,
    item id: String? = nil,
    since: UnixTime? = nil,
    after: RunID? = nil
  ) throws(LarderError) -> [RecordedChange] {
    try read { db in
      let runs = try historyRuns(of: catalog, db)
      guard let beginning = runs.keys.min() else { return [] }
      func counts(_ run: RunID, _ time: UnixTime) -> Bool {
        since.map { time >= $0 } ?? true && after.map { run > $0 } ?? true
      }
      var start: RunID?
      if since != nil || after != nil {
        start = runs.filter { counts($0.key, $0.value.time) }.keys.min()
        guard start != nil else { return [] }
      }
      // For each field that changed since `start`, read only the rows since `start`, and the last row before it for
      // the previous value. This matters because an item has hundreds of rows after ten years.
      let recent = """
        CROSS JOIN json_each('\(HistoryField.numbers)') AS number \
        CROSS JOIN history ON item = row AND field = number.value AND run >= (SELECT coalesce((SELECT max(run) \
        FROM history AS before WHERE before.item = row AND before.field = number.value AND before.run < ?2), 0) \
        WHERE EXISTS (SELECT 1 FROM history AS later \
        WHERE later.item = row AND later.field = number.value AND later.run >= ?2))
        """
      let rows = try RowStatement(
        db,
        """
        SELECT row, field, run, history.value, history_item.key, section FROM history_item \
        \(id == nil ? "NOT INDEXED" : "") \(start == nil ? "CROSS JOIN history ON item = row" : recent) \
        WHERE catalog = ?1 AND changed >= ?2\(id == nil ? "" : " AND history_item.key = ?3") \
        ORDER BY row, field, run
        """
      )
      rows.restart(catalog, start?.rawValue ?? 0, id)
      var changes: [RecordedChange] = []
      var before: (item: Int64, field: Int64, value: HistoryValue?)?
      while try rows.next() {
        let (item, number) = (rows.number(0), rows.number(1))
        let run = RunID(rawValue: rows.number(2))
        guard let field = HistoryField(rawValue: number), let (time, currency) = runs[run] else {
          continue
        }
        let value = HistoryValue(rows, 3, of: field, in: currency)
        let isRest = field == .listed && rows.number(3) >= Self.listedBefore
        let hasOld = before.map { $0.item == item && $0.field == number } ?? false
        let old = hasOld ? before?.value : nil
        before = (item, number, value)
        guard counts(run, time) else { continue }
        let kind: ChangeKind
        switch (field, hasOld, value) {
        case (.listed, false, .some) where run != beginning && !isRest: kind = .added
        case (_, false, _): continue
        case (.listed, true, nil): kind = .removed
        case (.listed, true, .some): kind = .back
        // Both enumerations use the same names for the fields.
        default: kind = ChangeKind(rawValue: "\(field)") ?? .back
        }
        changes.append(
          RecordedChange(
            time: time,
            run: run,
            section: rows.text(5) ?? "",
            id: rows.text(4) ?? "",
            kind: kind,
            from: field == .listed ? nil : old,
            to: field == .listed ? nil : value
          )
        )
      }
      // Swift's sort is stable, so the fields of an item keep their order.
      return changes.sorted { ($0.run, $0.section, $0.id) < ($1.run, $1.section, $1.id) }
    }
  }

  /// The prices of items since a given moment.
  ///
  /// The steps of an item begin when the price to pay at that moment was set. If an item has no steps, its present
  /// prices have been valid since the beginning of the history.
  ///
  /// - Parameters:
  ///   - items: The items, each by the key of its section after the run `through` and its id.
  ///   - catalog: The catalog.
  ///   - since: The moment.
  ///   - through: The last run to include.
  /// - Returns: The time at which the history of the catalog begins, and the steps of each item; nil if the catalog
  ///   has no history yet. Changes before the time `forgotten` were deleted. The steps of an item are sorted by field,
  ///   and for each field by run.
  /// - Throws: ``LarderError`` when the index cannot be read.
  package func priceSteps(
    of items: [(section: String, id: String)],
    catalog: CatalogID,
    since: UnixTime,
    through: RunID
  ) throws(LarderError) -> (beginning: UnixTime, forgotten: UnixTime, items: [[PriceStep]])? {
    try read { db in
      let runs = "FROM history_run WHERE catalog = ? "
      let first = "SELECT time \(runs) ORDER BY time LIMIT 1"
      guard let beginning = try db.first(first, catalog, make: { $0.time(0) }) else { return nil }
      let before = "SELECT run \(runs) AND time <= ? ORDER BY time DESC LIMIT 1"
      let start = try db.first(before, catalog, since) { $0.number(0) } ?? 0
      // If nothing has changed yet, there is nothing to search.
      let isEmpty = try db.first("SELECT 1 FROM history_item LIMIT 1", make: { _ in }) == nil
      // A later run can have found the item in another section.
      let number = try RowStatement(
        db,
        """
        SELECT row FROM history_item WHERE catalog = ?1 AND key = ?2 AND ?3 = coalesce(\
        (SELECT value FROM history WHERE item = row AND field = ?5 AND run <= ?4 ORDER BY run DESC LIMIT 1), section) \
        AND coalesce((SELECT min(run) FROM history WHERE item = row AND field = ?6), 0) <= ?4
        """
      )
      let last = try RowStatement(
        db,
        """
        SELECT run, value IS NULL FROM history WHERE item = ? AND field = ? AND run <= ? \
        ORDER BY run DESC LIMIT 1
        """
      )
      let steps = try RowStatement(
        db,
        """
        SELECT value, time, currency, run FROM history JOIN history_run USING (run) \
        WHERE item = ?1 AND field = ?2 AND run <= ?4 AND run >= coalesce(\
        (SELECT max(run) FROM history WHERE item = ?1 AND field = ?2 AND run <= ?3), 0) ORDER BY run
        """
      )
      let found = try items.map { item -> [PriceStep] in
        if isEmpty { return [] }
        let row = try number.first(
          catalog,
          item.id,
          item.section,
          through,
          HistoryField.section,
          HistoryField.listed
        ) { $0.number(0) }
        guard let row else { return [] }
        // The price to pay at the start has been valid since the last change of the sale price, or of both prices.
        let (sale, normal) = try (
          last.first(row, HistoryField.salePrice, start) { ($0.number(0), $0.number(1) == 1) },
          last.first(row, HistoryField.normalPrice, start) { $0.number(0) }
        )
        let isOnSale = sale.map { !$0.1 } ?? false
        let valid = [sale?.0, isOnSale ? nil : normal].compactMap(\.self).max()
        return try [HistoryField.listed, .normalPrice, .salePrice].flatMap { field in
          try steps.all(row, field, valid ?? start, through) {
            let value = HistoryValue($0, 0, of: field, in: $0.text(2) ?? "")
            return PriceStep(run: $0.number(3), time: $0.time(1), field: field, value: value)
          }
        }
      }
      return (beginning, try db.historyForgotten(), found)
    }
  }

  /// The runs that found changes in a catalog, with their times and currencies.
  private func historyRuns(
    of catalog: CatalogID,
    _ db: Database
  ) throws -> [RunID: (time: UnixTime, currency: String)] {
    let sql = "SELECT run, time, currency FROM history_run WHERE catalog = ?"
    var runs: [RunID: (time: UnixTime, currency: String)] = [:]
    try db.forEach(sql, catalog) {
      runs[RunID(rawValue: $0.number(0))] = ($0.time(1), $0.text(2) ?? "")
    }
    return runs
  }

  /// The stored value of ``HistoryField/listed`` if the history before it was deleted, so that it is not told whether
  /// the item was new.
  static let listedBefore = 2

  /// The ids of the items that have a history, by the key of their section.
  package func historyItems(catalog: CatalogID) throws(LarderError) -> [String: Set<ExactText>] {
    try read { db in
      var items: [String: Set<ExactText>] = [:]
      try db.forEach("SELECT section, key FROM history_item WHERE catalog = ?", catalog) {
        items[$0.text(0) ?? "", default: []].insert(($0.text(1) ?? "").exact)
      }
      return items
    }
  }
}
