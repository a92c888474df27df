import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// `larder serve`, tested over a socket.
@Suite struct ServeTests {
  private func path(_ shop: Shop, _ id: String = "A1") throws -> String {
    let item = try Document(try shop.larder("show", id, "--json"))
    return try #require(item["thumbnail"]["path"].string)
  }

  @Test func `the interface answers as list and show do, with pictures on this server`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)

    let sections = try server.get("/api/sections")
    let main = try server.get("/api/sections/main")
    let item = try server.get("/api/items/A1")
    let found = try server.get("/api/search?q=S1")

    #expect(sections.status == 200 && main.status == 200 && found.status == 200)
    #expect(sections["Content-Type"] == "application/json")
    let list = try shop.larder("list", "main", "--json").output
    let show = try shop.larder("show", "A1", "--json").output
    #expect(try Self.withoutPlaces(main.json) == Self.withoutPlaces(Self.json(list)))
    #expect(try Self.withoutPlaces(item.json) == Self.withoutPlaces(Self.json(show)))
    let image = try #require((item.json as? [String: Any])?["thumbnail"] as? [String: Any])
    let held = try path(shop)
    #expect(image["url"] as? String == "/" + held)
    #expect((image["source"] as? String)?.hasSuffix("/pictures/A1.jpg") == true)
    #expect((found.json as? [[String: Any]])?.compactMap { $0["id"] as? String } == ["S1"])
    #expect(try server.get("/api/items/A9").status == 404)
    #expect(try server.get("/api/sections/none").status == 404)
  }

  @Test func `items whose ids are only canonically equivalent can be asked for and ordered`()
    throws
  {
    let shop = try Shop()
    let ids = ["\u{E9}", "e\u{301}"]
    shop.list(ids.map { Shop.item($0, price: "\($0.utf8.count)00원") }, in: "main")
    _ = try shop.sync()
    let server = try Served(shop)

    let prices = try ["%C3%A9", "e%CC%81", "%C3%A9"].map { id in
      let item = try server.get("/api/items/\(id)").json as? [String: Any]
      return (item?["salePrice"] as? [String: Any])?["minorUnits"] as? Int
    }
    let order = try shop.larder(
      "order",
      "place",
      ids[1],
      "--item",
      "\(ids[0])=2",
      "--by",
      "Jiyeon",
      "--json",
      environment: ["LARDER_ORDERS": shop.folder.path("orders.sqlite")]
    )

    #expect(prices == [200, 300, 200])
    #expect(try Document(order)["total"]["minorUnits"].int == 700)
  }

  @Test
  func `every answer of the interface has exactly the keys of its description`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    _ = try shop.sync()
    let server = try Served(shop, "--offline")
    let description = try #require(try server.get("/openapi.json").json as? [String: Any])
    let paths = try #require(description["paths"] as? [String: [String: Any]])
    let schema = OpenAPISchema(description)

    #expect(description["openapi"] as? String == "3.1.0")
    let examples = [
      "/api/sections": ["/api/sections"],
      "/api/sections/{key}": [
        "/api/sections/main", "/api/sections/soup?limit=1", "/api/sections/x",
      ],
      "/api/items/{id}": ["/api/items/A1", "/api/items/S1", "/api/items/x"],
      "/api/search": [
        "/api/search?q=A&sort=price", "/api/search?q=A&limit=1", "/api/search?price=9..1",
        "/api/search", "/api/search?limit=1",
      ],
      "/images/{folder}/{file}": ["/images/00/x-000000000000.jpg", "/\(try path(shop))"],
      "/healthz": ["/healthz"], "/metrics": ["/metrics"],
    ]
    #expect(Set(paths.keys) == Set(examples.keys))
    for (path, requests) in examples {
      for request in requests {
        let reply = try server.get(request)
        let operation = try #require(paths[path]?["get"] as? [String: Any])
        #expect(schema.findings(reply, of: operation) == [], "\(request)")
      }
    }
  }

  @Test func `a picture has an ETag, a date, its type and ranges, and is not sent twice`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)
    let path = "/\(try path(shop))"
    let whole = try server.get(path)
    let tag = try #require(whole["ETag"])
    let date = try #require(whole["Last-Modified"])

    #expect(whole.status == 200 && whole.body == Shop.bytes("A1"))
    #expect(whole["Content-Type"] == "image/jpeg")
    #expect(whole["X-Content-Type-Options"] == "nosniff" && whole["Cache-Control"] != nil)
    let head = try server.send("HEAD", path)
    #expect(
      head.status == 200 && head.body == [] && head["Content-Length"] == "\(whole.body.count)"
    )
    for field in [
      "If-None-Match: \(tag)", "If-Modified-Since: \(date)", "If-None-Match: W/\(tag)",
    ] {
      let reply = try server.get(path, field)
      #expect(reply.status == 304 && reply.body == [], "\(field)")
    }
    #expect(try server.get(path, "If-None-Match: \"other\"").status == 200)
    #expect(try server.get(path, "If-Match: \"other\"").status == 412)
    let part = try server.get(path, "Range: bytes=2-3")
    #expect(part.status == 206 && part.body == Array(whole.body[2...3]))
    #expect(part["Content-Range"] == "bytes 2-3/\(whole.body.count)")
    #expect(try server.get(path, "Range: bytes=-2").body == Array(whole.body.suffix(2)))
    #expect(try server.get(path, "Range: bytes=0-1,4-5").status == 200)
    #expect(try server.get(path, "Range: bytes=9999-").status == 416)
    #expect(try server.get(path, "Range: bytes=2-3", "If-Range: \"other\"").status == 200)
    #expect(try server.get(path, "Range: bytes=2-3", "If-Range: \(tag)").status == 206)
  }

  @Test func `a picture that the cache lacks is fetched once and stored, however many request it`()
    throws
  {
    let shop = try Shop(
      faults: "path=/pictures/A1.jpg hits=1 status=503\npath=/pictures/* delay=0.2"
    )
    _ = try shop.sync()
    #expect(try shop.larder("list", "--json").output.contains("failed"))
    shop.store.clearRequests()
    let server = try Served(shop)
    let image = try #require(
      ((try server.get("/api/items/A1").json as? [String: Any])?["thumbnail"] as? [String: Any])
    )
    let url = try #require(image["url"] as? String)

    let connections = try (0..<20).map { _ in
      let connection = try server.connect()
      let request = "GET \(url) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      _ = Array(request.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
      return connection
    }
    let replies = connections.map { connection in
      defer { close(connection) }
      return Served.reply(Served.rest(of: connection))
    }

    #expect(Set(replies.map(\.status)) == [200])
    #expect(replies.allSatisfy { $0.body == Shop.bytes("A1") })
    #expect(shop.store.requestCounts["/pictures/A1.jpg"] == 1)
    #expect(try path(shop) == String(url.dropFirst()))
    #expect(try shop.larder("verify").status == 0)
    #expect(try server.get(url)["ETag"] != nil)
    #expect(shop.store.requestCounts["/pictures/A1.jpg"] == 1)
  }

  @Test(arguments: [nil, 0, 3])
  func `a picture whose file is missing or cut is fetched as if it were new`(_ length: Int?) throws
  {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)
    let url = try "/" + path(shop)
    #expect(try server.get(url).body == Shop.bytes("A1"))
    shop.store.clearRequests()

    let file = shop.cache + url
    #expect((length.map { truncate(file, $0) } ?? unlink(file)) == 0)

    #expect(try server.get(url).body == Shop.bytes("A1"))
    #expect(shop.store.requestCounts["/pictures/A1.jpg"] == 1)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a picture that is not listed, missing at its origin or invalid is not served`()
    throws
  {
    let faults = """
      path=/pictures/S1.jpg status=404
      path=/pictures/A1.jpg body="<html>"
      """
    let shop = try Shop(faults: "path=/pictures/* status=503")
    _ = try shop.sync()
    shop.store.faults = try FaultScript(text: faults)
    shop.store.clearRequests()
    let server = try Served(shop)
    func url(_ id: String) throws -> String {
      let item = try server.get("/api/items/\(id)").json as? [String: Any]
      return try #require((item?["thumbnail"] as? [String: Any])?["url"] as? String)
    }

    #expect(try server.get("/images/00/x-000000000000.jpg").status == 404)
    #expect(shop.store.requests.isEmpty)
    #expect(try server.get(url("S1")).status == 404)
    #expect(try server.get(url("S1")).status == 404)
    #expect(shop.store.requestCounts["/pictures/S1.jpg"] == 1)
    #expect(try [404, 502].contains(server.get(url("A1")).status))
    #expect(try server.get(url("A2")).status == 200)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `without the catalog file no private address is contacted`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=503")
    _ = try shop.sync()
    shop.store.faults = []
    shop.store.clearRequests()
    let server = try Served(shop, file: false)
    let item = try server.get("/api/items/A1").json as? [String: Any]
    let url = try #require((item?["thumbnail"] as? [String: Any])?["url"] as? String)

    let reply = try server.get(url)

    #expect(reply.status == 502 && reply.text.contains("address-refused"))
    #expect(shop.store.requests.isEmpty)
  }

  @Test
  func
    `a run beside the server changes the answers at once, and pictures are served during the run`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=503")
    _ = try shop.sync()
    let server = try Served(shop)
    #expect(try server.get("/api/items/S1").text.contains("7000"))
    shop.list([Shop.item("S1", price: "6,500원")], in: "soup")
    shop.store.faults = try FaultScript(text: "path=/develop/detail/A2* delay=3")
    let sync = try shop.startSync(requests: 11)
    let item = try server.get("/api/items/A1").json as? [String: Any]
    let url = try #require((item?["thumbnail"] as? [String: Any])?["url"] as? String)

    let during = try server.get(url)
    let ended = try sync.wait()

    #expect(during.status == 200)
    #expect(ended.status == 0, "\(ended.errors)")
    #expect(try server.get("/api/items/S1").text.contains("6500"))
    #expect(try server.get(url).status == 200)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `only this server's names and reading methods are accepted`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop, "--host", "shop.example")
    func status(_ host: String?) throws -> Int {
      try server.send("GET", "/healthz", host: host).status
    }

    for host in ["localhost", "127.0.0.1:80", "[::1]", "shop.example", "SHOP.example.:1"] {
      #expect(try status(host) == 200, "\(host)")
    }
    for host in [
      "evil.example", "127.0.0.1.evil.example", "localhost.evil", "0.0.0.0", "10.0.0.1",
    ] {
      #expect(try status(host) == 421, "\(host)")
    }
    #expect(try status(nil) == 400)
    #expect(try server.raw(Array("GET /healthz HTTP/1.0\r\n\r\n".utf8)).status == 200)
    let everywhere = try Served(shop, "--bind", "0.0.0.0")
    #expect(try everywhere.send("GET", "/healthz", host: "0.0.0.0").status == 200)
    #expect(try server.send("GET", "http://evil.example/healthz").status == 421)
    for method in ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "BREW"] {
      #expect(try [400, 405].contains(server.send(method, "/healthz").status), "\(method)")
    }
    #expect(try server.send("POST", "/api/sections", body: "a=b")["Allow"] == "GET, HEAD")
    let form = ["Content-Type: application/x-www-form-urlencoded"]
    let foreign = form + ["Origin: http://evil.example"]
    #expect(try server.send("POST", "/", foreign, body: "a=b").status == 403)
    let long = String(repeating: "a", count: 70_000)
    #expect(try server.send("POST", "/orders", form, body: long).status == 413)
    let wide = try server.send("GET", "/healthz", ["A: " + String(repeating: "a", count: 40_000)])
    #expect(wide.status == 431)
    #expect(try server.raw(Array("nonsense\r\n\r\n".utf8)).status == 400)
  }

  @Test func `a request with an unwanted body is refused once its head is read`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)
    func status(_ fields: String, host: String = "localhost") throws -> Int {
      let head = "POST /orders HTTP/1.1\r\nHost: \(host)\r\n\(fields)\r\n\r\n"
      // The body is never sent, and the connection is closed even so.
      return try server.raw(Array(head.utf8)).status
    }

    #expect(try status("Content-Length: 70000") == 413)
    #expect(try status("Content-Length: 70000\r\nExpect: 100-continue") == 413)
    let wanted = "Content-Length: 3\r\nExpect: 100-continue"
    #expect(try status(wanted, host: "evil.example") == 421)
    #expect(try status(wanted + "\r\nOrigin: http://evil.example") == 403)
    let form = "Content-Type: application/x-www-form-urlencoded\r\n"
    #expect(try status(form + wanted + "\r\nConnection: close\r\n\r\na=b") == 100)
  }

  @Test func `for an unreadable catalog healthz answers 503, and the log has the reason`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)
    #expect(try server.get("/healthz").text == "ok\n")

    try shop.folder.write("this is no database at all", to: "cache/index.new")
    #expect(rename("\(shop.cache)/index.new", "\(shop.cache)/index.sqlite") == 0)

    let health = try server.get("/healthz")
    #expect(health.status == 503 && health.text == "the catalog cannot be read\n")
    let page = try server.get("/")
    #expect(page.status == 500 && !page.text.contains("index.sqlite"))
    #expect(try server.get("/api/sections").status == 503)
    server.running.send(SIGTERM)
    let errors = try server.running.wait().errors
    // The reason is logged once, although three requests failed for it.
    #expect(errors.components(separatedBy: "index.sqlite: it is damaged").count == 2, "\(errors)")
  }

  @Test func `slow clients do not block others`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let server = try Served(shop)
    let slow = try (0..<300).map { _ in try server.connect() }
    defer { for connection in slow { close(connection) } }
    for connection in slow {
      _ = Array("GET / HTTP/1.1\r\nHost: loc".utf8).withUnsafeBytes {
        write(connection, $0.baseAddress, $0.count)
      }
    }

    #expect(try server.get("/healthz").text == "ok\n")
  }

  @Test func `a signal ends the server once open answers are sent`() throws {
    let shop = try Shop(faults: "path=/pictures/A1.jpg status=503")
    _ = try shop.sync()
    shop.store.faults = try FaultScript(text: "path=/pictures/A1.jpg delay=1")
    shop.store.clearRequests()
    let server = try Served(shop)
    let item = try server.get("/api/items/A1").json as? [String: Any]
    let url = try #require((item?["thumbnail"] as? [String: Any])?["url"] as? String)
    let connection = try server.connect()
    defer { close(connection) }
    let request = "GET \(url) HTTP/1.1\r\nHost: localhost\r\n\r\n"
    _ = Array(request.utf8).withUnsafeBytes { write(connection, $0.baseAddress, $0.count) }
    #expect(shop.store.waitForRequests(1))

    server.running.send(SIGTERM)
    let reply = Served.reply(Served.rest(of: connection))
    let ended = try server.running.wait()

    #expect(reply.status == 200 && reply.body == Shop.bytes("A1"))
    #expect(ended.status == 143, "\(ended.errors)")
    #expect(!FileManager.default.fileExists(atPath: shop.cache + "/serving"))
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `with --json the server prints its address once it listens`() throws {
    let shop = try Shop()
    _ = try shop.sync()

    let server = try Served(shop, "--json")

    #expect(try JSONSchema("serve").findings(in: server.line) == [])
    #expect(try server.get("/healthz").status == 200)
  }

  @Test func `serve without a cache is an error`() throws {
    let folder = try TemporaryFolder()

    let run = try Command.larder(["serve", "--port", "0", "--cache", folder.path("none")])

    #expect(run.status == 1 && run.output.isEmpty)
  }

  private static func json(_ text: String) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
  }

  /// JSON in canonical form, without the members that locate pictures.
  private static func withoutPlaces(_ value: Any?) throws -> String {
    func plain(_ value: Any) -> Any {
      if let list = value as? [Any] { return list.map(plain) }
      guard var object = value as? [String: Any] else { return value }
      if object["role"] != nil { (object["url"], object["source"]) = (nil, nil) }
      return object.mapValues(plain)
    }
    let data = try JSONSerialization.data(
      withJSONObject: plain(try #require(value)),
      options: [.sortedKeys]
    )
    return String(decoding: data, as: UTF8.self)
  }
}
