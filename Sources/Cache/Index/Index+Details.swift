import FoundationEssentials
import GRDB
import Transport

/// What is known beyond the listing of one item.
package struct DetailEntry: Sendable, Equatable {
  /// How the last request for it ended.
  package enum State: String, Sendable {
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

extension Index {
  /// The details of a catalog's items.
  package func details(catalog: CatalogID) throws(CacheError) -> [String: DetailEntry] {
    try read { db in
      var entries: [String: DetailEntry] = [:]
      let rows = try Row.fetchCursor(
        db,
        sql: "SELECT item, document, state, body, pictures, since FROM detail WHERE catalog = ?",
        arguments: [catalog]
      )
      while let row = try rows.next() {
        entries[row[0]] = DetailEntry(
          item: row[0],
          document: row[1],
          state: DetailEntry.State(rawValue: row[2]) ?? .failed,
          body: (row[3] as Data?).map { [UInt8]($0) },
          pictures: PackedNumbers.unpack((row[4] as Data?) ?? Data())
            .map(PictureID.init(number:)),
          since: row[5]
        )
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
          AS INTEGER) FROM detail JOIN document ON document.id = document WHERE catalog = ?
          """,
        arguments: [catalog]
      )
      while let row = try rows.next() { checks[row[0]] = row[1] }
      return checks
    }
  }

  static func save(_ detail: DetailEntry, catalog: CatalogID, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO detail(catalog, item, document, state, body, pictures, since) \
        VALUES (?,?,?,?,?,?,?)
        """
    ).execute(arguments: [
      catalog, detail.item, detail.document, detail.state.rawValue,
      detail.body.map { Data($0) }, Data(PackedNumbers.pack(detail.pictures.map(\.number))),
      detail.since,
    ])
  }
}
