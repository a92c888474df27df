import Base
import Cache
import Foundation
import SampleStore
import Testing

@testable import Catalog
@testable import Pipeline
@testable import Web

/// The store's pages as a visitor without JavaScript sees them.
@Suite struct StorefrontPageTests {
  @Test(arguments: [
    ("/", 200), ("/search", 200), ("/search?q=dish", 200), ("/sections/A", 200),
    ("/items/A1", 200),
    ("/basket", 200), ("/orders", 200), ("/sections/Z", 404), ("/items/Z9", 404),
    ("/items/../../etc/passwd", 404), ("/orders/ord_00000000000000000000000000", 404),
    ("/orders/ord_1", 0), ("/orders/x/cancel", 0), ("/sections/", 0), ("/items/", 0),
    ("/nothing", 0),
    ("/api/items/A1", 0), ("/images/aa/b.jpg", 0), ("/assets/store-000000000000.css", 0),
    ("/assets/../Package.swift", 0), ("/orders/ord_00000000000000000000000000/cancel", 405),
  ])
  func `each route has its page, and unknown ones are 404`(
    _ address: String,
    _ status: Int
  ) async throws {
    let visitor = try StoreFixture(items: 1)

    let answer = await visitor.get(address)

    #expect(answer.isPage == (status != 0))
    #expect(answer.status == (status == 0 ? 404 : status))
  }

  @Test(arguments: ["/", "/search", "/sections/A", "/items/A1"])
  func `a page that only shows something accepts no form`(_ path: String) async throws {
    let visitor = try StoreFixture(items: 1)

    let answer = await visitor.post(path, [:])

    #expect(answer.status == 405 && answer.all("allow") == ["GET, HEAD"])
  }

  @Test func `every page has its security policy, and its assets exist`() async throws {
    let visitor = try StoreFixture(items: 1)
    for address in ["/", "/search", "/sections/A", "/items/A1", "/basket", "/orders", "/items/Z"] {
      let page = await visitor.get(address)
      #expect(page.all("content-type") == ["text/html; charset=utf-8"])
      #expect(page.all("Content-Security-Policy").first?.contains("script-src 'self'") == true)
      #expect(!page.html.contains("<style") && !page.html.contains(" style="))
      #expect(!page.html.contains("<script>") && !page.html.contains(" onclick="))
      let isPrivate = ["/basket", "/orders", "/items/Z"].contains(address)
      #expect(page.all("cache-control") == [isPrivate ? "no-store" : "private, no-cache"])
      for match in page.html.matches(of: /"(\/assets\/[^"]+)"/) {
        let asset = await visitor.get(String(match.1))
        #expect(asset.status == 200, "\(match.1)")
      }
    }
    for cookie in await visitor.get("/?lang=ko").all("set-cookie") {
      #expect(cookie.contains("; Path=/; HttpOnly; SameSite=Strict"))
    }
    let style = await visitor.get(StorefrontAssets.style.path)
    #expect(style.all("cache-control") == ["public, max-age=31536000, immutable"])
  }

  @Test func `each picture has a size, so that text keeps its place while it loads`() async throws
  {
    let visitor = try StoreFixture(items: 1) { shop in
      // Three pixels by two.
      let gif = Array("GIF89a\u{3}\0\u{2}\0\0\0\0,\0\0\0\0\u{3}\0\u{2}\0\0\u{2}\0;".utf8)
      shop.store.content["/pictures/wide.gif"] = Resource(gif, type: "image/gif")
      shop.items["A"]?[0].story = ["/pictures/wide.gif"]
    }
    for address in ["/", "/sections/A", "/items/A1"] {
      let pictures = await visitor.get(address).html.matches(of: /<img [^>]*>/).map(\.output)
      #expect(!pictures.isEmpty)
      #expect(pictures.filter { !$0.contains(/\swidth="\d+" height="\d+"/) } == [])
      let story = pictures.filter { $0.contains("description, part 1") }
      #expect(story.allSatisfy { $0.contains(" width=\"3\" height=\"2\" ") })
      #expect(story.count == (address == "/items/A1" ? 1 : 0))
    }
  }

  @Test func `no text of a feed becomes markup, on any page`() async throws {
    let evil = "\"\u{301}><script>alert(1)</script><img src=x onerror=\"'</style>{{title}}"
    let visitor = try StoreFixture(items: 2) { shop in
      for key in shop.keys {
        for place in 0..<2 {
          shop.items[key]?[place].id += evil
          shop.items[key]?[place].title = evil
          shop.items[key]?[place].badges = [evil, "<b>"]
        }
      }
    }
    let id = PercentEncoding.escaped("A1" + evil)
    let hostile = PercentEncoding.escaped(evil)
    visitor.cookies["larder-basket"] = "\(id)*2!\(hostile)*1"
    visitor.cookies["larder-draft"] = "\(hostile)!\(hostile)!\(hostile)"
    var pages: [String: StoreFixture.Page] = [:]
    for address in [
      "/", "/sections/A", "/search?q=\(hostile)&badge=\(hostile)&low=\(hostile)&sort=\(hostile)",
      "/items/\(id)", "/items/\(id)?picture=\(hostile)&\(hostile)=\(hostile)", "/basket",
      "/sections/\(hostile)", "/orders?page=\(hostile)",
    ] { pages[address] = await visitor.get(address) }
    visitor.cookies["larder-basket"] = "\(id)*2"
    let basket = await visitor.get("/basket")
    let sent = await visitor.order(basket, by: evil, note: evil)
    #expect(sent.status == 303)
    pages["order"] = await visitor.get(sent.location)
    pages["orders"] = await visitor.get("/orders")
    pages["refused"] = await visitor.order(basket, by: evil, budget: evil)

    for (address, page) in pages {
      #expect(!page.html.contains("<script>"), "\(address)")
      #expect(!page.html.contains("<img src=x"), "\(address)")
      #expect(!page.html.contains("</style>"), "\(address)")
      #expect(!page.html.contains("<b></em>"), "\(address)")
      // Compared by bytes, because a quotation mark with an accent is another character.
      #expect(page.html.utf8.split(separator: 0x22).allSatisfy { $0.first != 0xCC }, "\(address)")
    }
    #expect(pages["/"]?.html.contains("&lt;script&gt;alert(1)") == true)
    #expect(pages["/"]?.html.contains("{{title}}") == true)
    #expect(sent.location.unicodeScalars.allSatisfy { (0x21...0x7E).contains($0.value) })
  }

  @Test func `a list of ten thousand items has small pages, and searches as list does`()
    throws
  {
    let section = RunSection(key: "a", title: "A", subtitle: nil, listing: nil, source: "network")
    let items = (0..<10_000).map { number in
      (
        item: StoreItem(
          id: "I\(number)",
          title: number == 7777 ? "불고기" : "Dish \(number)",
          salePrice: Price(minorUnits: number, currency: "KRW")
        ), section: section
      )
    }
    func chosen(_ change: (inout StorefrontQuery) -> Void) -> (
      count: Int, page: Int, first: String?
    ) {
      let found = StorefrontList.chosen(items, StorefrontQuery().with(change))
      #expect(found.some.count <= StorefrontList.pageSize)
      return (found.count, found.page, found.some.first?.item.id)
    }

    #expect(chosen { _ in } == (10_000, 1, "I0"))
    #expect(chosen { $0.page = 3 } == (10_000, 3, "I96"))
    #expect(chosen { $0.page = 1_000_000 } == (10_000, 209, "I9984"))
    #expect(chosen { $0.order = .dearest } == (10_000, 1, "I9999"))
    #expect(chosen { $0.search = "ㅂㄱㄱ" } == (1, 1, "I7777"))
    #expect(chosen { ($0.low, $0.high) = ("9,990", "") }.count == 10)
    #expect(chosen { ($0.low, $0.high) = ("9", "1") }.count == 10_000)
  }

  @Test func `a long section's page is small, and links to the next`() async throws {
    let visitor = try StoreFixture(items: 120)

    let first = await visitor.get("/sections/A")
    let last = await visitor.get("/sections/A?page=3")

    #expect(first.html.utf8.count < 90_000)
    #expect(first.html.matches(of: /<li class="card/).count == 48)
    #expect(first.html.contains("href=\"/sections/A?page=2\" rel=\"next\""))
    #expect(last.html.matches(of: /<li class="card/).count == 24)
    #expect(!last.html.contains("rel=\"next\""))
  }

  @Test func `the breadcrumb is one path, also for an item of several sections`() async throws {
    let visitor = try StoreFixture(items: 2) { shop in
      let shared = shop.items["A"]?.first
      shop.items["B"]? += shared.map { [$0] } ?? []
    }

    let page = await visitor.get("/items/A1")
    let crumbs = page.html.firstMatch(of: /<nav class="crumbs".*?<\/nav>/.dotMatchesNewlines())

    let found = crumbs.map { String($0.output) } ?? ""
    #expect(found.matches(of: /<li>/).count == 2)
    #expect(found.contains("href=\"/sections/A\"") && !found.contains("/sections/B"))
  }

  @Test func `pictures are named for the dish, and quantity buttons for their effect`()
    async throws
  {
    let visitor = try StoreFixture(items: 1)

    let page = await visitor.get("/items/A1")

    #expect(page.html.contains("alt=\"Dish A1, picture 1 of "))
    #expect(page.html.contains("data-less=\"Decrease quantity\""))
    #expect(page.html.contains("data-more=\"Increase quantity\""))
    #expect(PageAssets.storefrontScript.contains("input.dataset[by<0?'less':'more']"))
  }

  @Test func `after adding an item, the focus of a screen reader is on the message`()
    async throws
  {
    let visitor = try StoreFixture(items: 1)

    let page = await visitor.get("/items/A1?added=1")

    #expect(
      page.html.contains(
        "<p id=\"told\" tabindex=\"-1\" class=\"note good\" role=\"status\">It is"
      )
    )
    #expect(PageAssets.storefrontScript.contains("$('#told'))?.focus()"))
  }

  @Test(arguments: [
    ("long_text", "Long text"), ("shippingInfo", "Shipping info"), ("SKU", "SKU"),
    ("storage-hint", "Storage hint"), ("_internal", "Internal"), ("_", "_"), ("보관 방법", "보관 방법"),
    ("Best before", "Best before"), ("point", "Points"), ("delivery_fee", "Delivery fee"),
  ])
  func `a detail's notes are labelled in words, not by their keys`(_ key: String, _ words: String)
  {
    #expect(PageLanguage.english.note(key) == words)
  }

  @Test func `prices and order are collapsed on a phone unless one of them is chosen`()
    async throws
  {
    let visitor = try StoreFixture(items: 1)
    let fold = "<input type=\"checkbox\" class=\"fold\" id=\"fold\""

    for (query, isOpen) in [
      ("", false), ("?low=1", true), ("?high=9", true), ("?sort=price", true),
    ] {
      let page = await visitor.get("/sections/A" + query)
      #expect(page.html.contains(fold + (isOpen ? " checked>" : ">")), "\(query)")
    }
  }

  @Test func `price and buttons of an item are one bar, which stays visible on a phone`()
    async throws
  {
    let visitor = try StoreFixture(items: 1)

    let page = await visitor.get("/items/A1")

    #expect(
      page.html.contains("<div class=\"row reach\"><output for=\"quantity\">7,000원</output>")
    )
    #expect(PageAssets.storefrontStyle.contains(".buy .reach{position:fixed"))
  }

  @Test
  func `no page scrolls smoothly, because links would miss their target when pictures load later`()
  {
    for style in [PageAssets.storefrontStyle, PageAssets.reportStyle] {
      #expect(!style.contains("scroll-behavior:smooth"))
    }
  }

  @Test func `the best deal is the largest amount saved, not the largest share`() async throws {
    let visitor = try StoreFixture(items: 3) { shop in
      for (place, prices) in [("1,000원", "500원"), ("40,000원", "32,000원"), ("9,000원", "1,000원")]
        .enumerated()
      {
        shop.items["A"]?[place].normalPrice = prices.0
        shop.items["A"]?[place].price = prices.1
      }
    }

    let page = await visitor.get("/")

    #expect(page.html.contains("<h2 id=\"deal\""))
    let title = page.html.firstMatch(of: /<h2 id="deal"[^>]*><a href="([^"]*)"/)
    #expect(title.map { String($0.1) } == "/items/A2")
  }

  @Test func `the filter of a badge shows how many items it would leave, within the price range`()
    async throws
  {
    let visitor = try StoreFixture(items: 3) { $0.items["A"]?[0].price = "1,000원" }

    let page = await visitor.get("/sections/A?low=5000")

    #expect(page.html.contains("2 items"))
    #expect(page.html.contains("<span class=\"n\">2</span>"))
  }

  @Test func `a missing picture keeps its space and says so`() async throws {
    let visitor = try StoreFixture(items: 1) { shop in
      shop.items["A"]?[0].thumbnail = "/nothing.jpg"
      shop.items["A"]?[0].gallery = []
    }

    let page = await visitor.get("/sections/A")

    #expect(page.html.contains("<span class=\"none\""))
    #expect(!page.html.contains("nothing.jpg"))
  }

  @Test func `without a catalog the store says that it is not open`() async throws {
    let visitor = try StoreFixture(items: 1)
    try FileManager.default.removeItem(atPath: visitor.folder.path("cache"))

    let page = await visitor.get("/")

    #expect(page.status == 503 && page.html.contains("not open yet"))
  }

  @Test func `a language in the URL is shown at once, and kept`() async throws {
    let visitor = try StoreFixture(items: 1)
    #expect(
      await visitor.get("/", languages: "ko-KR,ko;q=0.9").html.contains("<html lang=\"ko\">")
    )

    for address in ["/items/A1", "/search?q=%EA%B5%AD", "/orders", "/items/none"] {
      let page = await visitor.get(address + (address.contains("?") ? "&lang=ko" : "?lang=ko"))
      #expect(page.html.contains("<html lang=\"ko\">"), "\(address)")
      #expect(
        page.html.contains(
          "href=\"\(address.contains("?") ? address + "&amp;" : address + "?")lang=en\""
        )
      )
    }
    #expect(await visitor.get("/", languages: "en").html.contains("<html lang=\"ko\">"))
    #expect(await visitor.get("/?lang=x", languages: "en").html.contains("<html lang=\"ko\">"))
    #expect(await visitor.get("/?lang=en").html.contains("<html lang=\"en\">"))
  }

  @Test(arguments: [
    (String?.none, PageLanguage.english), ("ko", .korean), ("en-US,en;q=0.9,ko;q=0.8", .english),
    ("fr-FR, ko;q=0.3, en;q=0.2", .korean), ("ko;q=0, en", .english), ("*", .english),
    ("KO-kr", .korean), ("ko;q=x", .english), (";;,,q=", .english),
  ])
  func `the browser's preferred language is used`(
    _ header: String?,
    _ language: PageLanguage
  ) {
    #expect(PageLanguage(preferred: header) == language)
  }

  @Test func `a basket reads back from its cookie, and is limited to a cookie's size`() {
    var basket = StorefrontBasket()
    func add(_ id: String, _ count: Int) -> Bool { basket.add(id, count) }
    #expect(add("a*b!c~;d=é", 2))
    #expect(add("B", 999))
    #expect(add("B", 5))
    for (id, count) in [("C", 0), ("C", 1000), ("", 1)] { #expect(!add(id, count)) }
    #expect(StorefrontBasket(cookie: basket.cookie) == basket)
    #expect(basket.lines.map(\.quantity) == [2, 999])
    #expect(basket.cookie.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3B && $0 != 0x2C })
    #expect(!add(String(repeating: "한", count: 400), 1))
    for number in 0..<30 { _ = add("I\(number)", 1) }
    #expect(basket.lines.count == StorefrontBasket.mostLines)
    #expect(StorefrontBasket(cookie: "x!y*z!%zz*1!A*1*2!!*").lines.isEmpty)
  }

  @Test func `sums that overflow are nil, and nothing traps`() {
    let dear = StoreItem(
      id: "A",
      title: "A",
      normalPrice: Price(minorUnits: .max, currency: "KRW"),
      salePrice: Price(minorUnits: .max - 1, currency: "KRW")
    )
    let basket = StorefrontBasket(cookie: "A*2")
    let shown = ShownItem(item: dear, sections: ["a"], isStale: false, pictures: [])

    let bill = BasketBill(basket, ["A": shown], currency: "KRW")

    #expect(bill.total == nil && bill.lines.first?.sum == nil)
    #expect(dear.percentOff == nil)
  }

  @Test(arguments: [
    (12_000, 5_900, 50), (10_000, 9_999, nil), (10_000, 10_000, nil), (9_000, 10_000, nil),
    (10_000, 0, 100), (12_000, 10_800, 10), (39_000, 31_200, 20), (.max, 0, 100), (100, 99, 1),
  ])
  func `a saving is shown in whole percent, rounded down`(_ normal: Int, _ sale: Int, _ off: Int?)
  {
    let item = StoreItem(
      id: "A",
      title: "A",
      normalPrice: Price(minorUnits: normal, currency: "KRW"),
      salePrice: Price(minorUnits: sale, currency: "KRW")
    )

    #expect(item.percentOff == off)
  }
}
