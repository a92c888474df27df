import Base
import GRDB
import Glibc
import SQLite
import Support
import Testing

@testable import Catalog
@testable import Orders

/// The outbox: orders and their states in a database.
@Suite struct OutboxTests {
  @Test func `an order reads back as it was placed, in any process`() throws {
    let shelf = try Shelf()
    let order = Shelf.order(
      by: "김 <b>",
      lines: [Shelf.line("A", 2), Shelf.line("B")],
      note: "문 앞"
    )

    try shelf.outbox().place(order)

    let entry = try #require(try shelf.outbox().orders().first)
    #expect(entry.order == order)
    #expect(entry.state == .ordered)
    #expect(entry.delivery.state == .queued)
    #expect(try shelf.outbox().order(String(order.id.rawValue.prefix(12))).order == order)
  }

  @Test func `only the owner may read the file, whatever the umask and whoever made it`() throws {
    let shelf = try Shelf()
    try shelf.place()

    #expect(shelf.folder.state(of: "state")?.mode == 0o700)
    #expect(shelf.folder.state(of: "state/orders.sqlite")?.mode == 0o600)
    #expect(shelf.folder.state(of: "state/orders.sqlite-journal")?.mode ?? 0o600 == 0o600)

    chmod(shelf.path, 0o644)
    _ = try shelf.outbox()
    #expect(shelf.folder.state(of: "state/orders.sqlite")?.mode == 0o600)
  }

  @Test func `opening an outbox again does not release its locks`() throws {
    let shelf = try Shelf()
    try shelf.place()

    try shelf.outbox().write { db in
      try db.execute(sql: "DELETE FROM webhook")
      _ = try shelf.outbox().orders()

      #expect(try OtherProcess.write(shelf.path) == "database is locked")
    }

    #expect(try OtherProcess.write(shelf.path) == "written")
  }

  @Test func `no statement can change the schema of the outbox`() throws {
    let shelf = try Shelf()
    try shelf.place()

    #expect(throws: (any Error).self) {
      try shelf.outbox().write { db in
        try db.execute(sql: "PRAGMA writable_schema = ON")
        try db.execute(sql: "UPDATE sqlite_schema SET sql = 'x' WHERE name = 'placed'")
      }
    }

    #expect(try shelf.outbox().orders().count == 1)
  }

  @Test func `an SQLite without the required protections is an error of an old library`() {
    let error = Outbox.translate(DatabaseFailure.unfit("SQLite is old"), "orders")

    #expect(error.description == "cannot use orders: SQLite is old")
  }

  @Test func `states advance one step at a time, and each is stored with its time`() throws {
    let shelf = try Shelf()
    let id = try shelf.place()[0].rawValue
    let outbox = try shelf.outbox()
    func move(_ state: OrderState?) throws -> OrderState {
      shelf.clock.advance(seconds: 60)
      return try outbox.move(id, to: state, posting: false, at: shelf.clock.now()).state
    }

    #expect(throws: LarderError.self) { try move(.collected) }
    #expect(throws: LarderError.self) { try move(.ready) }
    #expect(try move(nil) == .preparing)
    let error = #expect(throws: LarderError.self) { try move(.cancelled) }
    #expect(error?.code == .state)
    #expect(error?.description.contains("already preparing") == true)
    #expect(try move(.ready) == .ready)
    #expect(try move(.collected) == .collected)
    #expect(throws: LarderError.self) { try move(nil) }

    let history = try outbox.order(id).history
    #expect(history.map(\.state) == [.ordered, .preparing, .ready, .collected])
    #expect(history.map(\.time) == history.map(\.time).sorted())
  }

  @Test func `an id that matches no order or several is an error`() throws {
    let shelf = try Shelf()
    let placed = try shelf.place(2)
    let common = String(placed[0].rawValue.prefix(12))

    #expect(throws: LarderError.self) { try shelf.outbox().order(common) }
    #expect(throws: LarderError.self) { try shelf.outbox().order("ord_") }
    #expect(throws: LarderError.self) { try shelf.outbox().order("ord_%%%%%%") }
  }

  @Test func `a file that is not an outbox is left unchanged`() throws {
    let shelf = try Shelf()
    try shelf.folder.write(
      String(repeating: "not a database ", count: 100),
      to: "state/orders.sqlite"
    )

    let error = #expect(throws: LarderError.self) { try shelf.outbox() }

    #expect(error?.code == .damaged)
    #expect(try shelf.folder.read("state/orders.sqlite").count == 1500)
  }

  @Test(arguments: [
    "placed SET placed = 'x'", "placed SET total = NULL", "placed SET state = 7, language = 'x'",
    "line SET price = NULL", "line SET item = NULL", "change SET time = 'x'",
    "message SET next = 'x'", "message SET attempts = NULL", "message SET delivery = NULL",
    "message SET changed = 'x'",
  ])
  func `a row that larder never wrote is reported or skipped and never traps`(_ change: String)
    throws
  {
    let shelf = try Shelf()
    try shelf.place()
    let outbox = try shelf.outbox()
    try outbox.write { db in
      // A damaged page may violate types and NOT NULL. A copied table has no constraints, so it
      // can hold such values.
      let table = change.prefix { $0 != " " }
      try db.execute(
        sql: """
          CREATE TABLE copy AS SELECT * FROM \(table); DROP TABLE \(table);
          ALTER TABLE copy RENAME TO \(table); UPDATE \(change)
          """
      )
    }

    do { _ = try outbox.orders() } catch { #expect(error.code == .damaged) }
    do {
      _ = try shelf.send(FakeWebhook())
    } catch let error as LarderError {
      #expect(error.code == .damaged)
    }
  }

  static let items: [ExactText: StoreItem] = [
    "A": StoreItem(id: "A", title: "불고기", salePrice: Price(minorUnits: 5200, currency: "KRW")),
    "B": StoreItem(id: "B", title: "국", normalPrice: Price(minorUnits: 900, currency: "KRW")),
    "S": StoreItem(
      id: "S",
      title: "김",
      badges: ["품절"],
      salePrice: Price(minorUnits: 1, currency: "KRW")
    ),
    "N": StoreItem(id: "N", title: "무"),
    "U": StoreItem(id: "U", title: "egg", salePrice: Price(minorUnits: 1, currency: "USD")),
  ]

  static func order(
    _ wishes: [(String, Int)],
    _ change: (inout OrderRequest) -> Void = { _ in }
  ) throws -> PlacedOrder {
    var draft = OrderRequest(
      by: " 지연\n",
      items: wishes.map { OrderRequest.Item($0.0, quantity: $0.1) },
      locale: "ko_KR"
    )
    change(&draft)
    return try draft.order(items, id: OrderID(rawValue: "ord_1"), at: OrderTime(seconds: 0))
  }

  @Test(arguments: [
    ("품절", true), ("일시 품절", true), ("Sold out", true), ("SOLD-OUT", true), ("SoldOut", true),
    ("OutOfStock", true), ("https://schema.org/OutOfStock", true), ("out_of_stock", true),
    ("Out of stock", true), ("outofstock", true), ("Discontinued", true), ("매진", true),
    ("재고 없음", true), ("판매 종료", true), ("InStock", false), ("https://schema.org/InStock", false),
    ("in_stock", false), ("PreOrder", false), ("BackOrder", false), ("New", false), ("", false),
  ])
  func `a sold-out item is refused in the words of many shops`(
    _ badge: String,
    _ isSoldOut: Bool
  )
    throws
  {
    let item = StoreItem(
      id: "A",
      title: "A",
      badges: ["New", badge],
      salePrice: Price(minorUnits: 1, currency: "KRW")
    )
    let draft = OrderRequest(
      by: "지연",
      items: [OrderRequest.Item("A", quantity: 1)],
      locale: "ko_KR"
    )

    #expect(item.isSoldOut == isSoldOut)
    do {
      _ = try draft.order(["A": item], id: OrderID(rawValue: "ord_1"), at: OrderTime(seconds: 0))
      #expect(!isSoldOut)
    } catch {
      #expect(isSoldOut && error.code == .refused)
    }
  }

  @Test func `a total is exact, and an item that is named twice is one line`() throws {
    let order = try Self.order([("A", 2), ("B", 1), ("A", 1)])

    #expect(order.total == Price(minorUnits: 16_500, currency: "KRW"))
    #expect(order.lines.map(\.quantity) == [3, 1])
    #expect(order.by == "지연")
    #expect(order.summary == "불고기 외 1건")
  }

  @Test func `ids that are only canonically equivalent are two lines`() throws {
    let ids = ["\u{E9}", "e\u{301}"]
    let items = ids.enumerated().map { place, id in
      (
        id.exact,
        StoreItem(id: id, title: "\(place)", salePrice: Price(minorUnits: 7, currency: "KRW"))
      )
    }
    let request = OrderRequest(
      by: "지연",
      items: [OrderRequest.Item(ids[1], quantity: 1), OrderRequest.Item(ids[0], quantity: 2)],
      locale: "ko_KR"
    )

    let order = try request.order(
      Dictionary(uniqueKeysWithValues: items),
      id: OrderID(rawValue: "ord_1"),
      at: OrderTime(seconds: 0)
    )

    #expect(order.lines.map(\.title) == ["1", "0"])
    #expect(order.lines.map(\.quantity) == [1, 2])
  }

  @Test(
    arguments: [
      ([("S", 1)], LarderError.Code.refused), ([("N", 1)], .refused),
      ([("A", 1), ("U", 1)], .refused),
      ([("X", 1)], .unknown), ([("A", 0)], .usage), ([("A", -1)], .usage), ([("A", .max)], .usage),
      ([("A", .min)], .usage), ([("A", 1_000_000), ("A", 1)], .usage), ([], .usage),
    ] as [([(String, Int)], LarderError.Code)]
  )
  func `an invalid order is refused`(_ wishes: [(String, Int)], _ code: LarderError.Code) {
    let error = #expect(throws: LarderError.self) { try Self.order(wishes) }

    #expect(error?.code == code)
  }

  @Test func `a budget and a sold-out badge apply unless overridden`() throws {
    let enough = Price(minorUnits: 5200, currency: "KRW")
    let short = Price(minorUnits: 5199, currency: "KRW")

    #expect(try Self.order([("A", 1)]) { $0.budget = enough }.total == enough)
    #expect(throws: LarderError.self) { try Self.order([("A", 1)]) { $0.budget = short } }
    #expect(try Self.order([("S", 1)]) { $0.allowsSoldOut = true }.lines.count == 1)
    #expect(throws: LarderError.self) { try Self.order([("A", 1)]) { $0.by = "\n " } }
  }
}
