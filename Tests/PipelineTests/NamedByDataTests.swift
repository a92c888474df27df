import Cache
import Catalog
import SampleStore
import Support
import Testing

@testable import Pipeline

/// URLs in a body reach no private address and receive no secret of the catalog.
struct NamedByDataTests {
  private let folder: TemporaryFolder
  private let shop: SampleShop

  init() throws {
    folder = try TemporaryFolder()
    shop = try SampleShop(sections: 1, items: 1)
  }

  private static let empty = ScriptedServer.Action.send(
    "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{\"body\": []}"
  )

  private func page(_ ids: [String], next: String? = nil) throws -> String {
    var object: [String: Any] = ["body": ids.map { ["id": $0, "title": $0] }]
    object["next"] = next
    return try SampleShop.json(object)
  }

  private func pagedCatalog(base: String? = nil, url: String = "A") throws -> CatalogFile {
    let text = """
      name: shop
      currency: KRW
      base: \(base ?? shop.base)
      sections: [{key: A, url: "\(url)"}]
      paging: {next: $.next}
      headers: {token: "${STORE_TOKEN}"}
      """
    return try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")
  }

  private let secrets = ["STORE_TOKEN": "s3cret"]

  @Test(arguments: [
    "http://127.0.0.1:PORT/page", "http://127.0.0.2:PORT/page", "http://[::1]:PORT/page",
    "http://[::ffff:127.0.0.1]:PORT/page", "http://0x7f.2:PORT/page", "http://2130706433:PORT/",
    "http://LOCALHOST:PORT/page", "//127.0.0.2:PORT/page",
    "http://127.0.0.1:SHOP@127.0.0.2:PORT/page", "http://0.0.0.0:PORT/page",
    "http://[::]:PORT/page", "http://0177.0.0.2:PORT/page", "http://127。0。0。2:PORT/page",
  ])
  func `a next page on a private host is refused, and the host never contacted`(
    next: String
  ) throws {
    let first = ScriptedServer(Self.empty)
    let others = [
      first,
      try ScriptedServer(on: "127.0.0.2", port: first.port) { _ in [Self.empty] },
      try ScriptedServer(on: "::1", port: first.port) { _ in [Self.empty] },
    ]
    defer { for other in others { other.close() } }
    let text = next.replacing("PORT", with: "\(first.port)")
      .replacing("SHOP", with: "\(shop.store.port)")
    shop.put(try page(["1"], next: text), at: "/shop/A")

    let report = try shop.sync(folder, try pagedCatalog(), environment: secrets)

    #expect(report.failures.map(\.reason) == ["address-refused"])
    #expect(others.map(\.connections) == [0, 0, 0])
  }

  @Test func `a next page on another origin gets neither headers nor user information`() throws {
    let other = ScriptedServer(Self.empty)
    defer { other.close() }
    let named = "http://clerk:pa55@127.0.0.1:\(shop.store.port)/shop/"
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true
    for next in ["\(other.url())page", "//127.0.0.1:\(other.port)/page"] {
      shop.put(try page(["1"], next: next), at: "/shop/A")

      _ = try shop.sync(
        folder,
        try pagedCatalog(base: named),
        transport: options,
        environment: secrets
      )
    }

    #expect(other.received.count == 2)
    #expect(other.received.allSatisfy { $0.header("token") == nil })
    #expect(other.received.allSatisfy { $0.header("Authorization") == nil })
    let lists = shop.store.requests.filter { $0.path == "/shop/A" }
    #expect(lists.allSatisfy { $0.headers["token"] == "s3cret" })
    #expect(lists.allSatisfy { $0.headers["Authorization"] == "Basic Y2xlcms6cGE1NQ==" })
  }

  @Test(arguments: ["B", "/shop/B", "http://127.0.0.1:PORT/shop/B", "//127.0.0.1:PORT/shop/B"])
  func
    `a next page on the base's origin gets headers and user information, however its URL is written`(
      next: String
    ) throws
  {
    let named = "http://clerk:pa55@127.0.0.1:\(shop.store.port)/shop/"
    let text = next.replacing("PORT", with: "\(shop.store.port)")
    shop.put(try page(["1"], next: text), at: "/shop/A")
    shop.put(try page(["2"]), at: "/shop/B")

    let report = try shop.sync(folder, try pagedCatalog(base: named), environment: secrets)

    #expect(report.outcome == .complete)
    #expect(shop.store.requests.map(\.path) == ["/shop/A", "/shop/B"])
    for request in shop.store.requests {
      #expect(request.headers["token"] == "s3cret")
      #expect(request.headers["Authorization"] == "Basic Y2xlcms6cGE1NQ==")
    }
  }

  @Test func `user information is sent in every later run as in the first`() throws {
    let named = "http://clerk:pa55@127.0.0.1:\(shop.store.port)/shop/"
    let text = """
      name: shop
      currency: KRW
      base: \(named)
      sections: [{key: A, url: A}]
      detail: {url: "detail/{id}"}
      """
    let catalog = try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")

    for _ in 1...2 {
      shop.store.clearRequests()
      shop.clock.advance(400 * 86_400)

      _ = try shop.sync(folder, catalog)

      #expect(!shop.store.requests.isEmpty)
      for request in shop.store.requests {
        #expect(
          request.headers["Authorization"] == "Basic Y2xlcms6cGE1NQ==",
          "\(request.path)"
        )
      }
    }
  }

  @Test func `a redirect within the origin keeps user information, and one to another loses it`()
    throws
  {
    let other = ScriptedServer(Self.empty)
    defer { other.close() }
    let named = "http://clerk:pa55@127.0.0.1:\(shop.store.port)/shop/"
    var options = shop.transportOptions()
    options.allowPrivateAddresses = true
    shop.put(try page([]), at: "/shop/B")
    shop.store.faults = [FaultRule("/shop/A", .status(302), .header("Location", "\(shop.base)B"))]
    _ = try shop.sync(
      folder,
      try pagedCatalog(base: named),
      transport: options,
      environment: secrets
    )
    shop.store.faults = [FaultRule("/shop/A", .status(302), .header("Location", other.url("/b")))]
    _ = try shop.sync(
      folder,
      try pagedCatalog(base: named),
      transport: options,
      environment: secrets
    )

    let within = shop.store.requests.filter { $0.path == "/shop/B" }
    #expect(within.map { $0.headers["Authorization"] } == ["Basic Y2xlcms6cGE1NQ=="])
    #expect(within.map { $0.headers["token"] } == ["s3cret"])
    #expect(other.received.count == 1)
    #expect(other.received.allSatisfy { $0.header("Authorization") == nil })
    #expect(other.received.allSatisfy { $0.header("token") == nil })
  }

  @Test func `a detail on an origin that is neither the base's nor a section's gets no headers`()
    throws
  {
    let other = ScriptedServer(
      .send("HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n{\"hash\":\"A1\", \"data\":{} }")
    )
    defer { other.close() }
    let text = """
      name: shop
      currency: KRW
      base: \(shop.base)
      sections: [{key: A, url: A}]
      detail: {url: "\(other.url())detail/{id}"}
      headers: {token: "${STORE_TOKEN}"}
      """
    let catalog = try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")

    _ = try shop.sync(folder, catalog, environment: secrets)

    // The file names the host, so it may be private, but the headers are only for base and
    // sections.
    #expect(other.received.map(\.path) == ["/detail/A1"])
    #expect(other.received.map { $0.header("token") } == [nil])
  }

  @Test func `an id is one segment of a detail's path, whatever it contains`() throws {
    let ids = [
      "../../x", "//evil.example/", "?a=b", "@evil.example", "%2e%2e", "http://evil.example/x",
      "\\evil", "a/b", "#x", "é", "a;b", "..a", "x:y", "%00", "a b", "file:/etc/passwd", "{id}",
    ]
    shop.put(try page(ids), at: "/shop/A")
    let catalog = try shop.catalog(detail: true)

    let report = try shop.sync(folder, catalog)

    let asked = Set(shop.store.requests.map(\.path).filter { $0 != "/shop/A" })
    #expect(
      asked == [
        "/shop/detail/..%2F..%2Fx", "/shop/detail/%2F%2Fevil.example%2F",
        "/shop/detail/%3Fa%3Db", "/shop/detail/%40evil.example", "/shop/detail/%252e%252e",
        "/shop/detail/http%3A%2F%2Fevil.example%2Fx", "/shop/detail/%5Cevil",
        "/shop/detail/a%2Fb", "/shop/detail/%23x", "/shop/detail/%C3%A9", "/shop/detail/a%3Bb",
        "/shop/detail/..a", "/shop/detail/x%3Ay", "/shop/detail/%2500", "/shop/detail/a%20b",
        "/shop/detail/file%3A%2Fetc%2Fpasswd", "/shop/detail/%7Bid%7D",
      ]
    )
    #expect(report.details.missing == ids.count)
  }

  @Test func `an id of dots alone, which servers take for a folder, is not requested`()
    throws
  {
    shop.put(try page([".", "..", "..."]), at: "/shop/A")

    let report = try shop.sync(folder, try shop.catalog(detail: true))

    #expect(Set(shop.store.requests.map(\.path)) == ["/shop/A", "/shop/detail/..."])
    #expect(report.failures.map(\.reason) == ["url-invalid", "url-invalid"])
    #expect(Set(report.failures.map(\.id)) == [".", ".."])
  }

  @Test func `a host that comes from an item's id does not count as named by the user`() throws {
    let other = try ScriptedServer(on: "127.0.0.2") { _ in [Self.empty] }
    defer { other.close() }
    shop.put(try page(["127.0.0.2"]), at: "/shop/A")
    let text = """
      name: shop
      currency: KRW
      base: \(shop.base)
      sections: [{key: A, url: A}]
      detail: {url: "http://{id}:\(other.port)/detail"}
      headers: {token: "${STORE_TOKEN}"}
      """
    let catalog = try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")
    let named = try CatalogAddresses(catalog, folder: "", base: nil, FakeTransport()).namedHosts()
    var options = shop.transportOptions()
    options.namedHosts = named

    let report = try shop.sync(folder, catalog, transport: options, environment: secrets)

    #expect(report.failures.map(\.reason) == ["address-refused"])
    #expect(other.connections == 0)
  }
}
