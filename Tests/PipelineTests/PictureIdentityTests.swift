import Cache
import GRDB
import Support
import Testing

@testable import Pipeline

/// Pictures that are identified by only a part of their URLs.
struct PictureIdentityTests {
  private static let rule = "pictures: {identity: {without: [Signature, \"X-*\"]}}"

  /// Publishes a picture at a URL, and the list that names it.
  private func put(
    _ shop: ScriptedShop,
    _ url: String,
    words: String = "one",
    _ fields: String = "Cache-Control: max-age=86400"
  ) {
    shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list(picture: url))
    shop[url] = ScriptedShop.Answer(
      fields: [fields],
      body: CacheSuiteOrigin.picture("picture \(words)"),
      tag: "\"\(words)\""
    )
  }

  private func pictures(_ shop: ScriptedShop) -> [String] {
    shop.asked.map(\.path).filter { $0.hasPrefix("/x") }
  }

  @Test func `a new signature requests no picture and changes no item`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    put(shop, "/x?w=1&Signature=a&X-Date=1")
    _ = try shop.run(lines: Self.rule)
    let before = try #require(try shop.shown())
    shop.forget()

    put(shop, "/x?w=1&Signature=b&X-Date=2", words: "two")
    let report = try shop.run(lines: Self.rule)

    #expect(pictures(shop).isEmpty)
    #expect(report.items.changed.isEmpty && report.pictures.fresh == 1)
    #expect(try shop.shown() == before)
    #expect(before.thumbnail?.url == shop.url("/x?w=1"))
    #expect(try shop.picture() == "one")
  }

  @Test func `a stale picture is requested at its newest URL, with its identity's ETag`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    put(shop, "/x?Signature=a", "Cache-Control: no-cache")
    _ = try shop.run(lines: Self.rule)
    let path = try shop.shown()?.thumbnail?.path
    shop.forget()

    put(shop, "/x?Signature=b", "Cache-Control: no-cache")
    var report = try shop.run(lines: Self.rule)

    #expect(pictures(shop) == ["/x?Signature=b"])
    #expect(shop.asked.last?.header("If-None-Match") == "\"one\"")
    #expect(report.pictures.revalidated == 1 && report.pictures.fetched == 0)
    shop.forget()

    put(shop, "/x?Signature=c", words: "two", "Cache-Control: no-cache")
    report = try shop.run(lines: Self.rule)

    #expect(report.pictures.fetched == 1)
    #expect(try shop.picture() == "two")
    #expect(try shop.shown()?.thumbnail?.path == path)
  }

  @Test func `an unchanged section requests pictures at the newest URL it named`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    put(shop, "/x?Signature=a", "Cache-Control: max-age=60")
    _ = try shop.run(lines: Self.rule)
    put(shop, "/x?Signature=b", "Cache-Control: max-age=60")
    shop["/list"]?.tag = "\"list\""
    // The picture is fresh, so only its new URL is recorded.
    _ = try shop.run(lines: Self.rule)
    shop.clock.advance(3600)
    shop.forget()

    _ = try shop.run(lines: Self.rule)

    #expect(pictures(shop) == ["/x?Signature=b"])
  }

  @Test func `if the identity is the path, only host and path distinguish pictures`() throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    put(shop, "/x?v=1")
    _ = try shop.run(lines: "pictures: {identity: path}")
    shop.forget()
    put(shop, "/x?v=2")

    let report = try shop.run(lines: "pictures: {identity: path}")

    #expect(pictures(shop).isEmpty && report.items.changed.isEmpty)
    #expect(try shop.picture() == "one")
    #expect(try shop.shown()?.thumbnail?.url.hasSuffix("/x") == true)
  }

  @Test
  func `a picture whose key already belongs to another URL is refused, reported and not shown`()
    throws
  {
    let shop = try ScriptedShop()
    defer { shop.close() }
    put(shop, "/x", "Cache-Control: no-cache")
    _ = try shop.run()
    let queue = try DatabaseQueue(path: shop.folder.path("cache/index.sqlite"))
    try queue.write { try $0.execute(sql: "UPDATE picture SET url = 'https://other.example/x'") }
    try queue.close()
    shop["/list"] = ScriptedShop.Answer(body: ScriptedShop.list(title: "Changed"))
    shop.forget()

    let report = try shop.run()

    #expect(report.failures.map(\.reason) == ["identity-clash"])
    #expect(pictures(shop).isEmpty)
    #expect(try shop.shown()?.thumbnail?.path == nil)
  }
}
