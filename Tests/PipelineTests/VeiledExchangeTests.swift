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
