import Base
import Cache
import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The contents of an export.
struct ExportTests {
  private static let digits = PictureName(
    url: "http://a.test/p.jpg/x.jpg?w=2",
    id: PictureID(url: "http://a.test/p.jpg/x.jpg?w=2")
  ).file

  @Test(
    arguments: [
      ("http://a.test/p.jpg/x.jpg", "a.test/p.jpg/x.jpg", "x.jpg"),
      ("https://a.test:8443/x.jpg?w=1#f", "a.test-8443/x.jpg", "x.jpg"),
      ("http://a.test/%EB%B0%A5/a%20b.jpg", "a.test/밥/a b.jpg", "a b.jpg"),
      ("http://a.test/a%2Fb.jpg", "a.test/a%2Fb.jpg", "a%2Fb.jpg"),
      ("http://a.test/%2e%2e/%2e%2e/etc/x.jpg", "a.test/%2E%2E/%2E%2E/etc/x.jpg", "x.jpg"),
      ("http://a.test//p//x.jpg", "a.test/p/x.jpg", "x.jpg"),
      ("http://a.test/p/", nil, nil), ("http://a.test/%FF.jpg", "a.test/%FF.jpg", "%FF.jpg"),
    ] as [(String, String?, String?)]
  )
  func `a URL becomes a path that stays in the folder`(
    _ url: String,
    _ tree: String?,
    _ flat: String?
  ) {
    #expect(ExportPath(url: url, isFlat: false).path(of: .jpeg) == tree)
    #expect(ExportPath(url: url, isFlat: true).path(of: .jpeg) == flat)
  }

  @Test func `name clashes get a numeric suffix, and equal bytes share a file`() {
    let pictures = [
      ("http://a.test/p.jpg/x.jpg", "1"), ("http://a.test/p.jpg/x.jpg?w=2", "2"),
      ("http://a.test/p.jpg/x.jpg?same", "1"), ("http://b.test/x.jpg", "3"),
      ("http://a.test/p.jpg", "4"), ("http://a.test/p.jpg/x.jpg/y.jpg", "5"),
    ].map { ExportPlan.Picture(url: $0.0, sha256: $0.1, type: .jpeg) }

    let tree = ExportPlan(pictures, isFlat: false)
    let flat = ExportPlan(pictures, isFlat: true)

    #expect(tree.paths[pictures[0].url] == "a.test/p.jpg/x.jpg")
    #expect(tree.paths[pictures[1].url] == "a.test/p.jpg/\(Self.digits)")
    #expect(tree.paths[pictures[2].url] == "a.test/p.jpg/x.jpg")
    #expect(tree.paths[pictures[3].url] == "b.test/x.jpg")
    #expect(Set(tree.paths.values).count == 5)
    #expect(flat.paths[pictures[1].url] == Self.digits)
  }

  @Test(arguments: [false, true])
  func `the square of a GIF and another picture's square have different paths`(isLast: Bool) {
    var pictures = [
      ExportPlan.Picture(url: "http://a.test/a.gif", sha256: "1", type: .gif),
      ExportPlan.Picture(url: "http://a.test/a.gif.png", sha256: "2", type: .png),
    ]
    if isLast { pictures.reverse() }

    let plan = ExportPlan(pictures, isFlat: false)

    let squares = pictures.map { ExportPlan.square(of: plan.paths[$0.url] ?? "", $0.type) }
    #expect(Set(squares).count == 2)
  }

  @Test(arguments: [false, true])
  func `a new version of a picture is exported even if its size and time are the same`(
    forgets: Bool
  ) throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    var options = ExportOptions()
    options.copies = true
    let mirror = shop.folder.path("mirror")
    func export(_ version: String) throws -> String {
      shop["/x"] = ScriptedShop.Answer(
        fields: ["Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT", "Cache-Control: no-cache"],
        body: CacheSuiteOrigin.picture("picture \(version)"),
        tag: "\"\(version)\""
      )
      try shop.run()
      let export = try CacheExport(cache: shop.folder.path("cache"), catalog: nil)
      let report = try export.run(into: mirror, options)
      #expect(report.copied == 1 && report.failed.isEmpty)
      let path = try #require(
        FileManager.default.enumerator(atPath: mirror)?
          .compactMap { $0 as? String }.first { $0.hasSuffix("x.jpg") }
      )
      return String(decoding: try shop.folder.read("mirror/\(path)"), as: UTF8.self)
    }
    #expect(try export("one").contains("one"))
    // The record of an export by an earlier version has no digests.
    if forgets {
      let record = String(decoding: try shop.folder.read("mirror/export.json"), as: UTF8.self)
      try shop.folder.write(
        Array(record.replacing(#/,"sha256":"[0-9a-f]+"/#, with: "").utf8),
        to: "mirror/export.json"
      )
    }

    #expect(try export("two").contains("two"))
  }

  /// The moments at which a sync changes the cache, in calls of `isStopped`.
  struct Moments: Sendable {
    /// When the file of a picture is replaced, before its row changes; nil if both change at one moment.
    var file: Int?
    /// When the row changes.
    var row: Int
  }

  @Test(
    arguments: [Moments(row: 1), Moments(row: 2), Moments(row: 3), Moments(file: 1, row: 4)],
    [false, true]
  )
  func `an export beside a sync has no picture with the digest of another version`(
    _ moments: Moments,
    _ copies: Bool
  ) throws {
    let shop = try ScriptedShop()
    defer { shop.close() }
    let names = ["/x", "/y", "/z"]
    shop["/list"] = ScriptedShop.Answer(
      fields: ["Cache-Control: no-cache"],
      body: Array(
        "[\(names.map { #"{"detail_hash": "\#($0)", "title": "Dish", "image": "\#($0)"}"# }.joined(separator: ","))]"
          .utf8
      )
    )
    func publish(_ version: String) {
      for name in names {
        shop[name] = ScriptedShop.Answer(
          fields: ["Cache-Control: no-cache"],
          // Only the second picture gets another size.
          body: CacheSuiteOrigin.picture("\(name) \(name == "/y" ? version : "\(version.count)")"),
          tag: "\"\(version)\""
        )
      }
    }
    publish("one")
    try shop.run()
    var options = ExportOptions()
    options.copies = copies
    let export = try CacheExport(cache: shop.folder.path("cache"), catalog: nil)
    var calls = 0
    var failure: (any Error)?

    let report = try export.run(into: shop.folder.path("out"), options) {
      calls += 1
      do {
        if calls == moments.file {
          for picture in try CatalogReader(cache: shop.folder.path("cache"), catalog: nil)
            .list().flatMap(\.pictures)
          {
            let file = try #require(picture.file)
            try Data("another version".utf8).write(to: URL(filePath: file), options: .atomic)
          }
        }
        if calls == moments.row {
          publish("second")
          try shop.run()
        }
      } catch {
        failure = error
      }
      return false
    }

    #expect(failure == nil)
    #expect(report.missing == [] && report.files == 3)
    let data = Data(try shop.folder.read("out/catalog.json"))
    let document = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    let lines = (document?["items"] as? [[String: Any]] ?? []).compactMap {
      $0["thumbnail"] as? [String: Any]
    }
    #expect(lines.count == 3)
    for line in lines {
      let path = try #require(line["path"] as? String)
      let bytes = try shop.folder.read("out/\(path)")
      #expect(line["sha256"] as? String == Hexadecimal.text(ContentDigest.sha256(bytes)))
      #expect(line["bytes"] as? Int == bytes.count)
      let url = try #require(line["url"] as? String)
      #expect(bytes == shop["/\(url.suffix(1))"]?.body)
    }
  }

  @Test func `an export holds every picture, lists its contents, and writes nothing twice`() throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    shop.items["A"]?[0].title = "One, \"quoted\""
    try shop.publish()
    _ = try shop.sync(folder)
    let export = try CacheExport(cache: folder.path("cache"), catalog: nil)

    var flat = ExportOptions()
    flat.isFlat = true
    flat.copies = true

    let linked = try export.run(into: folder.path("mirror"))
    let again = try export.run(into: folder.path("mirror"))
    let copied = try export.run(into: folder.path("flat"), flat)

    #expect(linked.files == 7 && linked.linked == 7 && linked.missing.isEmpty)
    #expect(again.unchanged == 7)
    #expect(copied.copied == 7)
    let host = shop.store.baseURL.dropFirst("http://".count).replacing(":", with: "-")
    for path in ["/pictures/A1-thumb.jpg", "/pictures/common.jpg"] {
      #expect(try folder.read("mirror/\(host)\(path)") == SampleShop.bytes(of: path))
      let name = path.dropFirst("/pictures/".count)
      #expect(try folder.read("flat/\(name)") == SampleShop.bytes(of: path))
    }
    let document = String(decoding: try folder.read("flat/catalog.json"), as: UTF8.self)
    #expect(document.contains(#""path":"A1-thumb.jpg""#))
    #expect(document.contains(#""title":"One, \"quoted\"""#))
    #expect(try verify(folder).isClean)
  }

  @Test(arguments: [
    "cache", "cache/images", "cache/new/folder", "link", "link/../images", "cache/.",
  ])
  func `an export into the cache is refused, and nothing is made there`(_ place: String) throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    _ = try shop.sync(folder)
    try FileManager.default.createSymbolicLink(
      atPath: folder.path("link"),
      withDestinationPath: "cache/partial"
    )
    let export = try CacheExport(cache: folder.path("cache"), catalog: nil)

    let error = #expect(throws: LarderError.self) { try export.run(into: folder.path(place)) }

    #expect(error?.code == .argument)
    #expect(folder.state(of: "cache/new") == nil && folder.state(of: "cache/export.json") == nil)
    #expect(try verify(folder).isClean)
    #expect(try export.run(into: folder.path("cachet")).files == 4)
  }
}
