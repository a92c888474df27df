import Foundation
import SampleStore
import Support
import Testing

/// A synced shop whose items have coordinates and prices.
private final class Districts: Sendable {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    let store = try SampleStore(SampleContent())
    defer { store.stop() }
    store.content["/a"] = Resource(
      json: """
        {"items": [
          {"id": "1", "t": "간장 불고기", "b": ["이벤트특가"], "p": "9,900원", "y": 37.5, "x": 127.03, "w": "서울 강남구"},
          {"id": "2", "t": "된장찌개", "p": "7,000원", "y": "35.1", "x": "129.0"},
          {"id": "3", "t": "Ｃｏｆｆｅｅ"}]}
        """
    )
    store.content["/b"] = Resource(
      json:
        #"{"items": [{"id": "4", "t": "깍두기", "p": "5,000원", "b": ["New\u001b[2J"], "w": "부산\u202e"}]}"#
    )
    let catalog = try folder.write(
      """
      name: shop
      currency: KRW
      base: \(store.baseURL)/
      sections: [{key: a, title: 가, url: a}, {key: b, title: 나, url: b}]
      items: $.items
      item: {id: $.id, title: $.t, badges: $.b, salePrice: $.p, latitude: $.y, longitude: $.x, address: $.w}
      """,
      to: "shop.yaml"
    )
    let sync = try Command.larder(["sync", catalog, "--cache", folder.path("cache")])
    guard sync.status == 0 || sync.status == 3 else { throw CommandError(sync.errors) }
  }

  /// Runs `larder list` with these arguments.
  func list(_ arguments: [String]) throws -> Command {
    try Command.larder(["list"] + arguments + ["--cache", folder.path("cache")])
  }

  /// The listed ids, in order.
  func ids(_ arguments: [String]) throws -> String {
    let document = try Document(list(arguments + ["--json"]))
    return (0..<(document.count ?? 0)).compactMap { document[$0]["id"].string }.joined()
  }
}

/// The filters, the order and the formats of `larder list`.
@Suite struct QueryTests {
  @Test("A list is searched, filtered, sorted and limited, with and without a section")
  func queries() throws {
    let shop = try Districts()

    let cases: [([String], String)] = [
      (["--search", "ㅂㄱㄱ"], "1"), (["--search", "coffee"], "3"), (["--badge", "특가"], "1"),
      (["--price", "5000..7000"], "24"), (["--price", "..5000"], "4"),
      (["--price", "7000.."], "12"),
      (["--sort", "price"], "4213"), (["--sort", "-price"], "1243"), (["--sort=-price"], "1243"),
      (["--sort", "title"], "3142"), (["--limit", "2"], "12"),
      (["--sort", "price", "--limit", "1"], "4"),
      (["a", "--sort", "price"], "213"), (["b", "--limit", "9"], "4"), (["--search", "없다"], ""),
      (["--limit", "1", "--search", "ㄲ"], "4"),
    ]
    for (arguments, ids) in cases {
      #expect(try shop.ids(arguments) == ids, "\(arguments)")
    }
  }

  @Test(
    "An invalid value is a usage error that names the allowed values",
    arguments: [
      (["--price", "9000..5000"], "LOW..HIGH"), (["--price", "x"], "LOW..HIGH"),
      (["--price", ""], "LOW..HIGH"),
      (["--sort", "size"], "price, -price, title"), (["--limit", "0"], "from 1 to 1000000000"),
      (["--limit", "-1"], "from 1 to 1000000000"), (["--limit", ""], "from 1 to 1000000000"),
      (["--limit", "99999999999999999999"], "from 1 to 1000000000"),
    ]
  )
  func mistakes(_ arguments: [String], _ words: String) throws {
    let ended = try Command.larder(["list"] + arguments)

    #expect(ended.status == 64)
    #expect(ended.errors.contains(words), "\(ended.errors)")
    #expect(ended.output.isEmpty)
  }

  @Test(
    "Items in the catalog's order are under their sections' headings; sorted items are in one list"
  )
  func table() throws {
    let shop = try Districts()

    let plain = try shop.list([]).output
    let sorted = try shop.list(["--sort", "price"]).output

    #expect(plain.hasPrefix("가\n  1  9,900원  간장 불고기  [이벤트특가]  (no picture)  @ 서울 강남구\n"))
    #expect(plain.contains("\n\n나\n  4  5,000원  깍두기  [New[2J]  (no picture)  @ 부산\n"))
    #expect(plain.contains("된장찌개  (no picture)  @ 35.1, 129.0\n"))
    #expect(sorted.hasPrefix("  4  5,000원  깍두기"))
    #expect(!sorted.contains("가\n"))
  }

  @Test("An item has its coordinates and address, or null for each that it lacks")
  func places() throws {
    let shop = try Districts()

    let items = try Document(shop.list(["--json"]))
    let card = try Command.larder(["show", "1", "--cache", shop.folder.path("cache")])

    #expect(items[0]["latitude"].double == 37.5)
    #expect(items[0]["longitude"].double == 127.03)
    #expect(items[0]["address"].string == "서울 강남구")
    #expect(
      items[2]["latitude"].isNull && items[2]["longitude"].isNull && items[2]["address"].isNull
    )
    #expect(card.output.contains("place          서울 강남구 (37.5, 127.03)\n"), "\(card.output)")
  }
}
