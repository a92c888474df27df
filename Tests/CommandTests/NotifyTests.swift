import Foundation
import SampleStore
import Support
import Testing

/// `larder notify` and `--notify` as used from a shell.
@Suite struct NotifyTests {
  /// A synced shop, and an environment whose webhook is the shop's own server.
  private static func shop() throws -> (Shop, [String: String]) {
    let shop = try Shop()
    #expect([0, 3].contains(try shop.sync().status))
    return (
      shop,
      [
        "LARDER_ORDERS": shop.folder.path("state/orders.sqlite"),
        "LARDER_WEBHOOK_URL": shop.store.baseURL + "/orders", "LANG": "C",
      ]
    )
  }

  private static func change(_ shop: Shop, price: String) throws {
    shop.list([Shop.item("A1", price: price), Shop.item("A3")], in: "main")
    shop.store.content["/pictures/A3.jpg"] = Shop.picture("A3")
    _ = try shop.sync("--allow-removals")
  }

  private static func body(_ shop: Shop) -> String {
    String(decoding: shop.store.orders.last?.body ?? [], as: UTF8.self)
  }

  @Test func `the changes of a sync are sent once`() throws {
    let (shop, environment) = try Self.shop()

    let first = try shop.larder("notify", environment: environment)
    try Self.change(shop, price: "6,500원")
    let second = try shop.larder("notify", "--json", environment: environment)
    let third = try shop.larder("notify", environment: environment)

    #expect([first, second, third].map(\.status) == [0, 0, 0])
    #expect(shop.store.orders.count == 1)
    #expect(try JSONSchema("order-send").findings(in: second.output) == [])
    let body = Self.body(shop)
    #expect(body.contains("banchan: 1 price, 1 new, 1 removed"))
    #expect(body.contains("반찬 A1 (A1): 7,000원 → 6,500원 (−7 %)"))
    #expect(body.contains("new: 반찬 A3 (A3) · 7,000원") && body.contains("removed: 반찬 A2 (A2)"))
  }

  @Test(arguments: [
    (["price"], Shop.item("A1", price: "6,500원"), [["price", "A1", "6500", "7000"]]),
    (["added", "removed"], Shop.item("A3"), [["removed", "A3"], ["back", "A1"]]),
  ])
  func `what a later sync takes back is told if the notice may have arrived`(
    _ kinds: [String],
    _ changed: String,
    _ expected: [[String]]
  ) throws {
    let (shop, environment) = try Self.shop()
    shop.store.content["/pictures/A3.jpg"] = Shop.picture("A3")
    func publish(_ first: String) throws {
      shop.list([first, Shop.item("A2")], in: "main")
      _ = try shop.sync("--allow-removals")
    }
    func notify(mayRepeat: Bool) throws -> [[String]] {
      let before = shop.store.orders.count
      _ = try shop.larder(
        "notify",
        "--payload",
        "json",
        "--unsigned",
        "--wait",
        "0s",
        "--only",
        (kinds + ["back"]).joined(separator: ","),
        environment: environment
      )
      guard shop.store.orders.count > before else { return [] }
      let json = try JSONSerialization.jsonObject(with: Data(Self.body(shop).utf8))
      let data = try #require((json as? [String: Any])?["data"] as? [String: Any])
      #expect(data["mayRepeat"] as? Bool == mayRepeat)
      return try #require(data["changes"] as? [[String: Any]]).map { change in
        let amounts = ["from", "to"].compactMap { change[$0] as? [String: Any] }
          .compactMap { ($0["minorUnits"] as? Int).map(String.init) }
        let isPrice = change["kind"] as? String == "price"
        return ["kind", "id"].compactMap { change[$0] as? String } + (isPrice ? amounts : [])
      }
    }
    try publish(changed)
    shop.store.faults = try FaultScript(text: "path=/orders status=502")
    #expect(try notify(mayRepeat: false).count == expected.count)
    shop.store.faults = FaultScript()
    try publish(Shop.item("A1"))

    // The correction may be lost too, and another change comes before it is sent again.
    shop.store.faults = try FaultScript(text: "path=/orders status=502")
    #expect(try notify(mayRepeat: true) == expected)
    shop.store.faults = FaultScript()
    shop.list([Shop.item("S1", price: "5,000원")], in: "soup")
    _ = try shop.sync()

    let last = try notify(mayRepeat: true)
    // Without another change of these kinds, the correction waits for its next attempt.
    let isReplaced = kinds.contains("price")
    #expect(last.count == (isReplaced ? expected.count + 1 : 0))
    #expect(!isReplaced || expected.allSatisfy(last.contains))
    #expect(try notify(mayRepeat: true).isEmpty)
  }

  @Test func `only the chosen kinds of changes are sent`() throws {
    let (shop, environment) = try Self.shop()
    try Self.change(shop, price: "6,500원")
    func notify(_ arguments: [String]) throws -> Int {
      let before = shop.store.orders.count
      let run = try Command.larder(
        ["notify", "--cache", shop.cache] + arguments,
        environment: environment
      )
      #expect(run.status == 0, "\(arguments): \(run.errors)")
      return shop.store.orders.count - before
    }

    #expect(try notify(["--only", "badge,picture"]) == 0)
    #expect(try notify(["--only", "price", "--drop", "10%"]) == 0)
    #expect(try notify(["--item", "S1"]) == 0)
    #expect(try notify(["--only", "price", "--drop", "5%", "--item", "A1"]) == 1)
    #expect(!Self.body(shop).contains("A3"))
    #expect(try notify(["--only", "price", "--drop", "5%", "--item", "A1"]) == 0)
  }

  @Test func `warm sends notices to the webhook in a file, independent of the webhook for orders`()
    throws
  {
    let (shop, environment) = try Self.shop()
    let file = try shop.folder.write(shop.store.baseURL + "/orders?to=people", to: "webhook")
    var own = environment
    own["LARDER_WEBHOOK_URL"] = nil
    shop.list([Shop.item("A1", price: "5,900원"), Shop.item("A2")], in: "main")

    let warm = try shop.larder("warm", shop.catalog, "--notify-url-file", file, environment: own)
    let again = try shop.larder("warm", shop.catalog, "--notify-url-file", file, environment: own)

    #expect(warm.status == 0 && warm.errors.isEmpty && again.status == 0)
    #expect(shop.store.orders.count == 1)
    #expect(Self.body(shop).contains("7,000원 → 5,900원"))
  }

  @Test(arguments: [
    (["notify", "--only", "prices"], "did you mean price?"),
    (["notify", "--only", ""], "it takes one or more of"),
    (["notify", "--drop", "much"], "share"),
    (["warm", "--only", "price"], "--notify-url-file"),
    (["warm", "--notify-url-file", "nowhere"], "nowhere"),
  ])
  func `a mistake is reported before anything is fetched`(_ arguments: [String], _ words: String)
    throws
  {
    let (shop, environment) = try Self.shop()
    let before = shop.store.requests.count
    let catalog = arguments[0] == "warm" ? [shop.catalog] : []

    let refused = try Command.larder(
      arguments + catalog + ["--cache", shop.cache],
      environment: environment
    )

    #expect(refused.status == 64 && refused.errors.contains(words))
    #expect(shop.store.requests.count == before)
  }

  @Test func `without a webhook no notice is stored or sent`() throws {
    let (shop, environment) = try Self.shop()
    var none = environment
    none["LARDER_WEBHOOK_URL"] = nil

    let refused = try shop.larder("notify", environment: none)

    #expect(refused.status == 64 && refused.errors.contains("--webhook-url-file"))
    #expect(!FileManager.default.fileExists(atPath: environment["LARDER_ORDERS"] ?? ""))
  }

  @Test func `an unreachable webhook is status 69, and its notice waits`() throws {
    let (shop, environment) = try Self.shop()
    try Self.change(shop, price: "6,500원")
    var closed = environment
    closed["LARDER_WEBHOOK_URL"] = try ClosedPort().baseURL + "/orders"

    let run = try shop.larder("notify", "--wait", "0s", environment: closed)

    #expect(run.status == 69 && run.errors.contains("cannot be reached"))
    #expect(run.output.contains("1 queued"))
  }
}
