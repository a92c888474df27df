import FoundationEssentials
import GRDB

/// What the index knows of a section's page or an item's detail, by its URL and who reads it.
///
/// Two sections may name one URL, and two catalogs in a cache one page: each reads the body in its own
/// way and keeps what it made of it.
package struct DocumentEntry: Sendable, Equatable {
  /// The identity, made from reader and URL as a picture's is from its URL.
  package var id: PictureID
  /// The URL, as it is sent.
  package var url: String
  /// The digest of the mapping that the body was read with.
  package var mapping: Int64
  /// The origin's word on the body, in the transport's own text form.
  package var response: String?
  /// When that word ends, in seconds since 1970.
  package var expiry: Int64
  /// The digest of the last body.
  package var digest: Int64?
  /// When the body was fetched.
  package var fetched: Int64?
  /// The next page, when the body named one.
  package var next: String?

  /// The identity of the document at `url` as `reader` reads it.
  package static func identity(of url: String, reader: String) -> PictureID {
    // No URL and no reader holds a line feed.
    PictureID(url: reader.isEmpty ? url : "\(reader)\n\(url)")
  }

  /// An entry from its parts; `reader` is who reads the body: a section, or the details of a catalog.
  package init(
    url: String,
    reader: String = "",
    mapping: Int64,
    response: String? = nil,
    expiry: Int64 = 0,
    digest: Int64? = nil,
    fetched: Int64? = nil,
    next: String? = nil
  ) {
    self.id = Self.identity(of: url, reader: reader)
    self.url = url
    self.mapping = mapping
    self.response = response
    self.expiry = expiry
    self.digest = digest
    self.fetched = fetched
    self.next = next
  }
}

/// One section of a decoded page, as the index keeps it.
package struct DecodedSection: Sendable, Equatable {
  /// The section's key.
  package var key: String
  /// Its title.
  package var title: String
  /// The line under the title.
  package var subtitle: String?
  /// The listing that the feed gave, before any guard.
  package var listing: ListingID
  /// What was skipped, in the caller's own text form.
  package var skipped: String

  /// A section from its parts.
  package init(key: String, title: String, subtitle: String?, listing: ListingID, skipped: String)
  {
    self.key = key
    self.title = title
    self.subtitle = subtitle
    self.listing = listing
    self.skipped = skipped
  }
}

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
  package var document: PictureID
  /// How the last request ended.
  package var state: State
  /// The detail in the caller's own form.
  package var body: [UInt8]?
  /// The pictures that it refers to, in order, repeats included.
  package var pictures: [PictureID]
  /// Since when the origin has not what is held, in seconds since 1970; nil while it has.
  package var since: Int64?

  /// An entry from its parts.
  package init(
    item: String,
    document: PictureID,
    state: State,
    body: [UInt8]? = nil,
    pictures: [PictureID] = [],
    since: Int64? = nil
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
  /// The document at `url` as `reader` reads it, or nil when it was never fetched for that.
  package func document(_ url: String, reader: String = "") throws(CacheError) -> DocumentEntry? {
    let id = DocumentEntry.identity(of: url, reader: reader)
    return try read { db in
      try Row.fetchOne(
        db.cachedStatement(
          sql: """
            SELECT url, mapping, response, expiry, digest, fetched, next FROM document WHERE id = ?
            """
        ),
        arguments: [id.number]
      ).map {
        DocumentEntry(
          url: $0[0],
          reader: reader,
          mapping: $0[1],
          response: $0[2],
          expiry: $0[3],
          digest: $0[4],
          fetched: $0[5],
          next: $0[6]
        )
      }
    }
  }

  /// The document at `url` as `reader` reads it, taken over from a larder that knew documents by their
  /// URL alone; nil when there is none, or it was decoded to something else than `sections`.
  package func takeOver(_ url: String, reader: String, sections: [String]) throws(CacheError)
    -> DocumentEntry?
  {
    guard let old = try document(url) else { return nil }
    guard try decoded(old.id).map(\.key) == sections else { return nil }
    let id = DocumentEntry.identity(of: url, reader: reader)
    try write { db in
      for sql in [
        "UPDATE document SET id = ? WHERE id = ?",
        "UPDATE decoded SET document = ? WHERE document = ?",
        "UPDATE detail SET document = ? WHERE document = ?",
      ] { try db.execute(sql: sql, arguments: [id.number, old.id.number]) }
    }
    return try document(url, reader: reader)
  }

  /// What the page was last decoded to, in order.
  package func decoded(_ document: PictureID) throws(CacheError) -> [DecodedSection] {
    try read { db in
      try Row.fetchAll(
        db.cachedStatement(
          sql: """
            SELECT key, title, subtitle, listing, skipped FROM decoded WHERE document = ? \
            ORDER BY position
            """
        ),
        arguments: [document.number]
      ).map {
        DecodedSection(
          key: $0[0],
          title: $0[1],
          subtitle: $0[2],
          listing: $0[3],
          skipped: $0[4]
        )
      }
    }
  }

  /// Keeps a page and what it was decoded to, together or not at all.
  package func store(_ document: DocumentEntry, decoded: [DecodedSection]) throws(CacheError) {
    try write { db in
      try Self.save(document, in: db)
      try db.execute(
        sql: "DELETE FROM decoded WHERE document = ?",
        arguments: [document.id.number]
      )
      for (position, section) in decoded.enumerated() {
        try db.execute(
          sql: """
            INSERT INTO decoded(document, position, key, title, subtitle, listing, skipped) \
            VALUES (?,?,?,?,?,?,?)
            """,
          arguments: [
            document.id.number, position, section.key, section.title, section.subtitle,
            section.listing, section.skipped,
          ]
        )
      }
    }
  }

  /// Keeps a page whose body did not change.
  package func store(_ document: DocumentEntry) throws(CacheError) {
    try write { db in try Self.save(document, in: db) }
  }

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
          document: PictureID(number: row[1]),
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

  /// When the origin last answered for the detail of each item of a catalog, in seconds since 1970.
  ///
  /// The word that is kept begins with when it was asked for and when it was answered.
  package func detailChecks(catalog: CatalogID) throws(CacheError) -> [String: Int64] {
    try read { db in
      var checks: [String: Int64] = [:]
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

  static func save(_ document: DocumentEntry, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO document(id, url, mapping, response, expiry, digest, fetched, next) \
        VALUES (?,?,?,?,?,?,?,?)
        """
    ).execute(arguments: [
      document.id.number, document.url, document.mapping, document.response, document.expiry,
      document.digest, document.fetched, document.next,
    ])
  }

  static func save(_ detail: DetailEntry, catalog: CatalogID, in db: Database) throws {
    try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO detail(catalog, item, document, state, body, pictures, since) \
        VALUES (?,?,?,?,?,?,?)
        """
    ).execute(arguments: [
      catalog, detail.item, detail.document.number, detail.state.rawValue,
      detail.body.map { Data($0) }, Data(PackedNumbers.pack(detail.pictures.map(\.number))),
      detail.since,
    ])
  }
}
