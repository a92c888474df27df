import Base
import GRDB

/// The row of a section's page or an item's detail in the index, found by its URL and its reader.
///
/// The reader is the section or catalog that decodes the body. Several readers may share a URL; each has its own row,
/// because each decodes the body in its own way.
package struct DocumentEntry: Sendable, Equatable {
  /// The key of its reader and URL.
  package var id: DocumentID
  /// The URL, as in the request.
  package var url: String
  /// The digest of the mapping that the body was read with.
  package var mapping: Int64
  /// The origin's caching fields for the body, in the text form of `StoredHeaders`.
  package var response: String?
  /// The time until which the body is fresh.
  package var expiry: UnixTime
  /// The digest of the last body.
  package var digest: Int64?
  /// The time at which the body was fetched.
  package var fetched: UnixTime?
  /// The URL of the next page; nil when there is none.
  package var next: String?

  /// Memberwise initializer; `reader` names the section or the catalog's details that decode the body.
  package init(
    url: String,
    reader: String = "",
    mapping: Int64,
    response: String? = nil,
    expiry: UnixTime = UnixTime(0),
    digest: Int64? = nil,
    fetched: UnixTime? = nil,
    next: String? = nil
  ) {
    self.id = DocumentID(url: url, reader: reader)
    self.url = url
    self.mapping = mapping
    self.response = response
    self.expiry = expiry
    self.digest = digest
    self.fetched = fetched
    self.next = next
  }
}

/// One section of a decoded page, as the index stores it.
package struct DecodedSection: Sendable, Equatable, Codable, FetchableRecord, EncodableRecord {
  /// The section's key.
  package var key: String
  /// The section's title.
  package var title: String
  /// The line under the title.
  package var subtitle: String?
  /// The listing as the feed has it.
  ///
  /// If too many items are missing, readers see an earlier listing instead.
  package var listing: ListingID
  /// The skipped items, in the text form of `SkippedText`.
  package var skipped: String

  /// Memberwise initializer; the listing may be set later, once it is stored.
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

extension DocumentEntry: PersistableRecord {
  package static let databaseTableName = "document"
  package static let persistenceConflictPolicy = PersistenceConflictPolicy(insert: .replace)

  fileprivate static let columns = "id, url, mapping, response, expiry, digest, fetched, next"

  /// Reads a row that has the columns ``columns``.
  fileprivate init(_ row: borrowing RowReader) {
    id = DocumentID(row.key(0))
    url = row.text(1) ?? ""
    mapping = row.number(2)
    response = row.text(3)
    expiry = row.time(4)
    digest = row.optionalNumber(5)
    fetched = row.optionalTime(6)
    next = row.text(7)
  }

  /// Writes a row of `document`.
  package func encode(to container: inout PersistenceContainer) {
    container["id"] = id
    container["url"] = url
    container["mapping"] = mapping
    container["response"] = response
    container["expiry"] = expiry
    container["digest"] = digest
    container["fetched"] = fetched
    container["next"] = next
  }
}

/// A row of `decoded`.
private struct DecodedRow: PersistableRecord {
  static let databaseTableName = "decoded"

  let document: DocumentID
  /// The section's index in the page, from 0.
  let position: Int
  let section: DecodedSection

  func encode(to container: inout PersistenceContainer) throws {
    try section.encode(to: &container)
    container["document"] = document
    container["position"] = position
  }
}

extension Index {
  /// The rows of these documents; documents without a row are left out.
  package func documents(
    _ ids: [DocumentID]
  ) throws(LarderError) -> [DocumentID: DocumentEntry] {
    try read { db in
      let row = try RowReader(
        db,
        "SELECT \(DocumentEntry.columns) FROM document WHERE id = ?"
      )
      var entries = [DocumentID: DocumentEntry](minimumCapacity: ids.count)
      for id in ids where entries[id] == nil {
        row.restart(id.digest)
        if try row.next() { entries[id] = DocumentEntry(row) }
      }
      return entries
    }
  }

  /// The last decoded sections of a page, in the page's order.
  package func decoded(_ document: DocumentID) throws(LarderError) -> [DecodedSection] {
    try read { db in
      try DecodedSection.fetchAll(
        db.cachedStatement(sql: "SELECT * FROM decoded WHERE document = ? ORDER BY position"),
        arguments: [document]
      )
    }
  }

  /// Stores a page, its sections and their listings, in one transaction.
  ///
  /// - Parameters:
  ///   - document: The page.
  ///   - sections: The page's sections with their new listings.
  /// - Returns: The sections with the ids of their stored listings.
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
      try document.insert(db)
      try db.execute(sql: "DELETE FROM decoded WHERE document = ?", arguments: [document.id])
      for (position, section) in decoded.enumerated() {
        try DecodedRow(document: document.id, position: position, section: section).insert(db)
      }
      return decoded
    }
  }

  /// Updates the rows of pages whose bodies did not change.
  package func store(_ documents: [DocumentEntry]) throws(LarderError) {
    try write { db in for document in documents { try document.insert(db) } }
  }
}

/// An item's detail: the data beyond its entry in a list.
package struct DetailEntry: Sendable, Equatable {
  /// The result of the last request for a detail.
  package enum State: String, Sendable, DatabaseValueConvertible {
    /// The index has the body.
    case held
    /// The origin answered 404 or 410. The previous version stays in ``body``.
    case missing
    /// The request failed, and no version was held before.
    case failed
  }

  /// The item's id.
  package var item: String
  /// The detail's document.
  package var document: DocumentID
  /// The result of the last request.
  package var state: State
  /// The detail as JSON.
  package var body: [UInt8]?
  /// The pictures that the detail refers to, in the detail's order and with repeats.
  package var pictures: [PictureID]
  /// The time since which the origin no longer has the detail; nil while it has it.
  package var since: UnixTime?

  /// Makes an entry from its parts.
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

  /// Reads a row of these columns; an unknown state becomes `failed`, so that the detail is requested again.
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
  package func details(catalog: CatalogID) throws(LarderError) -> [String: DetailEntry] {
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
  ) throws(LarderError) -> [String: DetailEntry] {
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

  /// The times at which these documents were fetched; documents without such a time are left out.
  package func fetchTimes(
    of documents: [DocumentID]
  ) throws(LarderError) -> [DocumentID: UnixTime] {
    try read { db in
      let row = try RowReader(db, "SELECT fetched FROM document WHERE id = ?")
      var times: [DocumentID: UnixTime] = [:]
      for document in documents {
        row.restart(document.digest)
        if try row.next() { times[document] = row.optionalTime(0) }
      }
      return times
    }
  }

  /// The time of the origin's last answer for the detail of each item of a catalog, by the items' ids.
  ///
  /// The column `response` begins with two times: of the request, and of the answer.
  package func detailChecks(catalog: CatalogID) throws(LarderError) -> [String: UnixTime] {
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
