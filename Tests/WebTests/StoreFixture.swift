import Catalog
import Foundation
import Orders
import Support
import Testing

@testable import Web

/// A store over a synced sample shop, with a visitor who keeps cookies.
final class StoreFixture {
  let folder: TemporaryFolder
  let shop: SampleShop
  let orders: String
  private(set) var store: Storefront
  var cookies: [String: String] = [:]
  var now = Date(timeIntervalSince1970: 1_700_000_000)

  /// A shop of two sections with `items` items each, changed by the closure and then synced.
  init(items: Int = 3, budget: Price? = nil, _ change: (SampleShop) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: items)
    change(shop)
    try shop.publish()
    _ = try shop.sync(folder)
    orders = folder.path("orders.sqlite")
    store = Storefront(cache: folder.path("cache"), catalog: nil, orders: orders, budget: budget)
  }

  /// The orders placed so far.
  var placed: [Order] {
    get throws { Outbox.exists(at: orders) ? try Outbox(orders).orders() : [] }
  }

  /// Restarts the store, as a restarted server would.
  func restart() {
    store = Storefront(cache: folder.path("cache"), catalog: nil, orders: orders)
  }

  /// Requests a page by its path.
  func get(_ address: String, languages: String? = nil) async -> Page {
    let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
    var request = StorefrontExchange(.get, parts[0], at: now)
    request.query = Self.pairs(parts.count > 1 ? String(parts[1].prefix { $0 != "#" }) : "")
    request.languages = languages
    return await ask(request)
  }

  /// Submits a form.
  func post(
    _ path: String,
    _ form: KeyValuePairs<String, String>,
    _ change: (inout StorefrontExchange) -> Void = { _ in }
  ) async -> Page {
    var request = StorefrontExchange(.post, path, at: now)
    request.form = form.map { (name: $0.key, value: $0.value) }
    (request.origin, request.host, request.fetchSite) = (
      "http://127.0.0.1:8080", "127.0.0.1:8080", "same-origin"
    )
    change(&request)
    return await ask(request)
  }

  private func ask(_ request: StorefrontExchange) async -> Page {
    var request = request
    request.cookies = cookies
    let page = Page(await store.answer(request))
    for value in page.all("set-cookie") {
      let pair = value.prefix { $0 != ";" }.split(
        separator: "=",
        maxSplits: 1,
        omittingEmptySubsequences: false
      )
      let isGone = value.contains("Max-Age=0")
      cookies[String(pair[0])] = isGone ? nil : String(pair[1])
    }
    return page
  }

  private static func pairs(_ query: String) -> [(name: String, value: String)] {
    query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        String($0).removingPercentEncoding ?? ""
      }
      return (parts[0], parts.count > 1 ? parts[1] : "")
    }
  }

  /// An answer with its status, headers and HTML.
  struct Page {
    let status: Int
    let html: String
    private let headers: [(name: String, value: String)]

    init(_ answer: StorefrontAnswer?) {
      status = answer?.status ?? 0
      headers = answer?.headers ?? []
      html = String(decoding: answer?.body ?? [], as: UTF8.self)
    }

    func all(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    var location: String { all("location").first ?? "" }

    /// The items of the order form with prices and quantities, as form fields.
    var lines: [(name: String, value: String)] {
      let input = #/<input[^>]*name="(item|price|quantity)"[^>]*value="([^"]*)"/#
        .matchingSemantics(.unicodeScalar)
      return html.matches(of: input).map {
        (String($0.output.1), Self.unescaped(String($0.output.2)))
      }
    }

    /// Decodes character references by code units, because an accent may follow one.
    private static func unescaped(_ text: String) -> String {
      let references = [
        ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&"),
      ]
      return references.reduce(text) { text, reference in
        text.replacingOccurrences(of: reference.0, with: reference.1, options: .literal)
      }
    }

    /// The value of a hidden field.
    func field(_ name: String) -> String {
      guard let start = html.firstRange(of: "name=\"\(name)\" value=\"") else { return "" }
      return String(html[start.upperBound...].prefix { $0 != "\"" })
    }
  }

  /// Adds items to the basket, and returns the page with the order form.
  func fill(_ items: KeyValuePairs<String, Int>) async -> Page {
    for (id, count) in items {
      let token = await get("/items/\(id)").field("token")
      _ = await post("/basket", ["token": token, "item": id, "quantity": "\(count)", "do": "add"])
    }
    return await get("/basket")
  }

  /// Submits the order form of a page.
  func order(
    _ page: Page,
    by name: String = "Jiyeon",
    budget: String = "",
    note: String = "",
    _ change: (inout StorefrontExchange) -> Void = { _ in }
  ) async -> Page {
    let form: KeyValuePairs = [
      "token": page.field("token"), "key": page.field("key"), "total": page.field("total"),
      "by": name, "note": note, "budget": budget, "do": "order",
    ]
    return await post("/orders", form) { request in
      request.form += page.lines
      change(&request)
    }
  }
}
