import GRDB
import Transport

/// What is known beyond the listing of one item.
package struct DetailEntry: Sendable, Equatable {
  /// How the last request for it ended.
  package enum State: String, Sendable, DatabaseValueConvertible {
    /// The body is here.
    case held
    /// The origin said that there is none: 404 or 410. What was held before stays as ``body``.
    case missing
    /// It could not be had, and none was held before.
    case failed
  }

  /// The item's id.
  package var item: String
  /// The detail's document.
  package var document: DocumentID
  /// How the last request ended.
  package var state: State
  /// The detail in its stored form.
  package var body: [UInt8]?
  /// The pictures that it refers to, in order, repeats included.
  package var pictures: [PictureID]
  /// Since when the origin no longer has what is held, nil while it has it.
  package var since: UnixTime?

  /// An entry from its parts.
  package init(
    item: String,
    document: DocumentID,
    state: State,
    body: [UInt8]? = nil,
    pictures: [PictureID] = [],
    since: UnixTime? = nil
  ) {
    self.item = item
    self.document = document
    self.state = state
    self.body = body
    self.pictures = pictures
    self.since = since
  }
}

extension DetailEntry {
  fileprivate static let columns = "item, document, state, body, pictures, since"

  /// Reads a row of these columns; a state that this larder does not know is asked about again.
  fileprivate init(_ row: borrowing RowReader) {
    item = row.text(0) ?? ""
    document = DocumentID(row.key(1))
    state = row.text(2).flatMap(State.init) ?? .failed
    body = row.bytes(3)
    pictures = row.keys(4).map(PictureID.init)
    since = row.optionalTime(5)
  }
}

/// A row of `detail`.
struct DetailRow: PersistableRecord {
  static let databaseTableName = "detail"
  static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)

  let catalog: CatalogID
  let detail: DetailEntry

  func encode(to container: inout PersistenceContainer) {
    container["catalog"] = catalog
    container["item"] = detail.item
    container["document"] = detail.document
    container["state"] = detail.state
    container["body"] = detail.body?.databaseValue
    container["pictures"] = IdentityDigest.pack(detail.pictures.map(\.digest)).databaseValue
    container["since"] = detail.since
  }
}

extension Index {
  /// The details of a catalog's items.
  package func details(catalog: CatalogID) throws(CacheError) -> [String: DetailEntry] {
    try read { db in
      var entries: [String: DetailEntry] = [:]
      let row = try RowReader(db, "SELECT \(DetailEntry.columns) FROM detail WHERE catalog = ?")
      row.restart(catalog.rawValue)
      while try row.next() {
        let detail = DetailEntry(row)
        entries[detail.item] = detail
      }
      return entries
    }
  }

  /// The details of some items of a catalog, by the items' ids.
  package func details(
    catalog: CatalogID,
    items: some Sequence<String>
  ) throws(CacheError) -> [String: DetailEntry] {
    try read { db in
      let row = try RowReader(
        db,
        "SELECT \(DetailEntry.columns) FROM detail WHERE catalog = ? AND item = ?"
      )
      var entries: [String: DetailEntry] = [:]
      for item in items where entries[item] == nil {
        row.restart(catalog.rawValue, item)
        if try row.next() { entries[item] = DetailEntry(row) }
      }
      return entries
    }
  }

  /// When the origin last answered for the detail of each item of a catalog.
  ///
  /// `response` begins with two moments: when the document was asked for, and when it was answered.
  package func detailChecks(catalog: CatalogID) throws(CacheError) -> [String: UnixTime] {
    try read { db in
      var checks: [String: UnixTime] = [:]
      let rows = try Row.fetchCursor(
        db,
        sql: """
          SELECT item, CAST(coalesce(substr(response, instr(response, ' ') + 1), fetched, 0) \
          AS INTEGER) AS checked FROM detail JOIN document ON document.id = document WHERE catalog = ?
          """,
        arguments: [catalog]
      )
      while let row = try rows.next() {
        checks[try row.decode(forColumn: "item")] = try row.decode(forColumn: "checked")
      }
      return checks
    }
  }
}
