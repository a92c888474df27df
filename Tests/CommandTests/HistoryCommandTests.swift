import Foundation
import SampleStore
import Testing

/// `larder history`, and the recorded history in other commands.
@Suite struct HistoryCommandTests {
  /// A synced shop in which A1 became cheaper, A2 was removed, and A3 was added with a formula as
  /// title.
  private static func shop() throws -> Shop {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let formula = Shop.item("A3", picture: "A1").replacing("반찬 A3", with: "=1+1")
    shop.list([Shop.item("A1", price: "6,500원"), formula], in: "main")
    #expect(try shop.sync().status == 0)
    shop.list(
      [Shop.item("A1", price: "6,900원"), Shop.item("A2"), Shop.item("A3", picture: "A1")],
      in: "main"
    )
    #expect(try shop.sync().status == 0)
    return shop
  }

  @Test func `history prints the changes with all keys, oldest first`() throws {
    let shop = try Self.shop()

    let all = try Document(try shop.larder("history", "--json"))
    let one = try Document(try shop.larder("history", "A1", "--json"))
    let field = try Document(try shop.larder("history", "--field", "back", "--json"))

    #expect(all[0].keys.isSuperset(of: keyPaths("time run section id field from to")))
    let fields = (0..<(all.count ?? 0)).map {
      "\(all[$0]["id"].string ?? "") \(all[$0]["field"].string ?? "")"
    }
    #expect(
      fields == [
        "A1 salePrice", "A2 removed", "A3 added", "A1 salePrice", "A2 back", "A3 title",
      ]
    )
    #expect(one.count == 2 && one[0]["run"].int == 2 && one[0]["section"].string == "main")
    #expect(one[0]["from"]["minorUnits"].int == 7000 && one[0]["to"]["minorUnits"].int == 6500)
    #expect(one[0]["to"]["currency"].string == "KRW")
    #expect(field.count == 1 && field[0]["from"].isNull && field[0]["to"].isNull)
  }

  @Test func `the text form has a line for each change, and an item's lowest price`() throws {
    let shop = try Self.shop()

    let lines = try shop.larder("history", "A1").lines
    let nothing = try shop.larder("history", "S1")

    #expect(lines.count == 3)
    #expect(lines.first?.hasSuffix("run 2 main/A1 salePrice 7,000원 → 6,500원") == true)
    #expect(lines.last?.hasPrefix("lowest price of the last 30 days: 6,500원, since 2") == true)
    #expect(nothing.status == 0 && nothing.lines.first == "nothing changed")
  }

  @Test func `in CSV prices are numbers, and no title becomes a formula`() throws {
    let shop = try Self.shop()

    let table = try shop.larder("history", "--csv").output.split(separator: "\r\n")

    #expect(table.first == "time,run,section,id,field,from,to,currency")
    #expect(table.contains { $0.hasSuffix(",2,main,A1,salePrice,7000,6500,KRW") })
    #expect(table.contains { $0.hasSuffix(",3,main,A3,title,'=1+1,반찬 A3,") })
  }

  @Test func `list, show and the item's card show the lowest price of 30 days`() throws {
    let shop = try Self.shop()

    let show = try Document(try shop.larder("show", "A1", "--json"))["lowest30Days"]
    let list = try Document(try shop.larder("list", "main", "--json"))[0]["lowest30Days"]
    let card = try shop.larder("show", "A1").lines

    #expect(show["minorUnits"].int == 6500 && show["currency"].string == "KRW")
    #expect(show["at"].string == list["at"].string)
    #expect(card.contains { $0.hasPrefix("lowest ") && $0.contains("6,500원 in the last 30 days") })
    #expect(try !shop.larder("show", "S1").output.contains("lowest"))
  }

  @Test func `an unknown item is refused, and a removed one keeps its history`()
    throws
  {
    let shop = try Self.shop()
    shop.list([Shop.item("A1", price: "6,900원"), Shop.item("A2")], in: "main")
    #expect(try shop.sync().status == 0)

    let gone = try shop.larder("history", "A3")
    let wrong = try shop.larder("history", "A9")

    #expect(gone.status == 0 && gone.lines.count == 3)
    #expect(wrong.status == 1 && wrong.errors.contains("nearest are A1"))
  }

  @Test func `gc forgets history older than the given age, and says how much`() throws {
    let shop = try Self.shop()

    let none = try Document(try shop.larder("gc", "--prices", "2y", "--json"))
    let all = try Document(try shop.larder("gc", "--prices", "0s", "--json"))

    #expect(none["changesForgotten"].int == 0)
    #expect(all["changesForgotten"].int != nil)
    #expect(try shop.larder("gc", "--prices", "2").status == 64)
    #expect(try shop.larder("history", "--field", "price").errors.contains("salePrice"))
  }

  @Test func `list and export show the catalog as it was, and refuse a time before the first run`()
    throws
  {
    let shop = try Self.shop()

    let past = try shop.larder("list", "--at", "2020-01-01")
    let now = try Document(try shop.larder("list", "--at", "2999-01-01T00:00:00Z", "--json"))
    let export = try shop.larder("export", shop.folder.path("out"), "--at", "2999-01-01")

    #expect(past.status == 1 && past.errors.contains("the oldest run that is kept ended at 20"))
    #expect(now.count == 4)
    #expect(export.status == 0)
    #expect(try shop.larder("list", "--at", "yesterday").status == 64)
  }

  @Test func `catalog check --history reads only the index, and says what is unknown`() throws {
    let shop = try Self.shop()
    shop.store.stop()

    let check = try shop.larder("catalog", "check", shop.catalog, "--history")
    let document = try Document(
      shop.larder("catalog", "check", shop.catalog, "--history", "--json")
    )

    #expect(check.status == 0 && check.errors.isEmpty)
    #expect(check.output.hasPrefix("main  3 items\n\nsoup  1 item\n\n"))
    #expect(
      check.output.contains(
        "4 items on sale could not be checked: the history does not cover the 30 days before the sale"
      )
    )
    #expect(check.lines.last == "nothing looks wrong")
    #expect(document["clean"].bool == true && document["history"]["sales"].int == 4)
    #expect(document["history"]["unknown"].int == 4)
    #expect(document["sections"][0]["url"].isNull)
  }

  @Test func `a reference price that is not the lowest of 30 days is a finding of status 3`()
    throws
  {
    let shop = try Self.shop()
    try Self.age(shop, days: 40)
    shop.list(
      [Shop.item("A1", price: "6,000원"), Shop.item("A2"), Shop.item("A3", picture: "A1")],
      in: "main"
    )
    #expect(try shop.sync().status == 0)

    let check = try shop.larder("catalog", "check", shop.catalog, "--history")
    let json = try shop.larder("catalog", "check", shop.catalog, "--history", "--json")

    #expect(check.status == 3 && json.status == 3)
    #expect(
      check.output.contains(
        #/! normalPrice: 8,000원 is struck through beside 6,000원 \(on sale since 2\S+Z\), but the lowest price of the 30 days before was 6,900원, since 2\S+Z \(A1\)\n/#
      )
    )
    #expect(check.lines.last == "1 thing looks wrong")
    let finding = try Document(json)["sections"][0]["findings"][0]
    #expect(finding["code"].string == "struck-price" && finding["examples"][0].string == "A1")
    #expect(finding["struck"]["normalPrice"]["minorUnits"].int == 8000)
    #expect(finding["struck"]["salePrice"]["minorUnits"].int == 6000)
    #expect(finding["struck"]["lowest30Days"]["minorUnits"].int == 6900)
    #expect(finding["struck"]["saleSince"].string?.hasPrefix("2") == true)
    #expect(try JSONSchema("check").findings(in: json.output) == [])
  }

  /// Moves all recorded times back by a number of days.
  private static func age(_ shop: Shop, days: Int) throws {
    let seconds = days * 86_400
    let sqlite = try Command.shell(
      """
      python3 -c 'import sqlite3, sys
      with sqlite3.connect(sys.argv[1]) as db:
          db.execute("UPDATE history_run SET time = time - \(seconds)")' "$index"
      """,
      environment: ["index": shop.cache + "/index.sqlite"]
    )
    #expect(sqlite.status == 0, "\(sqlite.errors)")
  }
}
