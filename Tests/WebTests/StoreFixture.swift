import Base
import Catalog
import Foundation
import NIOHTTP1
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
  let clock = TestClock()

  /// A shop of two sections with `items` items each, changed by the closure and then synced.
  init(items: Int = 3, budget: Price? = nil, _ change: (SampleShop) -> Void = { _ in }) throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 2, items: items)
    change(shop)
    try shop.publish()
    _ = try shop.sync(folder)
    orders = folder.path("orders.sqlite")
    store = try Self.store(folder, orders, budget: budget, clock)
  }

  private static func store(
    _ folder: TemporaryFolder,
    _ orders: String?,
    budget: Price? = nil,
    _ clock: TestClock
  ) throws -> Storefront {
    let cache = folder.path("cache")
    var content = ServerContent(
      cache: cache,
      catalog: try OpenCatalog(cache: cache, catalog: nil),
      clock: { clock.now }
    )
    content.squares = [128, 256, 512]
    (content.orders, content.budget) = (orders, budget)
    return Storefront(content)
  }

  /// The orders placed so far.
  var placed: [Order] {
    get throws { try Outbox.existing(orders)?.orders() ?? [] }
  }

  /// Restarts the store, as a restarted server would; it may take no orders from then on.
  func restart(takesOrders: Bool = true) throws {
    store = try Self.store(folder, takesOrders ? orders : nil, clock)
  }

  /// A request as a browser sends it.
  struct Sent {
    var method = ServerRequest.Method.get
    /// The path and the query.
    var address: String
    var form: [(name: String, value: String)] = []
    var cookies: [String: String] = [:]
    var languages: String?
    var origin: String?
    var host: String?
    var fetchSite: String?

    fileprivate var request: ServerRequest? {
      guard let target = RequestTarget(String(address.prefix { $0 != "#" })) else { return nil }
      var headers = HTTPHeaders()
      func add(_ name: String, _ value: String?) {
        if let value { headers.add(name: name, value: value) }
      }
      if !cookies.isEmpty {
        add("Cookie", cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; "))
      }
      add("Accept-Language", languages)
      add("Origin", origin)
      add("Host", host)
      add("Sec-Fetch-Site", fetchSite)
      if method == .post { add("Content-Type", "application/x-www-form-urlencoded") }
      let body = Array(PercentEncoding.query(form).utf8)
      return ServerRequest(method: method, target: target, headers: headers, body: body)
    }
  }

  /// Requests a page by its path.
  func get(_ address: String, languages: String? = nil) async -> Page {
    await ask(Sent(address: address, languages: languages))
  }

  /// Submits a form.
  func post(
    _ path: String,
    _ form: KeyValuePairs<String, String>,
    _ change: (inout Sent) -> Void = { _ in }
  ) async -> Page {
    var sent = Sent(method: .post, address: path)
    sent.form = form.map { (name: $0.key, value: $0.value) }
    (sent.origin, sent.host, sent.fetchSite) = (
      "http://127.0.0.1:8080", "127.0.0.1:8080", "same-origin"
    )
    change(&sent)
    return await ask(sent)
  }

  private func ask(_ sent: Sent) async -> Page {
    var sent = sent
    sent.cookies = cookies
    let page = await Self.answer(sent, by: store)
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

  /// The answer of a store to a request, without changing the visitor's cookies.
  static func answer(_ sent: Sent, by store: Storefront) async -> Page {
    guard let request = sent.request else { return Page(.problem(400, "")) }
    switch store.outcome(of: request) {
    case .now(let answer, _): return Page(answer)
    case .later(_, let work):
      return Page(
        await withCheckedContinuation { waiting in work { waiting.resume(returning: $0) } }
      )
    }
  }

  /// An answer with its status, headers and HTML.
  struct Page {
    let status: Int
    let html: String
    private let headers: [(name: String, value: String)]

    init(_ answer: Answer) {
      status = answer.status
      headers = answer.head.headers.map { (name: $0.name, value: $0.value) }
      if case .bytes(let bytes) = answer.body { html = String(buffer: bytes) } else { html = "" }
    }

    /// Whether this is a page of the store, and not the answer of a server without one.
    var isPage: Bool { all("content-type") == ["text/html; charset=utf-8"] }

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
      _ = await post("/basket", ["item": id, "quantity": "\(count)", "do": "add"])
    }
    return await get("/basket")
  }

  /// Submits the order form of a page.
  func order(
    _ page: Page,
    by name: String = "Jiyeon",
    budget: String = "",
    note: String = "",
    _ change: (inout Sent) -> Void = { _ in }
  ) async -> Page {
    let form: KeyValuePairs = [
      "key": page.field("key"), "total": page.field("total"),
      "by": name, "note": note, "budget": budget, "do": "order",
    ]
    return await post("/orders", form) { request in
      request.form += page.lines
      change(&request)
    }
  }
}
