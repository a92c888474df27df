import Base
import Cache
import Catalog
import GRDB
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The rows that remain in the index after a sweep.
struct ForgettingTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: 4)
  }

  private func sync(_ catalog: CatalogFile? = nil, in folder: TemporaryFolder? = nil) throws {
    shop.clock.advance(100_000)
    var options = SyncOptions()
    options.allowRemovals = true
    _ = try shop.sync(folder ?? self.folder, catalog, options: options)
  }

  /// Sweeps without a grace period and with the shortest history.
  private func gc(
    in folder: TemporaryFolder? = nil,
    _ change: (inout SweepOptions) -> Void = { _ in }
  ) throws {
    shop.clock.advance(1)
    var options = SweepOptions()
    options.grace = .zero
    options.history = .zero
    change(&options)
    _ = try CacheGc((folder ?? self.folder).path("cache"), options: options, now: shop.clock.now)
      .run(holder: "a test")
  }

  @Test func `the lowest price is not known while a part of its 30 days is forgotten`() throws {
    for price in ["3,000원", "8,000원"] {
      shop.items["A"]?[0].price = price
      try shop.publish()
      try sync()
    }
    let changed = shop.clock.now
    func lowest(at moment: UnixTime? = nil) throws -> Int? {
      let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil, at: moment)
      return try reader.show("A1")?.lowest30Days?.price.minorUnits
    }

    try gc { $0.prices = .seconds(86_400) }
    #expect(try lowest() == 3000)
    try gc { $0.prices = .zero }
    #expect(try lowest() == nil && lowest(at: changed) == nil)

    shop.clock.advance(30 * 86_400)
    try sync()
    try gc { $0.prices = .zero }

    #expect(try lowest() == 8000 && lowest(at: changed) == nil)
  }

  private func rows(_ sql: String, in folder: TemporaryFolder? = nil) throws -> [String] {
    let path = (folder ?? self.folder).path("cache/index.sqlite")
    return try DatabaseQueue(path: path).read { db in
      try Row.fetchAll(db, sql: sql).map { row in
        row.databaseValues.map(\.description).joined(separator: " ")
      }
    }
  }

  /// The rows of every table, without ids and times, because these differ between two indices.
  private func contents(_ folder: TemporaryFolder) throws -> [String: [String]] {
    var contents: [String: [String]] = [:]
    // The digests of a listing's items, in their order.
    func items(of listing: String) -> String {
      """
      (SELECT group_concat(hex(digest)) FROM (SELECT i.digest FROM listing_item l CROSS JOIN item i ON i.row = l.item \
      WHERE l.listing = \(listing) ORDER BY l.place))
      """
    }
    /// The keys of the pictures that a row shows, in their order.
    func pictures(of table: String) -> String {
      """
      (SELECT group_concat(hex(id)) FROM (SELECT p.id FROM \(table)_picture s JOIN picture p ON p.row = s.picture \
      WHERE s.\(table) = \(table).row ORDER BY s.place))
      """
    }
    for (table, sql) in [
      ("item_picture", "SELECT place, item IN (SELECT row FROM item) FROM item_picture"),
      ("detail_picture", "SELECT place, detail IN (SELECT row FROM detail) FROM detail_picture"),
      ("catalog", "SELECT name, currency, source FROM catalog"),
      ("run", "SELECT outcome FROM run"),
      (
        "run_section",
        """
        SELECT position, key, title, subtitle, \(items(of: "run_section.listing")), source FROM run_section
        """
      ),
      ("document", "SELECT hex(id), url, mapping, digest, next FROM document"),
      (
        "decoded",
        """
        SELECT hex(document), position, key, title, skipped, \(items(of: "decoded.listing")) FROM decoded
        """
      ),
      ("listing", "SELECT items, \(items(of: "listing.id")) FROM listing"),
      ("listing_item", "SELECT place, item IN (SELECT row FROM item) FROM listing_item"),
      ("item", "SELECT key, hex(digest), \(pictures(of: "item")) FROM item"),
      (
        "detail",
        "SELECT item, hex(document), state, hex(body), \(pictures(of: "detail")) FROM detail"
      ),
      ("picture", "SELECT url, identity, hex(sha256), bytes, type, failure FROM picture"),
      ("picture_change", "SELECT hex(picture) FROM picture_change"),
      ("unreferenced", "SELECT hex(picture) FROM unreferenced"),
      ("tombstone", "SELECT url FROM tombstone"),
      ("square", "SELECT hex(picture), side FROM square"),
    ] { contents[table] = try rows(sql, in: folder).sorted() }
    return contents
  }

  @Test func `after many changes and a sweep the index equals a new one`() throws {
    try sync()
    // Prices, titles and pictures change.
    shop.items["A"]?[0].price = "6,500원"
    shop.items["A"]?[1].thumbnail = "/pictures/A2-other.jpg"
    let changed = try Picture(SampleShop.base).distinct("new", byteCount: 700)
    shop.store.content["/pictures/B1-thumb.jpg"] = Resource(changed, type: "image/jpeg")
    try shop.publish()
    try sync()
    // Items, details and pictures are removed, and others added.
    shop.items["B"]?.removeLast()
    shop.items["B"]?.append(SampleShop.Item("B9"))
    shop.items["A"]?[3].hasDetail = false
    try shop.publish()
    shop.put(nil, at: "/shop/detail/B4")
    shop.store.faults = [
      FaultRule("/pictures/B9-top.jpg", .status(404)),
      FaultRule("/pictures/A1-1.jpg", .status(410)), FaultRule("/shop/B", .status(500)),
    ]
    try sync()
    shop.store.faults = [FaultRule("/pictures/B9-*", .status(404))]
    try sync()
    // Addresses change, and another catalog with the same items is added and removed.
    for cursor in ["x", "y"] {
      try sync(shop.catalog(sections: "[{key: A, url: 'A?cursor=\(cursor)'}, {key: B, url: B}]"))
      try sync(shop.catalog(name: "other", sections: "[{key: A, url: 'A?cursor=\(cursor)'}]"))
      try gc { $0.history = .seconds(86_400) }
    }
    shop.items["B"]?.removeLast()
    shop.items["B"]?.append(SampleShop.Item("B5"))
    shop.items["A"]?[3].hasDetail = true
    try shop.publish()
    shop.store.faults = [FaultRule("/pictures/B5-top.jpg", .status(404))]
    try gc { $0.forget = ["other"] }
    for _ in 0..<3 { try sync() }
    let anew = try TemporaryFolder()
    for _ in 0..<3 { try sync(in: anew) }

    for cache in [folder, anew] {
      // The second sweep removes the tombstones of the first.
      for _ in 0..<2 { try gc(in: cache) }
    }

    let (left, right) = (try contents(folder), try contents(anew))
    for (table, rows) in right { #expect(left[table] == rows, "\(table)") }
    #expect(left["picture"]?.count == 25 && left["tombstone"] == [])
    #expect(
      folder.files(below: "cache/images").keys.sorted()
        == anew.files(below: "cache/images").keys.sorted()
    )
    #expect(try verify(folder).isClean)
  }

  @Test
  func `the record of a 404 is removed after the grace period if no catalog refers to its URL`()
    throws
  {
    shop.items["A"]?[0].thumbnail = "/pictures/gone.jpg"
    try shop.publish()
    shop.store.faults = [FaultRule("/pictures/gone.jpg", .status(404))]
    try sync()
    let failing = "SELECT failure FROM picture WHERE url LIKE '%/gone.jpg' AND failure NOT NULL"
    try gc()
    #expect(try rows(failing) == ["\"http-404\""])
    shop.items["A"]?[0].thumbnail = "/pictures/A1-thumb.jpg"
    try shop.publish()
    try sync()

    try gc { $0.grace = .seconds(86_400) }
    #expect(try rows(failing).count == 1)
    shop.clock.advance(86_400)
    try gc { $0.grace = .seconds(86_400) }

    #expect(try rows(failing) == [])
    // The row with the URL goes with the last run that shows the picture.
    #expect(try rows("SELECT * FROM unreferenced").count == 1)
    for _ in 0..<2 {
      shop.items["A"]?[0].title += "."
      try shop.publish()
      try sync()
    }
    try gc {
      $0.grace = .seconds(0)
      $0.history = .seconds(0)
    }
    #expect(try rows("SELECT 1 FROM picture WHERE url LIKE '%/gone.jpg'") == [])
    #expect(try rows("SELECT * FROM unreferenced") == [])
    #expect(try verify(folder).isClean)
  }

  @Test func `an item's detail is removed although another catalog has an item of that id`()
    throws
  {
    try sync()
    try sync(shop.catalog(name: "other"))
    let details = "SELECT name FROM detail JOIN catalog ON id = catalog WHERE item = 'A4'"
    #expect(try rows(details).count == 2)
    shop.items["A"]?.removeLast()
    try shop.publish()
    for _ in 0..<3 { try sync() }

    try gc()

    #expect(try rows(details) == ["\"other\""])
  }
}
