import Cache
import Foundation
import Support
import Testing
import Transport

@testable import Pipeline

/// Data in the cache is revalidated at the URL that it came from, with the header fields of the first request.
struct RevalidationTests {
  private let shop: ScriptedShop

  init() throws {
    shop = try ScriptedShop(hasBase: false)
  }

  private func picture(_ words: String, _ fields: String..., tag: String? = "\"1\"")
    -> ScriptedShop.Answer
  {
    ScriptedShop.Answer(
      fields: fields,
      body: CacheSuiteOrigin.picture("picture \(words)"),
      tag: tag
    )
  }

  private func redirect(_ target: String, _ fields: String..., status: Int = 302)
    -> ScriptedShop.Answer
  {
    ScriptedShop.Answer(status: status, fields: fields + ["Location: \(target)"])
  }

  /// The paths of the requests, without the request for the list.
  private var asked: [String] { shop.asked.map(\.path).filter { $0 != "/list" } }

  @Test(arguments: [false, true])
  func `a picture deleted during a run is fetched again by the next`(
    _ placesAnother: Bool
  ) throws {
    defer { shop.close() }
    func folder(_ path: String) -> UInt8 {
      let url = shop.url(path)
      return PictureName(url: url, id: PictureID(url: url)).folder
    }
    let other = try #require(
      (0...).lazy.map { "/y\($0)" }.first { folder($0) != folder("/x") }
    )
    shop["/x"] = picture("one", "Cache-Control: max-age=60")
    shop[other] = picture("two", "Cache-Control: max-age=60")
    try shop.run()
    let file = shop.folder.path("cache/" + (try #require(try shop.shown()?.thumbnail?.path)))
    if placesAnother {
      let list = String(decoding: ScriptedShop.list().dropLast(1), as: UTF8.self)
      let more = #"{"detail_hash": "B", "title": "Soup", "image": "\#(other)", "s_price": "1원"}"#
      shop["/list"]?.body = Array("\(list), \(more)]".utf8)
    }
    shop.whenAsked { path in
      guard path == "/list" else { return }
      try? FileManager.default.removeItem(atPath: file)
      // Set another modification time, in case the clock of the file system is too coarse.
      let folder = URL(filePath: file).deletingLastPathComponent().path
      let attributes = [FileAttributeKey.modificationDate: Date(timeIntervalSince1970: 7)]
      try? FileManager.default.setAttributes(attributes, ofItemAtPath: folder)
    }
    let blind = try shop.run()
    shop.whenAsked(nil)

    let report = try shop.run()

    #expect(blind.pictures.fresh == 1 && blind.pictures.fetched == (placesAnother ? 1 : 0))
    #expect(report.pictures.fetched == 1 && report.pictures.fresh == (placesAnother ? 1 : 0))
    #expect(try shop.picture() == "one")
  }

  @Test(arguments: [false, true])
  func `a picture whose redirect leads elsewhere is fetched, whatever its ETag`(_ warm: Bool)
    throws
  {
    defer { shop.close() }
    shop["/x"] = redirect("/v1")
    shop["/v1"] = picture("one", "Cache-Control: max-age=60")
    shop["/v2"] = picture("two", "Cache-Control: max-age=60")
    try shop.run(warm: warm)
    shop["/x"] = redirect("/v2")
    shop.forget()

    let report = try shop.run(warm: warm)

    #expect(asked == ["/x", "/v2"])
    #expect(report.pictures.fetched == 1 && report.pictures.revalidated == 0)
    #expect(try shop.picture() == "two")
  }

  @Test func `a picture whose redirect leads to the same place is revalidated there`() throws {
    defer { shop.close() }
    shop["/x"] = redirect("/v1")
    shop["/v1"] = picture("one", "Cache-Control: max-age=0")
    try shop.run()
    shop.forget()

    let report = try shop.run()

    #expect(asked == ["/x", "/v1"])
    #expect(report.pictures.revalidated == 1 && report.pictures.fetched == 0)
  }

  @Test func `a section and a detail whose redirects lead elsewhere are read again`() throws {
    defer { shop.close() }
    func document(_ body: [UInt8]) -> ScriptedShop.Answer {
      ScriptedShop.Answer(fields: ["Cache-Control: max-age=60"], body: body, tag: "\"1\"")
    }
    shop["/x"] = picture("one", "Cache-Control: max-age=999999")
    shop["/l1"] = document(ScriptedShop.list(title: "Old"))
    shop["/l2"] = document(ScriptedShop.list(title: "New"))
    shop["/d1"] = document(ScriptedShop.detail("old"))
    shop["/d2"] = document(ScriptedShop.detail("new"))
    shop["/list"] = redirect("/l1")
    shop["/detail/A1"] = redirect("/d1", status: 307)
    try shop.run(warm: true, detail: true)
    shop["/list"] = redirect("/l2")
    shop["/detail/A1"] = redirect("/d2", status: 307)

    try shop.run(warm: true, detail: true)

    #expect(try shop.shown()?.item.title == "New")
    #expect(try shop.shown()?.detail?.description == "new")
  }

  @Test
  func
    `relative references of an unchanged list are resolved against its new URL after a redirect`()
    throws
  {
    defer { shop.close() }
    let list = ScriptedShop.Answer(body: ScriptedShop.list(picture: "x.jpg"))
    for place in ["a", "b"] {
      shop["/\(place)/list"] = list
      shop["/\(place)/x.jpg"] = picture(place, "Cache-Control: max-age=999")
    }
    shop["/list"] = redirect("/a/list")
    try shop.run()
    shop["/list"] = redirect("/b/list")

    try shop.run()

    #expect(try shop.picture() == "b")
  }

  @Test(arguments: [
    ([302], ["Cache-Control: max-age=100"], 99, true),
    ([302], ["Cache-Control: max-age=100"], 100, false), ([302], [], 0, false),
    ([301], [], 0, false), ([302, 301], ["Cache-Control: max-age=100"], 99, true),
  ])
  func `a picture is fresh only as long as every redirect to it`(
    _ statuses: [Int],
    _ fields: [String],
    _ later: Int64,
    _ isFresh: Bool
  ) throws {
    defer { shop.close() }
    for (number, status) in statuses.enumerated() {
      var hop = redirect(number == statuses.count - 1 ? "/v1" : "/hop\(number)", status: status)
      hop.fields += fields
      shop[number == 0 ? "/x" : "/hop\(number - 1)"] = hop
    }
    shop["/v1"] = picture("one", "Cache-Control: max-age=9999")
    try shop.run()
    shop.clock.advance(later)
    shop.forget()

    let report = try shop.run()

    #expect(report.pictures.fresh == (isFresh ? 1 : 0))
    #expect(asked.isEmpty == isFresh)
  }

  @Test
  func
    `after a 304 for another version the same run fetches it, and does not count it as revalidated`()
    throws
  {
    defer { shop.close() }
    shop["/x"] = picture("one", "Cache-Control: max-age=0")
    try shop.run()
    // The 304 names a new version, as if only one of the server's two machines had it already.
    shop["/x"] = ScriptedShop.Answer(
      status: 304,
      fields: ["ETag: \"2\""],
      body: []
    )
    shop.forget()

    let failed = try shop.run()
    #expect(failed.pictures.failed == 1 && failed.pictures.revalidated == 0)
    #expect(
      shop.asked.filter { $0.path == "/x" }.map { $0.header("If-None-Match") } == ["\"1\"", nil]
    )

    #expect(try shop.picture() == "one")
    shop["/x"] = picture("two", "Cache-Control: max-age=0", tag: "\"2\"")
    #expect(try shop.run().pictures.fetched == 1)
    #expect(try shop.picture() == "two")
  }

  @Test func `a 304 without a date is dated by its arrival`() throws {
    defer { shop.close() }
    let date = shop.clock.now.httpDate
    shop["/x"] = picture("one", "Cache-Control: max-age=60", "Date: \(date)")
    try shop.run()
    shop["/x"] = picture("one")
    shop.clock.advance(5000)
    #expect(try shop.run().pictures.revalidated == 1)
    shop.clock.advance(59)

    #expect(try shop.run().pictures.fresh == 1)
  }

  /// RFC 9111, section 4.1.
  @Test(arguments: [false, true])
  func `a response that varies by the catalog's headers is fetched again when they change`(
    _ warm: Bool
  ) throws {
    defer { shop.close() }
    let fields = ["Cache-Control: max-age=9999, public", "Vary: X-Shop"]
    shop["/x"] = picture("one", "Cache-Control: max-age=999999")
    shop["/detail/A1"] = .init(fields: fields, body: ScriptedShop.detail("kr"), tag: "\"1\"")
    try shop.run(warm: warm, detail: true, headers: "X-Shop: kr, X-Trace: 1")
    shop.forget()
    try shop.run(warm: warm, detail: true, headers: "X-Shop: kr, X-Trace: 2")
    #expect(asked.isEmpty)
    shop["/detail/A1"] = .init(fields: fields, body: ScriptedShop.detail("jp"), tag: "\"1\"")

    let report = try shop.run(warm: warm, detail: true, headers: "X-Shop: jp")

    #expect(report.details.fetched == 1)
    #expect(shop.asked.last { $0.path == "/detail/A1" }?.header("If-None-Match") == nil)
    #expect(try shop.shown()?.detail?.description == "jp")
  }

  /// RFC 9111, section 5.2.2.7.
  @Test
  func
    `a private detail is used only with the token that fetched it, and the cache stores no token`()
    throws
  {
    defer { shop.close() }
    let fields = ["Cache-Control: private, max-age=9999"]
    let list = ScriptedShop.Answer(fields: fields, body: ScriptedShop.list(), tag: "\"1\"")
    shop["/list"] = list
    shop["/x"] = picture("one", "Cache-Control: max-age=999999")
    shop["/detail/A1"] = .init(fields: fields, body: ScriptedShop.detail("hers"), tag: "\"1\"")
    try shop.run(warm: true, detail: true, headers: "token: sesame-1")
    shop.forget()
    try shop.run(warm: true, detail: true, headers: "token: sesame-1")
    #expect(shop.asked.isEmpty)
    shop["/detail/A1"] = .init(fields: fields, body: ScriptedShop.detail("his"), tag: "\"1\"")

    try shop.run(warm: true, detail: true, headers: "token: sesame-2")

    #expect(shop.asked.map(\.path).sorted() == ["/detail/A1", "/list"])
    #expect(shop.asked.allSatisfy { $0.header("If-None-Match") == nil })
    #expect(try shop.shown()?.detail?.description == "his")
    let index = String(decoding: try shop.folder.read("cache/index.sqlite"), as: UTF8.self)
    #expect(!index.contains("sesame"))
  }

  @Test func `a picture that varies by User-Agent is requested again with another one`() throws {
    defer { shop.close() }
    shop["/x"] = picture("one", "Cache-Control: max-age=9999", "Vary: user-agent")
    try shop.run(userAgent: "larder/1")
    #expect(try shop.run(userAgent: "larder/1").pictures.fresh == 1)
    shop["/x"] = picture("two", "Cache-Control: max-age=9999", "Vary: user-agent")

    let report = try shop.run(userAgent: "larder/2")

    #expect(report.pictures.fetched == 1)
    #expect(try shop.picture() == "two")
    #expect(try shop.run(userAgent: "larder/2").pictures.fresh == 1)
  }

  @Test func `a plan predicts the requests of a run`() throws {
    defer { shop.close() }
    shop["/list"] = .init(
      fields: ["Cache-Control: max-age=60"],
      body: ScriptedShop.list(),
      tag: "\"1\""
    )
    shop["/x"] = picture("one", "Cache-Control: max-age=100", "Vary: *")
    shop["/detail/A1"] = .init(
      fields: ["Cache-Control: max-age=60"],
      body: ScriptedShop.detail("hers"),
      tag: "\"1\""
    )
    try shop.run(detail: true, headers: "token: a")

    let same = try shop.plan(detail: true, headers: "token: a")
    let warm = try shop.plan(warm: true, detail: true, headers: "token: a")
    let other = try shop.plan(detail: true, headers: "token: b")
    shop.clock.advance(-1000)
    let back = try shop.plan(warm: true, detail: true, headers: "token: a")

    #expect(same.sections.map(\.action) == ["revalidate"] && same.details.fresh == 1)
    #expect(warm.sections.map(\.action) == ["fresh"])
    #expect(same.images.revalidate.count == 1)
    #expect(other.sections.map(\.action) == ["fetch"] && other.details.fetch.count == 1)
    #expect(back.sections.map(\.action) == ["revalidate"] && back.details.revalidate.count == 1)
  }

  @Test(arguments: [
    ("Cache-Control: max-age=60", 59, true), ("Cache-Control: max-age=60", 60, false),
    ("Expires: 0", 1, false), ("X: 1", 86_399, true), ("X: 1", 86_400, false),
  ])
  func `warm requests a missing detail again once its 404 is stale`(
    _ field: String,
    _ later: Int64,
    _ rests: Bool
  ) throws {
    defer { shop.close() }
    shop["/x"] = picture("one", "Cache-Control: max-age=999999")
    shop["/detail/A1"] = ScriptedShop.Answer(status: 404, fields: [field])
    try shop.run(warm: true, detail: true)
    shop.clock.advance(later)
    shop.forget()

    let report = try shop.run(warm: true, detail: true)

    #expect(report.details.missing == 1)
    #expect(asked.contains("/detail/A1") == !rests)
  }
}
