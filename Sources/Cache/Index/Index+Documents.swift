import Base
import GRDB

/// The row of a document in the index: a page of a section, or the detail of an item.
///
/// A document is found by its URL and its reader, which is the section or catalog whose rules decode the body. Several
/// readers can share a URL. Each of them has a row of its own, because each decodes the body in its own way.
package struct DocumentEntry: Sendable, Equatable {
  /// The key, made of the reader and the URL.
  package var id: DocumentID
  /// The URL that was requested.
  package var url: String
  /// The digest of the rules in the catalog file by which the body was decoded.
  package var mapping: Int64
  /// The header fields of the response that are relevant for caching, in the text form of `StoredResponse.word`.
  package var response: String?
  /// The time until which no request is needed.
  package var expiry = UnixTime(0)
  package var digest: Int64?
  package var fetched: UnixTime?
  /// The URL of the next page of the section; nil if this is the last page.
  package var next: String?

  /// Makes the row of a document that was not received yet.
  ///
  /// For `reader`, see ``DocumentID/init(url:reader:)``.
  package init(url: String, reader: String = "", mapping: Int64) {
    id = DocumentID(url: url, reader: reader)
    (self.url, self.mapping) = (url, mapping)
  }
}

/// One section of a page, after the page was decoded.
package struct DecodedSection: Sendable, Equatable {
  /// The section's key.
  package var key: String
  /// The section's title.
  package var title: String
  /// The line below the title.
  package var subtitle: String?
  /// Those items of the section that are in the page, as a listing, which is an ordered list of items.
  ///
  /// This is the listing that the shop sent. If too many items are missing from it, readers of the cache see an
  /// earlier listing instead.
  package var listing: ListingID
  /// The items that could not be read, in the text form of `SkippedText`.
  package var skipped: String

  /// Makes a section from its parts.
  ///
  /// The listing can be set later, when it is stored.
  package init(
    key: String,
    title: String,
    subtitle: String?,
    listing: ListingID = ListingID(rawValue: 0),
    skipped: String
  ) {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.listing = listing
    self.skipped = skipped
  }
}

extension DocumentEntry {
  fileprivate static let columns = "id, url, mapping, response, expiry, digest, fetched, next"

  /// Reads the columns ``columns`` of the present row, which begin at `first`; nil if the row has no document.
  init?(_ row: borrowing RowStatement, from first: Int32 = 0) {
    guard let url = row.text(first + 1) else { return nil }
    self.url = url
    id = DocumentID(row.key(first))
    mapping = row.number(first + 2)
    response = row.text(first + 3)
    expiry = row.time(first + 4)
    digest = row.optionalNumber(first + 5)
    fetched = row.optionalTime(first + 6)
    next = row.text(first + 7)
  }

  /// Writes the row.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - db: The database.
  /// - Throws: `DatabaseError` when the index cannot be written.
  func save(to table: String = "document", in db: Database) throws {
    let sql = "INSERT OR REPLACE INTO \(table)(\(Self.columns)) VALUES (?,?,?,?,?,?,?,?)"
    try db.run(sql, id, url, mapping, response, expiry, digest, fetched, next)
  }
}

extension Index {
  /// The row that `reader` has for the document at `url`; nil if the document was never fetched for that reader.
  package func document(_ url: String, reader: String = "") throws(LarderError) -> DocumentEntry? {
    let id = DocumentID(url: url, reader: reader)
    return try documents([id])[id]
  }

  /// The rows of these documents.
  ///
  /// Documents without a row are left out.
  package func documents(
    _ ids: [DocumentID]
  ) throws(LarderError) -> [DocumentID: DocumentEntry] {
    try read { db in
      let row = try RowStatement(
        db,
        "SELECT \(DocumentEntry.columns) FROM document WHERE id = ?"
      )
      var entries = [DocumentID: DocumentEntry](minimumCapacity: ids.count)
      for id in ids where entries[id] == nil {
        entries[id] = try row.first(id) { DocumentEntry($0) } ?? nil
      }
      return entries
    }
  }

  /// The sections that a page had when it was last decoded, in the order of the page.
  package func decoded(_ document: DocumentID) throws(LarderError) -> [DecodedSection] {
    let sql = """
      SELECT key, title, subtitle, listing, skipped FROM decoded WHERE document = ? ORDER BY position
      """
    return try rows(sql, document) {
      DecodedSection(
        key: $0.text(0) ?? "",
        title: $0.text(1) ?? "",
        subtitle: $0.text(2),
        listing: ListingID(rawValue: $0.number(3)),
        skipped: $0.text(4) ?? ""
      )
    }
  }

  /// Stores a page, its sections and their listings in one transaction.
  ///
  /// - Parameters:
  ///   - document: The page.
  ///   - sections: The sections of the page, each with its listing.
  /// - Returns: The sections with the ids of the stored listings.
  /// - Throws: ``LarderError`` when the index cannot be written.
  package func store(
    _ document: DocumentEntry,
    new sections: [(section: DecodedSection, listing: NewListing)]
  ) throws(LarderError) -> [DecodedSection] {
    try write { db in
      let decoded = try sections.map { section, listing in
        var section = section
        section.listing = try listing.keep(in: db)
        return section
      }
      try document.save(in: db)
      try db.run("DELETE FROM decoded WHERE document = ?", document.id)
      let row = try RowStatement(
        db,
        "INSERT INTO decoded(document, position, key, title, subtitle, listing, skipped) VALUES (?,?,?,?,?,?,?)"
      )
      for (place, it) in decoded.enumerated() {
        try row.run(document.id, place, it.key, it.title, it.subtitle, it.listing, it.skipped)
      }
      return decoded
    }
  }
}

/// The detail of an item: a document about this item alone, which some shops have beside their lists.
package struct DetailEntry: Sendable, Equatable {
  /// The result of the last request for a detail.
  ///
  /// The raw values are stored in the index.
  package enum State: String, Sendable {
    /// The detail was received.
    case held
    /// The shop answered with status 404 or 410.
    ///
    /// If there was an earlier version, it stays in ``body``.
    case missing
    /// The request failed, and there is no earlier version.
    case failed
  }

  package var item: String
  package var document: DocumentID
  package var state: State
  /// The detail as JSON; nil if none was ever received.
  package var body: [UInt8]?
  /// The pictures that the detail refers to, in the order of the detail; nil for those that its row in the index has.
  ///
  /// They are written, but never read. A picture that occurs twice is in the list twice.
  package var pictures: [PictureID]?
  /// The time since which the shop answers with 404 or 410; nil if the shop has the detail.
  package var since: UnixTime?

  /// Makes a detail from its parts.
  package init(
    item: String,
    document: DocumentID,
    state: State,
    body: [UInt8]? = nil,
    pictures: [PictureID]? = [],
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
  fileprivate static let columns = "item, document, state, body, since"

  /// Reads the columns ``columns`` of the present row, which begin at `first`; nil if the row has no detail.
  ///
  /// An unknown state becomes `failed`, so that the detail is requested again.
  init?(_ row: borrowing RowStatement, from first: Int32 = 0) {
    guard let item = row.text(first) else { return nil }
    self.item = item
    document = DocumentID(row.key(first + 1))
    state = row.text(first + 2).flatMap(State.init) ?? .failed
    body = row.bytes(first + 3)
    since = row.optionalTime(first + 4)
  }
}

/// A detail to write, with everything that its row needs.
package struct CommittedDetail: Sendable {
  /// The detail; nil if only its document has changed.
  package let detail: DetailEntry?
  let catalog: CatalogID
  let document: DocumentEntry
  /// The pictures that the detail shows, unless an earlier commit named them.
  let pictures: [PictureAddress]

  /// Makes a value of its parts.
  package init(
    _ detail: DetailEntry?,
    of catalog: CatalogID,
    from document: DocumentEntry,
    showing pictures: [PictureAddress] = []
  ) {
    (self.detail, self.catalog, self.document) = (detail, catalog, document)
    self.pictures = pictures
  }

  /// Writes the rows in the caller's transaction.
  func save(in db: Database) throws {
    try Index.name(pictures, in: db)
    try document.save(in: db)
    guard let detail else { return }
    let upsert = """
      INSERT INTO detail(catalog, item, document, state, body, since) VALUES (?,?,?,?,?,?) \
      ON CONFLICT(catalog, item) DO UPDATE SET document = excluded.document, state = excluded.state, \
      body = excluded.body, since = excluded.since
      """
    let (state, since) = (detail.state, detail.since)
    try db.run(upsert, catalog, detail.item, detail.document, state, detail.body, since)
    guard let pictures = detail.pictures else { return }
    let select = "SELECT row FROM detail WHERE catalog = ?1 AND item = ?2"
    let own = try db.first(select, catalog, detail.item) { $0.number(0) }
    try db.run("DELETE FROM detail_picture WHERE detail = ?", own)
    let shown = try RowStatement(
      db,
      "INSERT INTO detail_picture(detail, place, picture) SELECT ?1, ?2, row FROM picture WHERE id = ?3"
    )
    for (place, id) in pictures.enumerated() { try shown.run(own, place, id) }
  }
}

extension Index {
  /// Writes details in one transaction.
  package func store(_ details: some Sequence<CommittedDetail>) throws(LarderError) {
    try write { db in for detail in details { try detail.save(in: db) } }
  }

  /// The details of the given items of a catalog, by the items' ids.
  package func details(
    catalog: CatalogID,
    items: some Sequence<String>
  ) throws(LarderError) -> [ExactText: DetailEntry] {
    try read { db in
      let row = try RowStatement(
        db,
        "SELECT \(DetailEntry.columns) FROM detail WHERE catalog = ? AND item = ?"
      )
      var entries: [ExactText: DetailEntry] = [:]
      for item in items where entries[item.exact] == nil {
        entries[item.exact] = try row.first(catalog, item) { DetailEntry($0) } ?? nil
      }
      return entries
    }
  }
}
