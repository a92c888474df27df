import Catalog
import Foundation
import Orders
import Testing

@testable import Web

/// Orders through the store's forms, as a browser submits them.
@Suite struct StoreOrderTests {
  @Test func `the basket becomes one order in the outbox and is then empty`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 2, "A2": 1, "B1": 1])
    #expect(basket.html.contains("Dish A1 and 2 more"))
    #expect(basket.html.contains("28,000원"))

    let sent = await visitor.order(basket, note: "문 앞")

    #expect(sent.status == 303 && sent.location.hasSuffix("?told=placed"))
    let entry = try #require(try visitor.placed.first)
    #expect(entry.order.lines.map(\.quantity) == [2, 1, 1])
    #expect(entry.order.total == Price(minorUnits: 28_000, currency: "KRW"))
    #expect(entry.order.by == "Jiyeon" && entry.order.note == "문 앞")
    #expect(entry.delivery.state == .queued)
    let page = await visitor.get(sent.location)
    #expect(page.html.contains("the order is placed") && page.html.contains("queued"))
    #expect(page.html.contains("Cancel the order"))
    #expect(await visitor.get("/basket").html.contains("Your basket is empty"))
    #expect(await visitor.get("/orders").html.contains("Dish A1 and 2 more"))
  }

  @Test func `items whose ids are only canonically equivalent are ordered each by itself`()
    async throws
  {
    let visitor = try StoreFixture { shop in
      for (place, id) in ["\u{E9}", "e\u{301}"].enumerated() {
        shop.items["A"]?[place].id = id
        shop.items["A"]?[place].price = "\(place + 1)00원"
      }
    }

    let first = await visitor.get("/items/%C3%A9")
    let second = await visitor.get("/items/e%CC%81")
    let basket = await visitor.fill(["e\u{301}": 2, "\u{E9}": 1])
    _ = await visitor.order(basket)

    #expect(first.html.contains("Dish A1") && second.html.contains("Dish A2"))
    let lines = try #require(try visitor.placed.first).order.lines
    #expect(lines.map(\.title) == ["Dish A2", "Dish A1"])
    #expect(lines.map(\.price.minorUnits) == [200, 100] && lines.map(\.quantity) == [2, 1])
  }

  @Test
  func `a form that is sent twice makes one order, also after a restart or at the same moment`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 1])
    let first = await visitor.order(basket)
    // The browser goes back to the form and still has its basket cookie.
    visitor.cookies["larder-basket"] = "A1*1"
    let second = await visitor.order(basket)
    let other = await visitor.order(basket) { request in
      for place in request.form.indices where request.form[place].name == "quantity" {
        request.form[place].value = "3"
      }
    }

    #expect(first.location == second.location)
    #expect(other.location.hasSuffix("?told=again"))
    #expect(await visitor.get(other.location).html.contains("nothing was ordered again"))
    #expect(try visitor.placed.count == 1)

    visitor.cookies["larder-basket"] = "A2*1"
    let next = await visitor.get("/basket")
    let store = visitor.store
    var form = ["key", "total"].map { (name: $0, value: next.field($0)) }
    form += [("by", "Jiyeon")] + next.lines
    let sent = StoreFixture.Sent(
      method: .post,
      address: "/orders",
      form: form,
      cookies: visitor.cookies
    )
    async let one = StoreFixture.answer(sent, by: store)
    async let two = StoreFixture.answer(sent, by: store)
    let both = await [one, two].map(\.location)
    #expect(both[0] == both[1] && both[0].hasPrefix("/orders/ord_"))
    #expect(try visitor.placed.count == 2)
  }

  @Test func `a form without its key orders nothing, and one from before a restart is taken`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 1])

    let refused = await visitor.order(basket) { $0.form.removeAll { $0.name == "key" } }
    #expect(refused.status == 422 && refused.html.contains("has expired"))
    #expect(refused.html.contains("value=\"Jiyeon\""))
    #expect(try visitor.placed.isEmpty)

    try visitor.restart()
    #expect(await visitor.order(basket).status == 303)
    #expect(try visitor.placed.count == 1)
  }

  @Test(arguments: [
    (String?.none, "127.0.0.1:8080", String?.none, true),
    ("http://127.0.0.1:8080", "127.0.0.1:8080", "same-origin", true),
    ("https://shop.example", "shop.example", nil, true),
    ("http://evil.example", "127.0.0.1:8080", nil, false),
    ("http://127.0.0.1:8081", "127.0.0.1:8080", nil, false),
    ("null", "127.0.0.1:8080", nil, false),
    (nil, "127.0.0.1:8080", "cross-site", false),
    (nil, "127.0.0.1:8080", "same-site", false),
    (nil, "127.0.0.1:8080", "none", false),
  ])
  func `a form is accepted only from the store's own pages`(
    _ origin: String?,
    _ host: String,
    _ site: String?,
    _ isTaken: Bool
  ) async throws {
    let visitor = try StoreFixture(items: 1)
    let basket = await visitor.fill(["A1": 1])

    let sent = await visitor.order(basket) { request in
      (request.origin, request.host, request.fetchSite) = (origin, host, site)
    }

    #expect(sent.status == (isTaken ? 303 : 403))
    #expect(try visitor.placed.count == (isTaken ? 1 : 0))
  }

  @Test func `an invalid order is refused, and the form keeps its text`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 2])
    func refused(_ words: String, _ page: StoreFixture.Page) throws {
      #expect(page.status == 422)
      #expect(page.html.contains(words), "\(words)")
      #expect(page.html.contains("Nothing has been ordered yet."))
      #expect(try visitor.placed.isEmpty)
    }

    try refused("1,000원 over the budget", await visitor.order(basket, budget: "13,000"))
    try refused("budget is not an amount", await visitor.order(basket, budget: "much"))
    try refused("Enter your name", await visitor.order(basket, by: " "))
    let long = String(repeating: "a", count: 1001)
    try refused("note is too long", await visitor.order(basket, note: long))
    let many = await visitor.order(basket) { request in
      request.form += [("item", "A1"), ("quantity", "-1")]
    }
    try refused("Enter a quantity from", many)
    #expect(many.html.contains("value=\"Jiyeon\""))
    #expect(await visitor.order(basket, budget: "14000").status == 303)
  }

  @Test func `the operator's budget applies whatever the visitor enters`() async throws {
    let budget = Price(minorUnits: 10_000, currency: "KRW")
    let visitor = try StoreFixture(budget: budget)
    let basket = await visitor.fill(["A1": 2])
    #expect(basket.html.contains("at most 10,000원"))

    #expect(await visitor.order(basket, budget: "50000").status == 422)
    #expect(try visitor.placed.isEmpty)
  }

  @Test func `a price that changed since the form was shown must be confirmed`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 1])
    visitor.shop.items["A"]?[0].price = "7,500원"
    try visitor.shop.publish()
    visitor.shop.clock.advance(86_400)
    _ = try visitor.shop.sync(visitor.folder)

    let first = await visitor.order(basket)
    #expect(first.status == 422 && first.html.contains("the total is 7,500원 now"))
    #expect(try visitor.placed.isEmpty)

    #expect(await visitor.order(first).status == 303)
    #expect(try visitor.placed.first?.order.total.minorUnits == 7500)
  }

  @Test func `the form's contents are ordered, whatever another window did to the basket`()
    async throws
  {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 2])
    // The same quantity of another dish at the same price.
    visitor.cookies["larder-basket"] = "A2*2"

    let refused = await visitor.order(basket, by: "")
    #expect(refused.status == 422 && refused.lines.map(\.value) == ["A1", "7000", "2"])
    #expect(visitor.cookies["larder-basket"] == "A2*2")
    #expect(await visitor.order(basket).status == 303)

    let order = try #require(try visitor.placed.first).order
    #expect(order.lines.map(\.item) == ["A1"] && order.lines.map(\.quantity) == [2])
    #expect(visitor.cookies["larder-basket"] == "A2*2")
  }

  @Test func `an order that a webhook took is shown as sent, in both languages`() throws {
    struct Taken: PageView {
      static let template = "storefront-delivery"
      let delivery = Delivery.State.delivered
      let state = OrderState.preparing
      let isAlone = true
    }

    let english = try PageTemplates.shared(.english).html(Taken())
    let korean = try PageTemplates.shared(.korean).html(Taken())

    #expect(english == "<span class=\"is good\">sent</span> It was sent to the shop.")
    #expect(korean == "<span class=\"is good\">전송 완료</span> 상점에 보냈습니다.")
  }

  @Test(arguments: [
    ("item", "A9", "Remove the items that cannot be ordered"),
    ("price", "6900", "A price or a quantity has changed"),
    ("quantity", "3", "A price or a quantity has changed"),
    ("total", "", "A price or a quantity has changed"),
  ])
  func `a form whose contents are out of date orders nothing, and is shown again`(
    name: String,
    value: String,
    words: String
  ) async throws {
    let visitor = try StoreFixture()
    let basket = await visitor.fill(["A1": 2])

    let refused = await visitor.order(basket) { request in
      for place in request.form.indices where request.form[place].name == name {
        request.form[place].value = value
      }
    }

    #expect(refused.status == 422 && refused.html.contains(words))
    #expect(try visitor.placed.isEmpty)
    if name == "item" {
      #expect(refused.html.contains("No longer in the catalog"))
    } else {
      #expect(await visitor.order(refused).status == 303)
    }
  }

  @Test func `a sold-out or removed item cannot be added or ordered`() async throws {
    let visitor = try StoreFixture { $0.items["A"]?[0].badges = ["품절"] }
    let page = await visitor.get("/items/A1")
    #expect(page.html.contains("Sold out") && !page.html.contains("class=\"buy\""))
    for id in ["A1", "A9"] {
      let sent = await visitor.post("/basket", ["item": id, "do": "add"])
      #expect(sent.location == "/items/\(id)?added=0#buy")
    }
    #expect(visitor.cookies["larder-basket"] == nil)

    visitor.cookies["larder-basket"] = "A1*1!A9*1!A2*1"
    let basket = await visitor.get("/basket")
    #expect(basket.html.contains("No longer in the catalog"))
    let sent = await visitor.order(basket)
    #expect(sent.status == 422 && sent.html.contains("Remove the items that cannot be ordered"))
    let form: KeyValuePairs = ["remove": "A9", "by": "민"]
    _ = await visitor.post("/basket", form)
    #expect(visitor.cookies["larder-basket"] == "A1*1!A2*1")
    #expect(await visitor.get("/basket").html.contains("value=\"민\""))
  }

  @Test func `an order can be cancelled only before somebody works on it`() async throws {
    let visitor = try StoreFixture()
    _ = await visitor.order(await visitor.fill(["A1": 1]))
    _ = await visitor.order(await visitor.fill(["A2": 1]))
    let ids = try visitor.placed.map(\.order.id.rawValue)
    _ = try Outbox(visitor.orders).move(ids[1], to: nil, posting: false, at: OrderTime(seconds: 1))

    let foreign = await visitor.post("/orders/\(ids[0])/cancel", [:]) {
      $0.fetchSite = "cross-site"
    }
    #expect(foreign.status == 403)
    #expect(try visitor.placed[0].state == .ordered)
    for id in ids {
      let answer = await visitor.post("/orders/\(id)/cancel", [:])
      #expect(answer.location == "/orders/\(id)" + (id == ids[1] ? "?told=late" : ""))
    }

    #expect(try visitor.placed.map(\.state) == [.cancelled, .preparing])
    #expect(!(await visitor.get("/orders/\(ids[1])").html.contains("Cancel the order")))
    #expect(await visitor.get("/orders/\(ids[1])?told=late").html.contains("too late to cancel"))
    #expect(await visitor.get("/orders/\(ids[0])").html.contains("Cancelled"))
  }

  @Test func `a store without orders shows everything and accepts none`() async throws {
    let visitor = try StoreFixture(items: 1)
    try visitor.restart(takesOrders: false)

    let item = await visitor.get("/items/A1")
    let orders = await visitor.get("/orders")

    #expect(item.status == 200 && !item.html.contains("class=\"buy\""))
    #expect(orders.status == 404)
  }
}
