import Support
import Testing
import Transport

@testable import Pipeline

/// The headers of a catalog file that are sent with requests for pictures.
struct PictureHeadersTests {
  private static let referer = "Referer: \"https://shop.example/\""

  /// A server that gives every request the same answer.
  private func server(_ head: String, body: [UInt8] = []) -> ScriptedServer {
    ScriptedServer { _ in
      [.send("HTTP/1.1 \(head)\r\nContent-Length: \(body.count)\r\n\r\n"), .bytes(body)]
    }
  }

  @Test func `headers are sent with pictures to the origins of base and sections`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    shop["/x"] = ScriptedShop.Answer(body: CacheSuiteOrigin.picture("picture one"))

    let report = try shop.run(headers: "\(Self.referer), User-Agent: Mozilla/5.0, token: abc")

    let asked = try #require(shop.asked.first { $0.path == "/x" })
    #expect(report.pictures.fetched == 1)
    #expect(asked.header("referer") == "https://shop.example/")
    #expect(asked.header("user-agent") == "Mozilla/5.0")
    #expect(asked.header("token") == "abc")
  }

  @Test func `headers are sent with pictures to no other origin`() throws {
    let shop = try ScriptedShop()
    let other = server("200 OK", body: CacheSuiteOrigin.picture("one"))
    let away = server("302 Found\r\nLocation: \(other.url())y")
    defer {
      for server in [other, away] { server.close() }
      shop.close()
    }
    for url in ["\(other.url())x", "\(away.url())x"] {
      shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list(picture: url))
      _ = try shop.run(
        headers: "token: abc",
        lines: "pictures: {headers: {\"127.0.0.1:\(away.port)\": {X-Away: here}}}",
        allowsPrivateAddresses: true
      )
    }
    // The base's own origin may redirect elsewhere.
    shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list())
    shop["/x"] = ScriptedShop.Answer(status: 302, fields: ["Location: \(other.url())z"])
    _ = try shop.run(headers: "token: abc", allowsPrivateAddresses: true)

    #expect(other.received.map(\.path) == ["/x", "/y", "/z"])
    #expect(other.received.allSatisfy { $0.header("token") == nil && $0.header("x-away") == nil })
    #expect(away.received.map { $0.header("x-away") } == ["here"])
    #expect(away.received.map { $0.header("token") } == [nil])
    let own = shop.asked.filter { $0.path == "/x" || $0.path == "/list" }
    #expect(own.allSatisfy { $0.header("x-away") == nil && $0.header("token") == "abc" })
  }

  @Test func `a changed header fetches nothing again unless the picture varies by it`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    for (vary, isConfirmed) in [("Accept-Encoding", true), ("Referer", false)] {
      shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list(picture: "/x?\(vary)"))
      shop["/x?\(vary)"] = ScriptedShop.Answer(
        fields: ["Cache-Control: max-age=86400", "Vary: \(vary)"],
        body: CacheSuiteOrigin.picture("by \(vary)"),
        tag: "\"\(vary)\""
      )
      _ = try shop.run(headers: Self.referer)
      shop.forget()
      _ = try shop.run(headers: Self.referer)
      #expect(shop.asked.map(\.path) == ["/list"])
      shop.forget()

      _ = try shop.run(headers: "Referer: \"https://elsewhere.example/\"")

      // A picture whose response varies by another field is revalidated once, with its ETag. A picture whose response
      // varies by this field is fetched.
      let asked = try #require(shop.asked.first { $0.path.hasPrefix("/x") })
      #expect((asked.header("if-none-match") != nil) == isConfirmed, "\(vary)")
    }
  }

  @Test func `a dry run after a changed header plans the requests of the sync`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    for vary in ["none", "Accept-Encoding", "Referer"] {
      let path = "/x?\(vary)"
      shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list(picture: path))
      shop[path] = ScriptedShop.Answer(
        fields: ["Cache-Control: max-age=86400"] + (vary == "none" ? [] : ["Vary: \(vary)"]),
        body: CacheSuiteOrigin.picture("by \(vary)"),
        tag: "\"\(vary)\""
      )
      _ = try shop.run(headers: Self.referer)

      let same = try shop.plan(headers: Self.referer)
      let changed = try shop.plan(headers: "Referer: \"https://elsewhere.example/\"")

      #expect(same.images == SyncPlan.Work(fresh: 1), "\(vary)")
      #expect(changed.images.fetch.count == (vary == "Referer" ? 1 : 0), "\(vary)")
      #expect(changed.images.revalidate.count == (vary == "Accept-Encoding" ? 1 : 0), "\(vary)")
      #expect(changed.images.fresh == (vary == "none" ? 1 : 0), "\(vary)")
    }
  }
}
