import Base
import Cache
import Dispatch
import Foundation
import GRDB
import Glibc
import SQLite
import Support
import Testing

@testable import Cache

/// The index, a SQLite database that records everything in a cache.
struct IndexTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var root: String { folder.path("cache") }

  private func opened() throws -> Index { try Index(CacheLayout(creating: root)) }

  @Test func `no statement, planted or larder's own, can change the schema of the index`() throws {
    let index = try opened()

    #expect(throws: (any Error).self) {
      try index.write { db in
        try db.execute(sql: "PRAGMA writable_schema = ON")
        try db.execute(sql: "UPDATE sqlite_schema SET sql = 'x' WHERE name = 'picture'")
      }
    }

    let trusts = try index.read { try Int.fetchOne($0, sql: "PRAGMA trusted_schema") }
    #expect(trusts == 0)
    #expect(try Index(reading: root).isWhole(fast: false))
  }

  @Test func `an SQLite without the required protections is an error of an old library`() {
    let error = LarderError(DatabaseFailure.unfit("SQLite is old"), with: "index.sqlite")

    #expect(error.code == .oldLibrary)
    #expect(error.description == "cannot use index.sqlite: SQLite is old")
  }

  @Test func `an index of a newer larder is left unchanged`() throws {
    try opened().write { try $0.execute(sql: "PRAGMA user_version = 99") }
    let before = try folder.read("cache/index.sqlite")

    let writing = #expect(throws: LarderError.self) { _ = try opened() }
    let reading = #expect(throws: LarderError.self) { _ = try Index(reading: root) }

    #expect(writing?.code == .tooNew)
    #expect(reading?.code == .tooNew)
    #expect(writing?.description.contains("schema 99") == true)
    #expect(try folder.read("cache/index.sqlite") == before)
  }

  @Test func `a file that is not an index is refused as damaged and left unchanged`() throws {
    _ = try CacheLayout(creating: root)
    let garbage = [UInt8](repeating: 0x41, count: 5000)
    try folder.write(garbage, to: "cache/index.sqlite")

    let writing = #expect(throws: LarderError.self) { _ = try opened() }
    let reading = #expect(throws: LarderError.self) { _ = try Index(reading: root).catalogs() }

    #expect(writing?.code == .damaged)
    #expect(reading?.code == .damaged)
    #expect(try folder.read("cache/index.sqlite") == garbage)
  }

  @Test(arguments: [
    "run_section SET listing = 'x'", "run_section SET key = x'80', title = NULL",
    "run SET id = 'x'", "run SET report = 1.5, started = 'x'", "document SET digest = 'x'",
    "document SET id = 'x'", "decoded SET listing = 'x'", "decoded SET skipped = NULL",
    "detail SET document = 'x'", "tombstone SET removed = 'x'", "tombstone SET url = NULL",
    "square SET picture = 'x'", "square SET source = 1.5",
  ])
  func `a row that larder never wrote is reported or skipped and never traps`(_ change: String)
    throws
  {
    let index = try opened()
    let catalog = try index.catalog(named: "c", currency: "KRW").id
    let listing = try index.keepListing([NewItem(key: "a", body: [1], pictures: [])])
    let run = try index.beginRun(catalog: catalog, at: UnixTime(1))
    let section = RunSection(
      key: "s",
      title: "t",
      subtitle: nil,
      listing: listing,
      source: "network"
    )
    try index.endRun(
      run,
      at: UnixTime(2),
      outcome: "complete",
      report: [123, 125],
      sections: [section]
    )
    var document = DocumentEntry(url: "u", mapping: 1)
    document.digest = 2
    _ = try index.store(
      document,
      new: [
        (
          DecodedSection(key: "s", title: "t", subtitle: nil, skipped: ""),
          NewListing.items([NewItem(key: "a", body: [1], pictures: [])])
        )
      ]
    )
    let detail = DetailEntry(item: "a", document: document.id, state: .held, body: [1])
    try index.write { try CommittedDetail(detail, of: catalog, from: document).save(in: $0) }
    try index.write { db in
      try db.execute(sql: "INSERT INTO tombstone(url, removed, reason) VALUES ('u', 1, 'age')")
    }
    let square = SquareEntry(picture: PictureID(url: "u"), side: 1, path: "p", source: [1])
    try index.save([square])
    try index.write { db in
      // A damaged page may violate types and NOT NULL. A copied table has no constraints, so it
      // can hold such values. Views of the table are kept.
      let table = change.prefix { $0 != " " }
      try db.execute(
        sql: """
          PRAGMA legacy_alter_table = ON;
          CREATE TABLE copy AS SELECT * FROM \(table); DROP TABLE \(table);
          ALTER TABLE copy RENAME TO \(table); UPDATE \(change)
          """
      )
    }

    let reads: [() throws -> Void] = [
      { _ = try index.runs(catalog: catalog) }, { _ = try index.sections(run: run) },
      { _ = try index.document("u") }, { _ = try index.decoded(document.id) },
      { _ = try index.details(catalog: catalog, items: ["a"]) }, { _ = try index.squares() },
      { _ = try index.tombstones(after: UnixTime(0), through: UnixTime(9)) },
      { _ = try index.held(at: 0) },
    ]
    for read in reads {
      do { try read() } catch let error as LarderError { #expect(error.code == .damaged) }
    }
  }

  @Test func `a missing or empty cache has nothing to read`() throws {
    let nowhere = #expect(throws: LarderError.self) { _ = try Index(reading: root) }
    _ = try CacheLayout(creating: root)
    try folder.write([], to: "cache/index.sqlite")
    let unborn = #expect(throws: LarderError.self) { _ = try Index(reading: root).catalogs() }

    #expect(nowhere?.code == .empty)
    #expect(unborn?.code == .empty)
    #expect(try opened().catalogs().isEmpty)
  }

  @Test func `folders and index belong to the owner alone, whatever the umask`() throws {
    let previous = umask(0)
    defer { umask(previous) }

    let cache = try CacheOnDisk(folder)
    try cache.keep([(url("a"), jpeg("a"))])

    #expect(folder.state(of: "cache")?.mode == 0o700)
    #expect(folder.state(of: "cache/images")?.mode == 0o700)
    #expect(folder.state(of: "cache/partial")?.mode == 0o700)
    #expect(folder.state(of: "cache/index.sqlite")?.mode == 0o600)
    #expect(folder.state(of: "cache/lock").map { $0.mode == 0o600 } ?? true)
    let journal = folder.state(of: "cache/index.sqlite-journal")
    #expect(journal.map { $0.mode == 0o600 } ?? true)
  }

  @Test func `a reader sees the last commit while a writer works`() throws {
    let writer = try opened()
    _ = try writer.catalog(named: "first", currency: "KRW")
    let reader = try Index(reading: root)

    try writer.write { db in
      try db.execute(sql: "INSERT INTO catalog(name, currency) VALUES ('second', 'KRW')")
      #expect(try reader.catalogs().map(\.name) == ["first"])
    }

    #expect(try reader.catalogs().map(\.name) == ["first", "second"])
  }

  @Test func `an index whose writer was killed during a commit can be read`() throws {
    let writer = try opened()
    _ = try writer.catalog(named: "first", currency: "KRW")
    let copy = try TemporaryFolder()
    try writer.write { db in
      // A page cache of one page forces SQLite to write to the file and sync the journal before
      // the commit.
      try db.execute(sql: "PRAGMA cache_size = 1")
      for number in 0..<500 {
        try db.execute(
          sql: "INSERT INTO item(key, digest, body) VALUES (?, ?, zeroblob(3000))",
          arguments: ["k\(number)", number]
        )
      }
      try db.execute(sql: "UPDATE catalog SET name = 'torn'")
      try FileManager.default.copyItem(atPath: root, toPath: copy.path("cache"))
    }
    let journal = try #require(copy.state(of: "cache/index.sqlite-journal"))
    #expect(journal.bytes > 512)

    let reader = try Index(reading: copy.path("cache"))

    #expect(try reader.catalogs().map(\.name) == ["first"])
  }

  @Test func `a row with values of the wrong types reads as invalid without an error`() throws {
    let cache = try CacheOnDisk(folder)
    try cache.keep([(url("a"), jpeg("a")), (url("b"), jpeg("b"))])
    let id = PictureID(url: url("a"))
    try cache.index.write { db in
      try db.execute(
        sql: """
          UPDATE picture SET sha256 = 'no digest', bytes = x'ff', type = 7, inode = 'none', \
          response = x'fffe', expiry = 'soon', checked = 'then', content = 1.5, failure = 0 \
          WHERE id = ?
          """,
        arguments: [id.digest]
      )
    }

    let entry = try #require(try cache.entry(url("a")))
    var all: [PictureEntry] = []
    try cache.index.forEachPicture { all.append($0) }

    #expect(entry.url == url("a") && entry.type == nil && entry.expiry == 0)
    #expect(entry.stamp == FileStamp(inode: 0, bytes: 0, modified: entry.stamp?.modified ?? 0))
    let due = try DuePictures(cache.index) { _ in "host" }
    let now: UnixTime = 9
    let rule = DueRule(isChanged: false, now: now, shards: nil)
    #expect(try due.see(.pictures([id]), by: rule).due == ["host": 1])
    #expect(try due.take("host", 1) == [entry])
    try due.forEachHeld { #expect($1 == 0 && $0 == id) }
    #expect(all.count == 2 && Index.salvage(root + "/index.sqlite").count == 2)
    #expect(try cache.verify().damaged == [String(path("a").dropFirst("cache/".count))])
  }

  @Test func `a named picture has a row with its newest URL, and keeps its number`() throws {
    let index = try opened()
    let whole = PictureAddress(id: PictureID(url: "a"), url: "a", identity: "a")
    var signed = PictureAddress(id: PictureID(url: "b"), url: "b", identity: "b")

    let first = try index.write { try Index.name([signed, whole, signed], in: $0) }
    signed.url = "b?Signature=2"
    let second = try index.write { try Index.name([whole, signed], in: $0) }

    #expect(first == second && Set(first.values).count == 2)
    let entries = try index.pictures([whole.id, signed.id])
    #expect(entries[whole.id] == PictureEntry(id: whole.id, url: "a"))
    #expect(entries[signed.id] == PictureEntry(id: signed.id, url: signed.url, identity: "b"))
  }

  @Test func `naming a held picture changes only its URL, and never another identity's`() throws {
    let cache = try CacheOnDisk(folder)
    try cache.keep([(url("a"), jpeg("a"))])
    var expected = try #require(try cache.entry(url("a")))
    let id = expected.id

    try cache.index.write { db in
      for (url, identity) in [(url("a") + "?1", url("a")), ("other?2", "other")] {
        _ = try Index.name([PictureAddress(id: id, url: url, identity: identity)], in: db)
      }
    }

    expected.url = url("a") + "?1"
    #expect(try cache.entry(url("a")) == expected)
  }

  @Test func `equal listings share a number, and another order is another listing`() throws {
    let index = try opened()
    let items = ["a", "b", "c"].map {
      NewItem(key: $0, body: Array("item \($0)".utf8), pictures: [PictureAddress($0)])
    }

    let first = try index.keepListing(items)
    let again = try index.keepListing(items)
    let reversed = try index.keepListing(items.reversed())
    let empty = try index.keepListing([])

    #expect(first == again)
    #expect(Set([first, reversed, empty]).count == 3)
    #expect(try index.items(listing: first) == items.map(\.record))
    #expect(try index.itemKeys(listing: reversed) == ["c", "b", "a"])
    #expect(try index.pictures(listing: first) == ["a", "b", "c"].map { PictureID(url: $0) })
    #expect(try index.itemCount(listing: first) == 3)
    #expect(try index.items(listing: empty).isEmpty)
    #expect(try index.itemCount(listing: empty) == 0)
  }

  @Test(
    arguments: [
      (1000, 900, 950, true), (1000, 900, 1000, false), (1000, 900, 600, true),
      (1000, 900, 599, false), (1000, 900, 1, false),
    ] as [(UnixTime, UnixTime, UnixTime, Bool)]
  )
  func `freshness from the future is not trusted after the clock was set back`(
    expiry: UnixTime,
    checked: UnixTime,
    now: UnixTime,
    isFresh: Bool
  ) {
    var entry = PictureEntry(id: PictureID(url: "x"), url: "x")
    (entry.expiry, entry.checked) = (expiry, checked)

    #expect(entry.isCurrent(at: now) == isFresh)
  }
}
