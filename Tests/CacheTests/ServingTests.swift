import Base
import Foundation
import GRDB
import Glibc
import Support
import Testing

@testable import Cache

/// The parts of a cache that `larder serve` uses while runs may change it.
@Suite struct ServingTests {
  private func picture(_ label: String) -> [UInt8] { jpeg(label) }

  @Test func `the change counter of an index changes with a write, and with nothing else`() throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let counter = IndexChangeCounter(cache: folder.path("cache"))
    let first = try #require(counter.read())

    _ = try Index(reading: folder.path("cache")).catalogs()
    #expect(counter.read() == first)
    try cache.keep([("https://a.example/1.jpg", picture("one"))])
    let second = counter.read()

    #expect(second != nil && second != first)
    #expect(IndexChangeCounter(cache: folder.path("none")).read() == nil)
  }

  @Test func `a file that replaces the index counts as another index`() throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let counter = IndexChangeCounter(cache: folder.path("cache"))
    let first = try #require(counter.read())
    let path = folder.path("cache/index.sqlite")

    try FileManager.default.copyItem(atPath: path, toPath: path + ".new")
    #expect(rename(path + ".new", path) == 0)

    #expect(counter.read() != nil && counter.read() != first)
    withExtendedLifetime(cache) {}
  }

  @Test func `reading the change counter never releases the locks of an open index`()
    throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let path = folder.path("cache/index.sqlite")

    try cache.index.write { db in
      try db.execute(sql: "DELETE FROM picture")
      #expect(IndexChangeCounter(cache: folder.path("cache")).read() != nil)
      _ = try Index(reading: folder.path("cache")).catalogs()
      _ = try Index(cache.layout)

      #expect(try OtherProcess.write(path) == "database is locked")
    }
  }

  @Test
  func `a picture is found by its path, stored or not, and never by a similar path`()
    throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let url = "https://a.example/soup.jpg"
    try cache.keep([(url, picture("soup"))])
    let path = try #require(try cache.entry(url)).name.path

    #expect(try cache.index.picture(at: path)?.url == url)
    for other in [
      path + "x", String(path.dropLast(3)) + "png", "images/../index.sqlite", "", path + "/",
    ] {
      #expect(try cache.index.picture(at: other) == nil, "\(other)")
    }
  }

  @Test(arguments: [Index.isShown, Index.showing, Index.lists, Index.nextHeld])
  func `the items that show a picture are found without a scan`(_ query: String) throws {
    let index = try CacheOnDisk(TemporaryFolder()).index

    let steps = try index.write { db in
      let statement = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(query)")
      statement.setUncheckedArguments(StatementArguments())
      return try Row.fetchAll(statement).map { $0["detail"] as String }
    }

    #expect(!steps.contains { $0.hasPrefix("SCAN ") }, "\(steps)")
  }

  @Test(arguments: [3, 20_000])
  func `a picture of many versions of items is found in many listings, and soon`(
    _ versions: Int
  ) throws {
    let cache = try CacheOnDisk(TemporaryFolder())
    let catalog = try cache.index.catalog(named: "shop", currency: "KRW").id
    let pictures = (1...4).map { PictureEntry(id: PictureID(url: "\($0)"), url: "\($0)") }
    try cache.index.save(pictures)
    // The versions show pictures 1 and 2, and the item that each of 1,000 sections lists shows picture 3. Its detail
    // shows picture 4, and picture 2 in another catalog.
    try cache.index.write { db in
      try db.execute(
        sql: """
          WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < \(versions))
          INSERT INTO item SELECT v, 'k' || v, v, '' FROM n;
          INSERT INTO item_picture SELECT i.row, p.row, p.row FROM item i, picture p WHERE url IN ('1', '2');
          INSERT INTO item VALUES (90000, 'listed', x'', '');
          INSERT INTO item_picture SELECT 90000, 0, row FROM picture WHERE url = '3';
          INSERT INTO detail(row, catalog, item, document, state)
            VALUES (1, \(catalog.rawValue), 'listed', x'', 'held'), (2, \(catalog.rawValue + 1), 'listed', x'', 'held');
          INSERT INTO detail_picture SELECT 1, 0, row FROM picture WHERE url = '4';
          INSERT INTO detail_picture SELECT 2, 0, row FROM picture WHERE url = '2';
          WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1000)
          INSERT INTO run_section SELECT \(cache.run.rawValue), v, 'k', 't', NULL, v, 'network' FROM n;
          INSERT INTO listing_item SELECT listing, 0, 90000 FROM run_section;
          """
      )
    }
    func shown() throws -> [Bool] {
      try pictures.map { try cache.index.isShown($0.id, in: cache.run, of: catalog) }
    }
    let clock = ContinuousClock()

    let start = clock.now
    #expect(try shown() == [false, false, true, true])
    // Looking up each version in each listing would take minutes.
    #expect(start.duration(to: clock.now) < .seconds(10))

    let details = "INSERT INTO detail_picture SELECT 1, 1, row FROM picture WHERE url = '2'"
    try cache.index.write { db in
      try db.execute(sql: "INSERT INTO listing_item VALUES (500, 1, 2)")
      try db.execute(sql: "DELETE FROM item_picture WHERE place = 2 AND item = 2")
      try db.execute(sql: details)
    }
    #expect(try shown() == [true, true, true, true])
  }

  @Test func `only regular files are opened, and no symbolic link is followed`() throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    try cache.keep([("https://a.example/1.jpg", picture("one"))])
    let entry = try #require(try cache.entry("https://a.example/1.jpg"))
    let files = ServedFiles(cache: folder.path("cache"))
    let place = String(entry.name.path.dropLast(entry.name.file.count + 1))
    _ = try folder.write("secret", to: "outside")
    #expect(symlink(folder.path("outside"), folder.path("cache/\(place)/link.jpg")) == 0)
    #expect(symlink(folder.path, folder.path("cache/images/out")) == 0)
    #expect(mkfifo(folder.path("cache/\(place)/pipe.jpg"), 0o600) == 0)

    let opened = try #require(files.open(entry.name.path))

    #expect(opened.stamp == entry.stamp)
    close(opened.descriptor)
    // The cache's own path may be a symbolic link chosen by the user.
    #expect(symlink(folder.path("cache"), folder.path("alias")) == 0)
    #expect(ServedFiles(cache: folder.path("alias")).hold(entry.name.path, as: entry.stamp))
    for path in [
      "\(place)/link.jpg", "images/out/outside", "\(place)/pipe.jpg", place, "nothing",
      "images/zz/a",
    ] {
      #expect(files.open(path) == nil, "\(path)")
    }
  }

  @Test func `pictures fetched by a server enter the cache whole, and a stored one is kept`()
    throws
  {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let beside = try TemporaryFolder()
    let room = try CacheOnDisk(beside)
    try cache.keep([("https://a.example/1.jpg", picture("one"))])
    try room.keep([
      ("https://a.example/1.jpg", picture("another one")),
      ("https://a.example/2.jpg", picture("two")),
    ])
    let ids = ["https://a.example/1.jpg", "https://a.example/2.jpg"].map { PictureID(url: $0) }
    let entries = try room.index.pictures(ids)
    let admission = PictureAdmission(from: beside.path("cache"), into: folder.path("cache"))

    let rows = try admission.admit(ids.compactMap { entries[$0] })

    #expect(rows.map(\.sha256) == [picture("one"), picture("two")].map(ContentDigest.sha256))
    let report = try Verification(cache.layout, cache.index).run(.full)
    #expect(report.isClean && report.checked == 2)
    #expect(try room.layout.pictureFiles().isEmpty)
    // The pictures are admitted again, as after a failure to write their rows.
    #expect(try admission.admit(rows).map(\.sha256) == rows.map(\.sha256))
  }

  @Test func `no picture enters the cache while a run has its lock`() throws {
    let folder = try TemporaryFolder()
    let cache = try CacheOnDisk(folder)
    let beside = try TemporaryFolder()
    let room = try CacheOnDisk(beside)
    try room.keep([("https://a.example/2.jpg", picture("two"))])
    let entry = try #require(try room.entry("https://a.example/2.jpg"))
    let lock = try CacheLock(cache.layout, holder: "larder sync, process 1")

    let error = #expect(throws: LarderError.self) {
      try PictureAdmission(from: beside.path("cache"), into: folder.path("cache")).admit([entry])
    }

    #expect(error?.code == .locked)
    #expect(try cache.entry("https://a.example/2.jpg") == nil)
    #expect(try room.layout.existingFolder(entry.name.folder)?.find(entry.name.file) != nil)
    withExtendedLifetime(lock) {}
  }

  @Test func `a run waits for a server that holds the lock briefly`() throws {
    let folder = try TemporaryFolder()
    let layout = try CacheLayout(creating: folder.path("cache"))
    let held = Release(try CacheLock(layout, holder: "\(CacheLock.briefHolder), process 1"))
    Thread.detachNewThread { held.letGo() }

    let lock = try CacheLock(CacheLayout(creating: folder.path("cache")), holder: "larder sync")

    withExtendedLifetime(lock) {}
  }

  /// Releases a lock on another thread.
  private final class Release: @unchecked Sendable {
    // SAFETY: The value is passed to one thread, once, before anything reads it.
    private var lock: CacheLock?

    init(_ lock: CacheLock) { self.lock = lock }

    func letGo() { lock = nil }
  }

  @Test func `the folder of a killed server is removed, and that of a running one is not`() throws
  {
    let folder = try TemporaryFolder()
    _ = try CacheOnDisk(folder)
    let cache = folder.path("cache")
    let living = try ServingFolder(in: cache)
    let dead = cache + "/serving/1-dead"
    try FileManager.default.createDirectory(
      atPath: dead + "/images/3f",
      withIntermediateDirectories: true
    )
    _ = try folder.write("half", to: "cache/serving/1-dead/images/3f/a.jpg")
    _ = try folder.write("", to: "cache/serving/1-dead.lock")

    ServingFolder.removeDead(in: cache)

    #expect(!FileManager.default.fileExists(atPath: dead))
    #expect(!FileManager.default.fileExists(atPath: dead + ".lock"))
    #expect(FileManager.default.fileExists(atPath: living.path))
    living.leave()
    #expect(!FileManager.default.fileExists(atPath: cache + "/serving"))
  }
}
