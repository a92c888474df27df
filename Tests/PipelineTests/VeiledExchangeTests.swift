import Cache
import Foundation
import Support
import Testing
import Transport

@testable import Pipeline

/// A secret of the environment in a URL appears in nothing that a run stores or prints, wherever
/// the origin redirects.
struct VeiledExchangeTests {
  private static let secret = "tok/EN+42=~s3cret"
  private static let escaped = "tok%2FEN%2B42%3D~s3cret"
  private let shop: ScriptedShop
  private let other: ScriptedShop
  private let list = "/list?key=\(Self.escaped)"

  init() throws {
    shop = try ScriptedShop(hasBase: false)
    other = try ScriptedShop()
  }

  private func run() throws -> SyncReport {
    try shop.run(
      lines: "paging: {link: true}",
      list: "list?key=${KEY}",
      environment: ["KEY": Self.secret],
      among: [other.port]
    )
  }

  /// The forms of the secret that appear in a file of the cache or in the report.
  private func leaks(_ report: SyncReport) throws -> [String] {
    let forms = ["tok/EN", "s3cret", "tok%2FEN", "tok%2fen", "tok%252F"]
    let folder = shop.folder.path("cache")
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
    #expect(names.contains("index.sqlite"))
    let files = names.compactMap { FileManager.default.contents(atPath: "\(folder)/\($0)") }
    let texts = files + [Data(report.json), Data("\(report)".utf8)]
    return forms.filter { form in texts.contains { $0.range(of: Data(form.utf8)) != nil } }
  }

  @Test(arguments: [
    "tok/EN+42=~s3cret", "tok%2FEN%2B42%3D~s3cret", "tok%2fEN%2b42%3d%7es3cret",
    "tok%252FEN%252B42%253D~s3cret",
  ])
  func `a redirect that carries a secret to another host is stored without it`(
    form: String
  ) throws {
    defer { [shop, other].forEach { $0.close() } }
    func moved(_ path: String) -> ScriptedShop.Answer {
      ScriptedShop.Answer(
        status: 302,
        fields: ["Vary: X-\(form)", "Location: \(other.url(path))"]
      )
    }
    let items = ScriptedShop.list(picture: "/x?k=\(form)")
    shop[list] = moved("/\(form)/items?key=\(form)")
    other["/\(form)/items?key=\(form)"] = ScriptedShop.Answer(
      fields: ["Link: <page2?k=\(form)>; rel=\"next\"", "Vary: X-\(form)"],
      body: items,
      tag: "\"1\""
    )
    // When a value is sent again, it is escaped as its position in the URL requires.
    shop["/page2?k=\(Self.escaped)"] = ScriptedShop.Answer(body: Array("[]".utf8))
    other["/x?k=\(Self.escaped)"] = moved("/y?k=\(form)")
    other["/y?k=\(form)"] = ScriptedShop.Answer(
      fields: ["Vary: X-\(form)"],
      body: CacheSuiteOrigin.picture("picture one"),
      tag: "\"2\""
    )

    let first = try run()
    let second = try run()
    other["/y?k=\(form)"] = ScriptedShop.Answer(status: 403, body: Array("no \(form)".utf8))
    let third = try run()

    #expect(first.outcome == .complete && second.outcome == .complete)
    #expect(first.pictures.fetched == 1)
    #expect(second.pictures.fetched + second.pictures.revalidated == 1)
    #expect(third.failures.map(\.reason) == ["http-403"])
    #expect(shop.asked.contains { $0.path == "/page2?k=\(Self.escaped)" })
    for report in [first, second, third] { #expect(try leaks(report) == []) }
  }

  @Test func `a picture whose URL contains a secret is fetched, and stored without it`()
    throws
  {
    defer { [shop, other].forEach { $0.close() } }
    shop[list] = ScriptedShop.Answer(
      body: ScriptedShop.list(picture: other.url("/tok/EN+42=~s3cret/x.jpg"))
    )
    other["/tok/EN%2B42%3D~s3cret/x.jpg"] = ScriptedShop.Answer(
      body: CacheSuiteOrigin.picture("picture one")
    )

    let report = try run()

    #expect(report.pictures.fetched == 1)
    #expect(try shop.picture() == "one")
    #expect(try leaks(report) == [])
  }

  @Test func `a secret of a header is stored in no URL of a response`() throws {
    defer { [shop, other].forEach { $0.close() } }
    shop["/list"] = ScriptedShop.Answer(
      body: ScriptedShop.list(picture: other.url("/tok/EN+42=~s3cret/x.jpg"))
    )
    other["/tok/EN%2B42%3D~s3cret/x.jpg"] = ScriptedShop.Answer(
      body: CacheSuiteOrigin.picture("picture one")
    )

    let report = try shop.run(
      lines: #"headers: {X-Key: "Bearer ${KEY}"}"#,
      list: "list",
      environment: ["KEY": Self.secret],
      among: [other.port]
    )

    #expect(report.pictures.fetched == 1)
    #expect(try leaks(report) == [])
  }

  @Test func `the ETag of a redirect's target is sent to no other URL`() throws {
    defer { [shop, other].forEach { $0.close() } }
    shop[list] = ScriptedShop.Answer(status: 302, fields: ["Location: /other"])
    shop["/other"] = ScriptedShop.Answer(body: ScriptedShop.list(title: "Other"), tag: "\"1\"")
    _ = try run()
    shop.forget()
    _ = try run()
    let asked = shop.asked.filter { $0.path == "/other" }.map { $0.header("If-None-Match") }
    shop[list] = ScriptedShop.Answer(body: ScriptedShop.list(title: "Real"), tag: "\"1\"")

    _ = try run()

    #expect(asked == ["\"1\""])
    #expect(try shop.shown()?.item.title == "Real")
  }

  @Test(arguments: ["", "pictures: {identity: {without: [k]}}"])
  func `what was fetched with another value of a variable counts for nothing`(_ rule: String)
    throws
  {
    defer { [shop, other].forEach { $0.close() } }
    let fresh = ["Cache-Control: public, max-age=3600"]
    func run(_ market: String, warm: Bool = false) throws -> [String] {
      shop.forget()
      let market = ["MARKET": market]
      _ = try shop.run(warm: warm, lines: rule, list: "list?k=${MARKET}", environment: market)
      return shop.asked.map { $0.path + ($0.header("If-None-Match") ?? "") }.sorted()
    }
    for market in ["east", "west"] {
      let list = ScriptedShop.list(title: market, picture: "/x?k=\(market)")
      shop["/list?k=\(market)"] = .init(fields: fresh, body: list, tag: "\"\(market)-1\"")
      let picture = CacheSuiteOrigin.picture("picture \(market)")
      shop["/x?k=\(market)"] = .init(fields: fresh, body: picture, tag: "\"2\"")
    }
    #expect(try run("east") == ["/list?k=east", "/x?k=east"])

    // The picture is that of the other market, unless the catalog file says that the value does not matter.
    let isOther = rule.isEmpty
    #expect(try run("west", warm: true) == ["/list?k=west"] + (isOther ? ["/x?k=west"] : []))

    #expect(try shop.shown()?.item.title == "west")
    #expect(try shop.picture() == (isOther ? "west" : "east"))
    #expect(try run("west", warm: true) == [])
    // An ETag with the value in it is not known without it, and is not sent.
    #expect(try run("west") == ["/list?k=west"])
  }

  @Test func `an ETag that names a variable does not get its value`() throws {
    defer { [shop, other].forEach { $0.close() } }
    let tag = "\"${KEY}\""
    shop["/list"] = .init(body: ScriptedShop.list(picture: "/x"), tag: tag)
    shop["/x"] = .init(body: CacheSuiteOrigin.picture("picture one"), tag: tag)
    try shop.run(list: "list")
    shop["/list?k=secret"] = shop["/list"]
    shop.clock.advance(400 * 86_400)
    shop.forget()

    try shop.run(list: "list?k=${KEY}", environment: ["KEY": "secret"])

    #expect(shop.asked.map(\.path).sorted() == ["/list?k=secret", "/x"])
    #expect(shop.asked.allSatisfy { !($0.header("If-None-Match") ?? "").contains("secret") })
  }

  @Test func `a picture with a variable whose value is not known is not requested`() throws {
    defer { [shop, other].forEach { $0.close() } }
    shop["/list?k=secret"] = .init(body: ScriptedShop.list(picture: "/x?k=secret"))
    shop["/x?k=secret"] = .init(body: CacheSuiteOrigin.picture("picture one"))
    try shop.run(list: "list?k=${KEY}", environment: ["KEY": "secret"])
    shop["/list"] = .init(status: 500)
    shop.clock.advance(400 * 86_400)
    shop.forget()

    // The catalog file no longer names the variable, and its section fails, so that the old items stay.
    let report = try shop.run(list: "list")

    #expect(shop.asked.map(\.path) == ["/list"])
    #expect(report.failures.map(\.reason) == ["http-500", "url-invalid"])
    #expect(try shop.picture() == "one")
  }

  @Test func `a redirect's target with a secret in its URL is revalidated too`() throws {
    defer { [shop, other].forEach { $0.close() } }
    let target = "/other?key=\(Self.escaped)"
    shop[list] = ScriptedShop.Answer(status: 302, fields: ["Location: \(target)"])
    shop[target] = ScriptedShop.Answer(body: ScriptedShop.list(), tag: "\"1\"")
    _ = try run()
    shop.forget()

    _ = try run()

    let asked = shop.asked.filter { $0.path == target }.map { $0.header("If-None-Match") }
    #expect(asked == ["\"1\""])
  }
}
