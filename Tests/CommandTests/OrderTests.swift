import Foundation
import SampleStore
import Support
import Testing

/// `larder order` as used from a shell.
@Suite struct OrderTests {
  static let token = "T0/B0/s3cret+tok=en~"
  static let secret = "whsec_" + Data("a very secret signing key".utf8).base64EncodedString()

  /// A shop with its catalog in the cache, and an environment whose webhook is the shop's own
  /// server.
  static func shop(_ faults: String = "") throws -> (Shop, [String: String]) {
    let shop = try Shop(faults: faults)
    #expect([0, 3].contains(try shop.sync().status))
    let environment = [
      "LARDER_ORDERS": shop.folder.path("state/orders.sqlite"),
      "LARDER_WEBHOOK_URL": shop.store.baseURL + "/orders", "LANG": "ko_KR.UTF-8",
    ]
    return (shop, environment)
  }

  static func order(
    _ arguments: String...,
    in shop: Shop,
    _ environment: [String: String]
  ) throws -> Command {
    let needsCache = arguments.first == "place"
    return try Command.larder(
      ["order"] + arguments + (needsCache ? ["--cache", shop.cache] : []),
      environment: environment
    )
  }

  static let listKeys: Set<String> = [
    "[].order", "[].item", "[].title", "[].by", "[].quantity", "[].total",
    "[].total.minorUnits", "[].total.currency", "[].delivery", "[].state", "[].attempts",
    "[].lastError", "[].nextAttempt",
  ]

  @Test func `warm sends due orders, and its metrics count orders by state`() throws {
    let (shop, environment) = try Self.shop()
    _ = try Self.order("place", "A1", "--by", "Jiyeon", in: shop, environment)
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    let file = shop.folder.path("larder.prom")

    let warm = try Command.larder(
      ["warm", shop.catalog, "--cache", shop.cache, "--metrics", file],
      environment: environment
    )

    #expect(warm.status == 0)
    #expect(warm.errors.isEmpty)
    #expect(shop.store.orders.count == 1)
    let text = try shop.folder.text("larder.prom")
    #expect(text.contains("# TYPE larder_orders gauge\n"))
    #expect(text.contains("larder_orders{delivery=\"delivered\"} 1\n"))
    #expect(text.contains("larder_orders{delivery=\"queued\"} 0\n"))
  }

  @Test func `an order is placed, listed, sent once and advanced to its next state`() throws {
    let (shop, environment) = try Self.shop()

    let placed = try Self.order(
      "place",
      "A1",
      "--by",
      "지연",
      "--quantity",
      "2",
      "--item",
      "S1=1",
      "--json",
      in: shop,
      environment
    )
    let list = try Self.order("list", "--json", in: shop, environment)
    #expect(shop.store.orders.isEmpty)
    let sent = try Self.order("send", "--json", in: shop, environment)
    let again = try Self.order("send", "--json", in: shop, environment)
    let people = try Self.order("list", in: shop, environment)

    let id = try #require(try Document(placed)["order"].string)
    #expect(placed.status == 0 && id.hasPrefix("ord_"))
    #expect(try Document(list).keys.isSuperset(of: Self.listKeys))
    #expect(try Document(placed)["total"]["minorUnits"].int == 21_000)
    #expect(try Document(list)[0]["delivery"].string == "queued")
    #expect(sent.status == 0)
    #expect(try Document(sent)["delivered"].int == 1)
    for key in ["queued", "ambiguous", "dead"] { #expect(try Document(sent)[key].int == 0) }
    #expect(try Document(sent)["stopped"].isNull)
    #expect(try Document(again)["delivered"].int == 0)
    #expect(shop.store.orders.count == 1)
    let body = String(decoding: shop.store.orders[0].body, as: UTF8.self)
    #expect(body.contains(#""text":"지연 – 21,000원 – 반찬 A1 외 1건""#) && body.contains(id))
    #expect(people.output.contains("●○○○ 주문") && people.output.contains("방금 전"))

    #expect(try Self.order("advance", id, in: shop, environment).status == 0)
    let late = try Self.order("cancel", id, in: shop, environment)
    #expect(late.status == 1 && late.errors.contains("already preparing"))
    let shown = try Document(try Self.order("show", id, "--json", in: shop, environment))
    #expect(shown["history"].count == 2 && shown["state"].string == "preparing")
  }

  @Test(arguments: [
    (["place", "A9", "--by", "a"], Int32(1), "nearest are A1"),
    (["place", "A1", "--by", "a", "--budget", "6999"], 1, "budget"),
    (["place", "A1", "--by", "a", "--quantity", "0"], 64, "from 1"),
    (["place", "A1"], 64, "--by"), (["show", "ord_00000000"], 1, "there are no orders yet"),
    (["send", "--payload", "json"], 64, "secret"),
    (["send", "--webhook-url-file", "nowhere"], 64, "nowhere"), (["replay"], 64, "--all"),
    (["send", "--limit", "0"], 64, "--limit"),
  ])
  func `an invalid order is refused with a reason and not stored`(
    _ arguments: [String],
    _ status: Int32,
    _ words: String
  ) throws {
    let (shop, environment) = try Self.shop()

    let command = try Command.larder(
      ["order"] + arguments + (arguments[0] == "place" ? ["--cache", shop.cache] : []),
      environment: environment
    )

    #expect(command.status == status)
    #expect(command.output == "")
    #expect(command.errors.contains(words))
    #expect(try Self.order("list", "--json", in: shop, environment).output == "[]\n")
  }

  @Test func `a stopped webhook is status 69 until it is resumed`() throws {
    let (shop, environment) = try Self.shop("path=/orders hits=1 status=404 body=no_service")

    let placed = try Self.order("place", "A1", "--by", "a", "--send", in: shop, environment)
    let stopped = try Self.order("send", "--json", in: shop, environment)
    let resumed = try Self.order("send", "--resume", in: shop, environment)

    #expect(placed.status == 69 && placed.errors.contains("no_service"))
    #expect(stopped.status == 69)
    #expect(try Document(stopped)["stopped"].string == "http-404 no_service")
    #expect(try Document(stopped)["queued"].int == 1)
    #expect(resumed.status == 0)
  }

  @Test func `an order that may have arrived is listed with status 3 until somebody decides`()
    throws
  {
    let (shop, environment) = try Self.shop("path=/orders hits=1 close")
    let placed = try Self.order("place", "A1", "--by", "a", in: shop, environment)
    let id = String(placed.output.prefix { $0 != " " })

    let held = try Self.order("send", in: shop, environment)
    let still = try Self.order("send", "--json", in: shop, environment)
    let resent = try Self.order("send", "--on-ambiguous", "resend", in: shop, environment)

    #expect(held.status == 3 && held.errors.contains("order \(id) may have arrived"))
    #expect(still.status == 3)
    #expect(try Document(still)["ambiguous"].int == 1)
    #expect(resent.status == 0)
    #expect(shop.store.orders.count == 2)
  }

  @Test func `several processes can migrate an old outbox at the same time`() throws {
    let folder = try TemporaryFolder()
    let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "OrdersTests/Fixtures/orders-1.sqlite")
    try Data(contentsOf: file).write(to: URL(filePath: folder.path("orders.sqlite")))

    let lists = try Command.shell(
      #"""
      for i in 1 2 3 4 5 6 7 8; do
        "$larder" order list --json --orders orders.sqlite >"list-$i" || echo "status $?" &
      done
      wait
      cat list-*
      """#.replacing("orders.sqlite", with: folder.path("orders.sqlite"))
        .replacing("list-", with: folder.path("list-"))
    )

    #expect(lists.errors == "")
    #expect(lists.lines.count == 8 && Set(lists.lines).count == 1)
    #expect(lists.lines.first?.components(separatedBy: #""order":"ord_"#).count == 15)
  }

  @Test func `orders outlive the cache`() throws {
    let (shop, environment) = try Self.shop()
    _ = try Self.order("place", "A1", "--by", "a", in: shop, environment)

    try FileManager.default.removeItem(atPath: shop.cache)

    #expect(try Self.order("send", in: shop, environment).status == 0)
    #expect(shop.store.orders.count == 1)
  }

  @Test func `the webhook's URL and secret appear in no output and in no stored file`() throws {
    let (shop, plain) = try Self.shop("path=/orders hits=1 status=404 body=no_service")
    let file = try shop.folder.write(shop.store.baseURL + "/orders?" + Self.token, to: "hook")
    var environment = plain
    environment["LARDER_WEBHOOK_SECRET"] = Self.secret
    environment["LARDER_WEBHOOK_URL"] = nil
    func run(_ arguments: String...) throws -> Command {
      try Command.larder(
        ["order"] + arguments + ["--log-format", "json", "-vv"],
        environment: environment
      )
    }

    var commands: [Command] = []
    for payload in ["slack", "json"] {
      _ = try Self.order("place", "A1", "--by", "a", in: shop, environment)
      commands.append(try run("send", "--webhook-url-file", file, "--payload", payload))
      commands.append(try run("send", "--webhook-url-file", file, "--payload", payload, "--json"))
      commands.append(
        try run("send", "--webhook-url-file", file, "--payload", payload, "--resume")
      )
    }
    try (shop.store.baseURL + "/orders/ " + Self.token).write(
      toFile: file,
      atomically: true,
      encoding: .utf8
    )
    commands.append(try run("send", "--webhook-url-file", file))
    try ("http://example.com/" + Self.token).write(
      toFile: file,
      atomically: true,
      encoding: .utf8
    )
    commands.append(try run("send", "--webhook-url-file", file))
    commands.append(try run("list", "--json"))

    #expect(commands.map(\.status) == [69, 69, 0, 0, 0, 0, 64, 64, 0])
    #expect(shop.store.orders.count == 3)
    let forms = [Self.token, Self.secret].flatMap { text in
      [
        text, String(text.dropFirst(6)),
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text,
        Data(text.utf8).base64EncodedString(),
      ]
    }
    let files = try shop.folder.contents(below: "state")
    #expect(files["orders.sqlite"]?.isEmpty == false)
    for form in forms + ["s3cret"] {
      for command in commands { #expect(!(command.output + command.errors).contains(form)) }
      for bytes in files.values { #expect(bytes.range(of: Data(form.utf8)) == nil) }
    }
  }
}
