import Base
import Foundation
import GRDB
import SQLite
import Support
import Synchronization
import Testing

@testable import Cache

/// Migrations of the index from earlier versions of larder.
struct MigrationTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func index() throws -> Index {
    try Index(CacheLayout(creating: folder.path("cache")))
  }

  /// The columns of every table and the names of every database index.
  private func shape(_ index: Index) throws -> [String] {
    try index.read { db in
      try String.fetchAll(
        db,
        sql: """
          SELECT m.type || ' ' || m.name || ' ' || coalesce(group_concat(c.name || ' ' || c.type || \
          ' ' || c."notnull" || ' ' || coalesce(c.dflt_value, '-') || ' ' || c.pk), '') \
          FROM sqlite_schema m LEFT JOIN pragma_table_info(m.name) c GROUP BY m.name ORDER BY 1
          """
      )
    }
  }

  private func expectUpToDate(_ index: Index) throws {
    let (version, names) = try index.read { db in
      (
        try DatabaseSchema.version(of: db),
        try String.fetchAll(db, sql: "SELECT identifier FROM grdb_migrations ORDER BY rowid")
      )
    }
    #expect(version == Index.version)
    #expect(names == Index.tables.migrations.map(\.name))
  }

  @Test(arguments: OldCache.names)
  func `an index of any earlier larder keeps all its data when migrated`(_ name: String)
    throws
  {
    _ = try OldCache(name, in: folder)

    let migrated = try index()

    try expectUpToDate(migrated)
    #expect(try OldCache.contents(of: migrated) == OldCache.contents)
    #expect(try migrated.squares().isEmpty)
    #expect(try migrated.hasUnreferenced())
    #expect(try shape(migrated) == shape(Index(CacheLayout(creating: folder.path("new")))))
  }

  @Test func `a listing that equals another one without its repeats is replaced by it`() throws {
    let old = try OldCache("v4", in: folder)
    try DatabaseQueue(path: old.root + "/index.sqlite").write { db in
      try db.execute(
        sql: """
          INSERT INTO listing(id, items, keys, pictures)
          SELECT 9223372036854775807, CAST(substr(items, 1, 8) || items AS BLOB), keys, pictures
          FROM listing WHERE id = (SELECT listing FROM run_section WHERE run = 1);
          UPDATE run_section SET listing = 9223372036854775807 WHERE run = 1;
          UPDATE decoded SET listing = 9223372036854775807;
          """
      )
    }

    let migrated = try index()

    #expect(try OldCache.contents(of: migrated) == OldCache.contents)
    let page = try #require(try migrated.document("https://shop.example/main"))
    let kept = try migrated.decoded(page.id).map(\.listing)
    #expect(try migrated.sections(run: 1).map(\.listing) == kept)
  }

  @Test(arguments: [
    ("", ""), ("{", ""),
    (
      #"[{"index":1}]"#,
      #"{"absent":[],"isGivenUp":false,"omitted":{"items":0,"reasons":{}},"skipped":[{"index":1}]}"#
    ),
    (
      #"{"absent":["title"],"failure":null,"omitted":{"items":2,"reasons":{"odd":2}},"skipped":[],"total":9}"#,
      #"{"absent":["title"],"isGivenUp":false,"omitted":{"items":2,"reasons":{"odd":2}},"skipped":[],"total":9}"#
    ),
  ])
  func `notes about a section get the members that an older larder left out`(
    _ older: String,
    _ present: String
  ) throws {
    let old = try OldCache("v4", in: folder)
    try DatabaseQueue(path: old.root + "/index.sqlite").write { db in
      try db.execute(sql: "UPDATE decoded SET skipped = ?", arguments: [older])
    }

    let migrated = try index()

    let page = try #require(try migrated.document("https://shop.example/main"))
    #expect(try migrated.decoded(page.id).map(\.skipped) == [present])
  }

  @Test func `the digest of header fields that an older larder packed is unpacked`() throws {
    let old = try OldCache("v4", in: folder)
    try DatabaseQueue(path: old.root + "/index.sqlite").write { db in
      try db.execute(
        sql: "INSERT OR REPLACE INTO meta(key, value) VALUES ('selection', x'0700000000000080')"
      )
    }

    #expect(try index().selection() == .min + 7)
  }

  @Test(arguments: OldCache.names)
  func `pictures of an earlier larder need no download`(_ name: String) throws {
    let old = try OldCache(name, in: folder)

    let layout = try CacheLayout(creating: old.root)
    let index = try Index(layout)
    let recovery = try Recovery(layout, index)
    let report = try Verification(layout, index).run(.full)

    #expect(recovery.adopted == 3 && recovery.forgotten == 0 && recovery.strays.isEmpty)
    #expect(report.isClean && report.checked == 3)
    // The files are copied but unchanged, so the origin's responses still apply.
    #expect(try OldCache.contents(of: index) == OldCache.contents)
  }

  @Test(arguments: OldCache.names)
  func `opening an older index for reading does not change a byte`(_ name: String) throws {
    let old = try OldCache(name, in: folder)
    let before = try folder.read("cache/index.sqlite")

    let reader = try Index(reading: old.root)
    let contents = try OldCache.contents(of: reader)
    let report = try Verification(CacheLayout(reading: old.root), reader).run(.full)

    #expect(contents == OldCache.contents)
    #expect(report.isClean)
    #expect(try folder.read("cache/index.sqlite") == before)
    #expect(folder.files(below: "cache").keys.filter { $0.contains("index") }.count == 2)
  }

  @Test func `an index that is up to date is opened without a write`() throws {
    _ = try OldCache("v4", in: folder)
    _ = try index()
    let before = try folder.read("cache/index.sqlite")

    _ = try index()

    #expect(try folder.read("cache/index.sqlite") == before)
  }

  @Test func `a new index has the schema that all migrations lead to`() throws {
    let new = try index()

    try expectUpToDate(new)
    #expect(folder.state(of: "cache/index.sqlite")?.mode == 0o600)
  }

  @Test(arguments: OldCache.names)
  func `a kill before any statement of a migration leaves an index that the next opening migrates`(
    _ name: String
  ) throws {
    let old = try OldCache(name, in: folder)
    let (path, kills) = (old.root + "/index.sqlite", try TemporaryFolder())
    let count = Atomic<Int>(0)
    var configuration = Configuration()
    configuration.prepareDatabase { db in
      db.trace { _ in
        let copy = "\(count.add(1, ordering: .relaxed).oldValue)/cache/index.sqlite"
        for suffix in ["", "-journal"] {
          try? kills.write(
            [UInt8](FileManager.default.contents(atPath: path + suffix) ?? Data()),
            to: copy + suffix
          )
        }
      }
      // A small page cache makes a transaction reach the file before it is committed.
      try db.execute(sql: "PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1")
    }
    do {
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      try queue.inDatabase(Index.tables.migrate)
    }

    let moments = count.load(ordering: .relaxed)
    for moment in Sweep.places(moments, part: name.utf8.count) {
      let reader = try Index(reading: kills.path("\(moment)/cache"))
      #expect(try OldCache.contents(of: reader) == OldCache.contents, "read at \(moment)")
      let mended = try Index(CacheLayout(creating: kills.path("\(moment)/cache")))
      #expect(try OldCache.contents(of: mended) == OldCache.contents, "moment \(moment)")
      try expectUpToDate(mended)
    }
    #expect(moments > 20)
  }

  @Test(arguments: OldCache.names)
  func `a disk that is full at any point of a migration leaves the old index`(_ name: String)
    throws
  {
    let old = try OldCache(name, in: folder)
    let path = old.root + "/index.sqlite"
    let pages = try folder.read("cache/index.sqlite").count / 4096
    var failures = 0

    for room in 0... {
      _ = try OldCache(name, in: folder)
      var configuration = Configuration()
      configuration.prepareDatabase { db in
        try db.execute(sql: "PRAGMA max_page_count = \(pages + room)")
      }
      let queue = try DatabaseQueue(path: path, configuration: configuration)
      let error = (try? queue.inDatabase(Index.tables.migrate)) == nil
      try queue.close()
      #expect(try OldCache.contents(of: index()) == OldCache.contents)
      guard error else { break }
      failures += 1
    }

    #expect(failures > 0)
  }

  @Test func `an index from before 0.2.0 is refused as damaged and not changed`() throws {
    let old = try OldCache("v4", in: folder)
    let file = try DatabaseQueue(path: old.root + "/index.sqlite")
    try file.write { try $0.execute(sql: "DROP TABLE grdb_migrations; PRAGMA user_version = 2") }
    try file.close()
    let before = try folder.read("cache/index.sqlite")

    let writing = #expect(throws: LarderError.self) { _ = try index() }
    let reading = #expect(throws: LarderError.self) { _ = try Index(reading: old.root) }

    #expect(writing?.code == .damaged && reading == writing)
    #expect(
      writing?.description.contains("index.sqlite: a larder before 0.2.0 wrote it; ") == true
    )
    #expect(try folder.read("cache/index.sqlite") == before)
  }

  @Test func `an index of a build between two releases is rebuilt, and keeps its pictures`() throws
  {
    let old = try OldCache("v5-squares", in: folder)
    let before = try folder.read("cache/index.sqlite")

    let writing = #expect(throws: LarderError.self) { _ = try index() }
    let reading = #expect(throws: LarderError.self) { _ = try Index(reading: old.root) }
    let layout = try CacheLayout(creating: old.root)
    let unchanged = try folder.read("cache/index.sqlite")
    let new = try Index.rebuilt(in: layout, at: 1_800_000_000).index

    #expect(writing?.code == .damaged && reading == writing && unchanged == before)
    #expect(writing?.description.contains("a larder between two releases wrote it") == true)
    try expectUpToDate(new)
    let strays = try Recovery(layout, new).strays
    #expect(strays.paths.count == 3)
  }

  @Test(arguments: [Index.version + 1, 99])
  func `an index of a newer larder is refused with its version and not changed`(
    _ version: Int
  ) throws {
    let old = try OldCache("v4", in: folder)
    try index().write { try $0.execute(sql: "PRAGMA user_version = \(version)") }
    let before = try folder.read("cache/index.sqlite")

    let writing = #expect(throws: LarderError.self) { _ = try index() }
    let reading = #expect(throws: LarderError.self) { _ = try Index(reading: old.root) }

    #expect(writing?.code == .tooNew && reading == writing)
    #expect(
      writing?.description
        == "cannot use \(old.root)/index.sqlite: it was written by a newer larder (schema \(version), "
        + "this one knows \(Index.version)); install that version or later, or choose another folder"
    )
    #expect(try folder.read("cache/index.sqlite") == before)
    #expect(folder.files(below: "cache").keys.filter { $0.contains("index") }.count == 2)
  }

  @Test func `the readable rows of a damaged index are saved`() throws {
    let old = try OldCache("v4", in: folder)
    _ = try index()

    #expect(
      Index.salvage(old.root + "/index.sqlite").map(\.url).sorted() == [
        "https://cdn.example/A1.jpg", "https://cdn.example/B2.jpg", "https://cdn.example/C3.jpg",
      ]
    )
  }
}
