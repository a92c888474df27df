import Foundation
import SampleStore
import Testing

/// `larder sql`, which runs read-only queries on the index.
@Suite struct SqlTests {
  private static func shop() throws -> Shop {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    _ = try shop.sync()
    shop.list([Shop.item("A1", price: "6,500원"), Shop.item("A3")], in: "main")
    _ = try shop.sync()
    return shop
  }

  @Test func `the views agree with list, show, history and status`() throws {
    let shop = try Self.shop()
    func rows(_ sql: String) throws -> [String] {
      try shop.larder("sql", sql, "--csv").output.split(separator: "\r\n").dropFirst().map(
        String.init
      )
    }

    #expect(
      try rows("SELECT section, position, id, sale_price, currency FROM items") == [
        "main,0,A1,6500,KRW", "main,1,A3,7000,KRW", "soup,0,S1,7000,KRW",
      ]
    )
    #expect(try rows("SELECT section, items FROM sections") == ["main,2", "soup,1"])
    #expect(
      try rows("SELECT run, id, field, old, new FROM changes ORDER BY id, field") == [
        "2,A1,salePrice,7000,6500", "2,A2,removed,,", "2,A3,added,,",
      ]
    )
    #expect(
      try rows("SELECT minor_units, run FROM prices WHERE id = 'A1' AND field = 'salePrice'") == [
        "7000,1", "6500,2",
      ]
    )
    #expect(try rows("SELECT run, current FROM runs ORDER BY run") == ["1,0", "2,1"])
    #expect(try rows("SELECT stage, reason FROM failures").contains("image,http-404"))
    #expect(try rows("SELECT count(*) FROM pictures WHERE NOT held") == ["2"])
  }

  @Test(arguments: [
    "DELETE FROM run", "ATTACH 'other.sqlite' AS other", "PRAGMA journal_mode = WAL",
    "PRAGMA user_version",
    "CREATE TEMP TABLE mine(x)", "SELECT load_extension('x')", "SELECT 1; SELECT 2", "SELEC 1",
    "VACUUM",
    "SELECT * FROM pragma_table_info('run')", "", "BEGIN",
  ])
  func `an invalid query, or one that writes, is refused and changes nothing`(
    _ sql: String
  ) throws {
    let shop = try Self.shop()
    let before = try Data(contentsOf: URL(filePath: "\(shop.cache)/index.sqlite"))

    let refused = try shop.larder("sql", sql)

    #expect(refused.status == 64)
    #expect(refused.errors.contains("cannot run the query: "))
    #expect(try Data(contentsOf: URL(filePath: "\(shop.cache)/index.sqlite")) == before)
  }

  @Test(arguments: [
    "-- All?\nSELECT 1", "/* a */ SELECT 1 -- b", "SELECT 1;; -- done", "SELECT 1; /* done */ \n",
  ])
  func `a query can have comments at both ends`(_ sql: String) throws {
    let shop = try Self.shop()

    let answer = try shop.larder("sql", sql)

    #expect(answer.status == 0 && answer.lines.last?.hasSuffix("1") == true, "\(answer.errors)")
  }

  @Test func `an endless query is stopped`() throws {
    let shop = try Self.shop()
    let endless =
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"

    let ended = try shop.larder("sql", endless)

    #expect(ended.status == 64 && ended.errors.contains("it takes more than 8 seconds"))
  }

  @Test func `the text form is a table, or the query plan on request`() throws {
    let shop = try Self.shop()

    let table = try shop.larder("sql", "SELECT id, sale_price FROM items WHERE section = 'main'")
      .lines
    let plan = try shop.larder("sql", "--explain", "SELECT id FROM items")

    #expect(table == ["id  sale_price", "--  ----------", "A1        6500", "A3        7000"])
    #expect(plan.status == 0 && plan.output.contains("SCAN"))
  }

  @Test func `the ten questions of the documentation have answers`() throws {
    let shop = try Self.shop()
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(contentsOf: root.appending(path: "docs/database.md"), encoding: .utf8)
    let questions = try #require(page.firstMatch(of: /(?s)```sql\n(.*?)```/)).output.1
      .split(separator: "\n").filter { $0.hasPrefix("SELECT") }

    #expect(questions.count == 10)
    for question in questions {
      #expect(try shop.larder("sql", String(question)).status == 0, "\(question)")
    }
  }
}
