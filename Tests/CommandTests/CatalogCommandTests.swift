import Foundation
import SampleStore
import Support
import Testing

import class Support.ClosedPort

/// `larder catalog`: `init`, `check`, `formats` and `schema`.
@Suite struct CatalogCommandTests {
  private static let body = """
    {"total": 2, "goods": [
      {"sku": "A", "name": "Cup", "price": "7.50", "was": "9.00", "photo": "/pictures/A1.jpg"},
      {"sku": "B", "name": "Mug\\u001b[31m", "price": "8.50", "was": "8.00", "photo": "/page.html"}]}
    """

  /// A shop that also serves the listing above, and an HTML page instead of a picture.
  private static func shop() throws -> Shop {
    let shop = try Shop()
    shop.store.content["/api/goods.json"] = Resource(json: body)
    shop.store.content["/page.html"] = Resource(json: "<!DOCTYPE html><html></html>")
    return shop
  }

  @Test func `init writes a file that check can read and sync can use`() throws {
    let shop = try Self.shop()
    shop.store.content["/api/goods.json"] = Resource(
      json: Self.body.replacing("/page.html", with: "/pictures/A2.jpg")
    )
    let file = shop.folder.path("goods.yaml")

    let proposed = try Command.larder([
      "catalog", "init", "\(shop.store.baseURL)/api/goods.json", "--out", file, "--currency",
      "EUR",
    ])
    let synced = try Command.larder(["sync", file, "--cache", shop.cache, "--retries", "0"])
    let listed = try Document(Command.larder(["list", "--cache", shop.cache, "--json"]))

    #expect(proposed.status == 0, "\(proposed.errors)")
    #expect(
      proposed.output.hasPrefix("wrote \(file): it reads 2 items, the first:\n  A  Cup  €7.50")
    )
    #expect(!proposed.output.contains("\u{1B}"))
    #expect(synced.status == 0, "\(synced.errors)")
    #expect(listed.count == 2)
    #expect(listed[0]["salePrice"]["minorUnits"].int == 750)
    #expect(listed[0]["thumbnail"]["state"].string == "held")
  }

  @Test func `init never overwrites a file, and then sends no request`() throws {
    let shop = try Self.shop()
    let file = try shop.folder.write("mine", to: "goods.yaml")

    let proposed = try Command.larder([
      "catalog", "init", "\(shop.store.baseURL)/api/goods.json", "--out", file,
    ])

    #expect(proposed.status == 1)
    #expect(proposed.errors.contains("it exists; choose another name"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "mine")
    #expect(shop.store.requests.count == 0)
  }

  @Test func `init names the format of a page with JSON-LD, and sync reads the page`() throws {
    let shop = try Self.shop()
    shop.store.content["/shop/cups.html"] = Resource(
      json: """
        <!doctype html><title>Cups</title><script type="application/ld+json">
        {"@type": "Product", "sku": "A", "name": "Cup", "image": "/pictures/A1.jpg",
         "offers": {"price": "7.50", "priceCurrency": "EUR"}}</script>
        """
    )
    let file = shop.folder.path("cups.yaml")

    let proposed = try Command.larder([
      "catalog", "init", "\(shop.store.baseURL)/shop/cups.html", "--out", file,
    ])
    let synced = try Command.larder(["sync", file, "--cache", shop.cache, "--retries", "0"])
    let listed = try Document(Command.larder(["list", "--cache", shop.cache, "--json"]))

    #expect(proposed.output.contains("it reads 1 item, the first:\n  A  Cup  €7.50"))
    #expect(try String(contentsOfFile: file, encoding: .utf8).contains("\nformat: json-ld\n"))
    #expect(synced.status == 0, "\(synced.errors)")
    #expect(listed[0]["thumbnail"]["state"].string == "held")
  }

  @Test func `JSON Lines are proposed, checked and synced as an array`() throws {
    let folder = try TemporaryFolder()
    let lines = (1...3).map { #"{"id": \#($0), "name": "Cup \#($0)", "price": 4}"# }
    let source = try folder.write(lines.joined(separator: "\n"), to: "cups.jsonl")
    let file = folder.path("cups.yaml")

    let proposed = try Command.larder(["catalog", "init", source, "--out", file])
    let checked = try Command.larder(["catalog", "check", file])
    let synced = try Command.larder(["sync", file, "--cache", folder.path("cache"), "--json"])

    #expect(proposed.output.contains("it reads 3 items"))
    #expect(checked.status == 0, "\(checked.output)")
    #expect(try Document(synced)["items"]["total"].int == 3)
  }

  @Test func `init prints only the file to stdout when asked to`() throws {
    let folder = try TemporaryFolder()
    let source = try folder.write(Self.body, to: "goods.json")

    let proposed = try Command.larder(["catalog", "init", source, "--out", "-"])

    #expect(proposed.status == 0)
    #expect(proposed.output.hasPrefix("# yaml-language-server: $schema="))
    #expect(proposed.output.contains("\nitems: $.goods   # "))
    #expect(proposed.errors.contains("the file above reads 2 items"))
  }

  @Test func `a response without items is status 65 and says what was searched for`() throws {
    let folder = try TemporaryFolder()
    let source = try folder.write(#"{"users": [{"age": 3}]}"#, to: "users.json")

    let proposed = try Command.larder(["catalog", "init", source, "--out", folder.path("x.yaml")])

    #expect(proposed.status == 65)
    #expect(proposed.errors.contains("looked for an array of objects with an id and a title"))
    #expect(proposed.output == "")
  }

  @Test(arguments: [
    ["init", "no-such.json"], ["init", "x.json", "--currency", "euro"], ["show", "shopfy"],
    ["init", "http://a:b@127.0.0.1:1/x"], ["check", "no.yaml"],
  ])
  func `a wrong command line is status 64`(_ words: [String]) throws {
    let command = try Command.larder(["catalog"] + words)

    #expect(command.status == 64)
    #expect(command.output == "")
    #expect(!command.errors.isEmpty)
  }

  @Test func `an unreachable origin is status 69 for init and check`() throws {
    let shop = try Shop(isOpen: false)
    let closed = try ClosedPort()

    let proposed = try Command.larder(["catalog", "init", "\(closed.baseURL)/x", "--retries", "0"])
    let checked = try Command.larder(["catalog", "check", shop.catalog, "--retries", "0"])

    #expect(proposed.status == 69)
    #expect(checked.status == 69)
  }

  @Test func `check shows the mapped fields and the findings, and fits its schema`() throws {
    let shop = try Self.shop()
    let file = try shop.folder.write(
      """
      name: goods
      currency: EUR
      base: \(shop.store.baseURL)/api/
      sections: [{key: goods, url: goods.json}]
      items: $.goods
      item:
        id: $.sku
        title: $.name
        description: $.words
        normalPrice: $.was
        salePrice: $.price
        images: {thumbnail: $.photo}
      """,
      to: "goods.yaml"
    )

    let checked = try Command.larder(["catalog", "check", file, "--json", "--retries", "0"])
    let text = try Command.larder(["catalog", "check", file, "--retries", "0"])

    let findings = try Document(checked)["sections"][0]["findings"]
    #expect(checked.status == 3)
    #expect(
      (0..<(findings.count ?? 0)).map { findings[$0]["code"].string } == [
        "never-matches", "sale-above-normal", "picture-is-page", "picture-is-page",
      ]
    )
    #expect(try JSONSchema("check").findings(in: checked.lines[0]) == [])
    #expect(text.output.contains("  salePrice         2 of 2  $.price\n"))
    #expect(text.output.contains("! salePrice: 1 of 2 cost more than their normal price (B)"))
    #expect(text.output.contains("! description: no item has a value at $.words"))
  }

  @Test func `check counts the details with a value that cannot be read`() throws {
    let shop = try Self.shop()
    shop.store.content["/api/A.json"] = Resource(json: #"{"text": "A cup.", "price": {"x": 1}}"#)
    shop.store.content["/api/B.json"] = Resource(json: #"{"text": "A mug.", "price": "8.50"}"#)
    let file = try shop.folder.write(
      """
      name: goods
      currency: EUR
      base: \(shop.store.baseURL)/api/
      sections: [{key: goods, url: goods.json}]
      items: $.goods
      item: {id: $.sku, title: $.name, salePrice: $.price}
      detail: {url: "{id}.json", description: $.text, prices: $.price}
      """,
      to: "goods.yaml"
    )

    let checked = try Command.larder(["catalog", "check", file, "--retries", "0"])

    #expect(
      checked.output.contains("1 of 2 have a value that cannot be read"),
      "\(checked.output)\(checked.errors)"
    )
  }

  @Test func `check of a sound catalog is status 0 and stores nothing`() throws {
    let shop = try Shop()
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")

    let checked = try Command.larder(["catalog", "check", shop.catalog])

    #expect(checked.status == 0, "\(checked.output)\(checked.errors)")
    #expect(checked.output.hasSuffix("nothing looks wrong\n"))
    #expect(!FileManager.default.fileExists(atPath: shop.cache))
  }

  @Test func `check prints sections with the same fields as one table`() throws {
    let shop = try Shop()
    shop.list([Shop.item("A1"), Shop.item("A2")], in: "main")
    shop.list([Shop.item("A2").replacing("반찬", with: "국")], in: "soup")

    let alike = try Command.larder(["catalog", "check", shop.catalog])
    shop.list([Shop.item("A2").replacing("\"badge\"", with: "\"labels\"")], in: "soup")
    let unlike = try Command.larder(["catalog", "check", shop.catalog])

    #expect(alike.lines[0].hasPrefix("main  2 items  http"), "\(alike.output)")
    #expect(alike.lines[1].hasPrefix("soup  1 item  http"))
    #expect(alike.output.matches(of: #/\n  badges +3 of 3  /#).count == 1)
    #expect(unlike.output.contains(#/\n  badges +2 of 2  /#))
    #expect(unlike.output.contains(#/\n  badges +0 of 1  /#))
  }

  @Test
  func `check tries each section of a combined response and names repeated keys`()
    throws
  {
    let shop = try Shop()
    shop.list([Shop.item("A1")], in: "main")
    shop.store.content["/api/menus.json"] = Resource(
      json:
        #"{"menus": [{"key": "x", "all": [{"id": 1, "title": "t"}]}, {"key": "y", "all": []}]}"#
    )
    let file = try shop.folder.write(
      """
      name: menus
      currency: EUR
      base: \(shop.store.baseURL)/api/
      sections:
        - {url: menus.json, each: "$.menus[*]", key: $.key, items: $.all}
        - {url: menus.json, each: "$.menus[0:1]", key: $.key, items: $.all}
        - {key: y, url: menus.json, items: "$.menus[0].all"}
      item: {id: $.id, title: $.title}
      """,
      to: "menus.yaml"
    )

    let checked = try Document(
      Command.larder(["catalog", "check", file, "--json", "--retries", "0"])
    )["sections"]

    let sections = (0..<(checked.count ?? 0)).map { checked[$0] }
    #expect(sections.map(\.["key"].string) == ["x", "y", "x", "y"])
    #expect(sections.map(\.["items"].int) == [1, 0, 1, 1])
    let codes = sections.map { section in
      (0..<(section["findings"].count ?? 0)).map { section["findings"][$0]["code"].string ?? "" }
    }
    #expect(codes[0] == [] && codes[2] == ["duplicate-key"] && codes[3] == [])
    #expect(codes[1].contains("duplicate-key"))
  }

  @Test func `formats prints a line for each format, and each can be shown`() throws {
    let formats = try Command.larder(["catalog", "formats"])
    let names = formats.lines.compactMap { $0.split(separator: " ").first.map(String.init) }
    let listed = try Document(Command.larder(["catalog", "formats", "--json"]))

    #expect(
      Set(names).isSuperset(of: [
        "banchan", "dummyjson", "shopify", "shopify-storefront", "woocommerce", "magento",
        "fakestore", "google-merchant", "json-ld",
      ])
    )
    #expect((0..<(listed.count ?? 0)).map { listed[$0]["name"].string } == names)
    for name in names {
      let shown = try Command.larder(["catalog", "show", name])
      #expect(shown.status == 0)
      #expect(shown.output.contains("\nabout: ") && shown.output.contains("\nitem:"))
    }
  }

  @Test func `a changed copy of a format is read by its path relative to the catalog file`() throws
  {
    let folder = try TemporaryFolder()
    let shown = try Command.larder(["catalog", "show", "fakestore"])
    let lines = "name: s\ncurrency: USD\nsections: [{key: a, url: a.json}]\nformat: ./mine.yaml\n"
    let body = #"[{"id": 1, "name": "Cup", "price": 2, "image": "https://c.example/1.png"}]"#
    _ = try folder.write(
      shown.output.replacing("title: $.title", with: "title: $.name"),
      to: "mine.yaml"
    )
    _ = try folder.write(body, to: "a.json")
    let file = try folder.write(lines, to: "shop.yaml")

    let checked = try Command.larder(["catalog", "check", file, "--json"])

    #expect(checked.output.contains(#"{"items":1,"name":"title","paths":["$.name"]}"#))
  }

  @Test func `the schema is JSON`() throws {
    let schema = try Command.larder(["catalog", "schema"])

    #expect(schema.status == 0)
    #expect(throws: Never.self) {
      try JSONSerialization.jsonObject(with: Data(schema.output.utf8))
    }
  }

  @Test(arguments: ["init", "check", "formats", "show", "schema"])
  func `each help page has an example and its exit statuses`(_ name: String) throws {
    let help = try Command.larder(["catalog", name, "--help"])

    #expect(help.status == 0)
    #expect(help.output.contains("Example:  larder catalog \(name)"))
    #expect(help.output.contains("Exit statuses:"))
  }
}
