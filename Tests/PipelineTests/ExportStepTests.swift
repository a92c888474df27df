import Base
import Cache
import Foundation
import SampleStore
import Support
import Testing

@testable import Pipeline

/// The export to a folder and its later updates.
@Suite struct ExportStepTests {
  private static func options(deletes: Bool = false) -> ExportOptions {
    var options = ExportOptions()
    options.isFlat = true
    options.copies = true
    options.deletes = deletes
    return options
  }

  private static func export(
    _ folder: TemporaryFolder,
    deletes: Bool = false,
    copies: Bool = true
  ) throws -> ExportReport {
    var options = options(deletes: deletes)
    options.copies = copies
    return try CacheExport(cache: folder.path("cache"), catalog: nil)
      .run(into: folder.path("out"), options)
  }

  private static func json(_ bytes: [UInt8]) throws -> Any {
    try JSONSerialization.jsonObject(with: Data(bytes))
  }

  private static func withoutPaths(_ value: Any) -> NSObject {
    if var object = value as? [String: Any] {
      object["path"] = nil
      return NSDictionary(dictionary: object.mapValues(withoutPaths))
    }
    if let array = value as? [Any] { return NSArray(array: array.map(withoutPaths)) }
    return value as? NSObject ?? NSNull()
  }

  @Test func `a stopped export reports the missing pictures, and the next one continues`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    try shop.publish()
    _ = try shop.sync(folder)
    let export = try CacheExport(cache: folder.path("cache"), catalog: nil)
    var done = 0

    let stopped = try export.run(into: folder.path("out"), Self.options()) {
      done == 4
    } progress: { count, _ in
      done = count
    }
    let hasDocument = FileManager.default.fileExists(atPath: folder.path("out/catalog.json"))
    let rest = try Self.export(folder)

    #expect(stopped.files == 4 && stopped.unfinished > 0)
    #expect(!hasDocument)
    #expect(rest.unchanged == 4 && rest.copied > 0 && rest.unfinished == 0)
  }

  @Test
  func `catalog.json has the sections with titles, and the items as larder list prints them`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 3)
    shop.store.content["/pictures/B2-thumb.jpg"] = Resource(json: "{}")
    try shop.publish()
    _ = try shop.sync(folder)

    _ = try Self.export(folder)

    let document = try #require(
      try Self.json(try folder.read("out/catalog.json")) as? [String: Any]
    )
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let list = try Self.json(ItemDocument.list(reader.list()))
    #expect(Self.withoutPaths(document["items"] ?? 0) == Self.withoutPaths(list))
    #expect(document["catalog"] as? String == "shop")
    let sections = document["sections"] as? [[String: Any]]
    #expect(sections?.compactMap { $0["title"] as? String } == ["Section A", "Section B"])
    let items = try #require(document["items"] as? [[String: Any]])
    for item in items {
      for image in [item["thumbnail"] ?? NSNull()] + (item["images"] as? [Any] ?? []) {
        let image = try #require(image as? [String: Any])
        guard image["state"] as? String == "held" else {
          #expect(image["path"] is NSNull)
          continue
        }
        let path = try #require(image["path"] as? String)
        #expect(folder.state(of: "out/\(path)")?.bytes == image["bytes"] as? Int)
      }
    }
  }

  @Test func `catalog.json has each detail once, as larder show prints it`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 2, items: 2)
    _ = try shop.sync(folder)

    _ = try Self.export(folder)

    let document = try #require(
      try Self.json(try folder.read("out/catalog.json")) as? [String: Any]
    )
    let details = try #require(document["details"] as? [String: Any])
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    #expect(Set(details.keys) == ["A1", "A2", "B1", "B2"])
    for id in details.keys {
      let item = try #require(try reader.show(id))
      let shown = try Self.json(ItemDocument.show(item)) as? [String: Any]
      #expect(Self.withoutPaths(details[id] ?? 0) == Self.withoutPaths(shown?["detail"] ?? 1))
    }
  }

  @Test func `a file that cannot be written is listed, and the export continues`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    // A folder at the picture's path, because a rename cannot replace it.
    try folder.write("mine", to: "out/A1-thumb.jpg/mine")

    let report = try Self.export(folder)

    #expect(report.failed.map(\.path) == ["A1-thumb.jpg"])
    #expect(report.failed.first?.reason.hasPrefix("cannot write ") == true)
    #expect(report.copied == 6 && report.missing.isEmpty && report.unfinished == 0)
    let catalog = String(decoding: try folder.read("out/catalog.json"), as: UTF8.self)
    #expect(!catalog.contains(#""path":"A1-thumb.jpg""#) && catalog.contains("A2-thumb.jpg"))
  }

  @Test func `a file that no export wrote is listed and stays, also in later exports`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    try folder.write("mine", to: "out/A1-thumb.jpg")
    try folder.write("mine", to: "out/catalog.json")

    for _ in 0..<2 {
      let report = try Self.export(folder)

      #expect(report.failed.map(\.path) == ["A1-thumb.jpg", "catalog.json"])
      #expect(report.failed.allSatisfy { $0.reason.contains("no export wrote it") })
      #expect(report.files == 6 && !report.hasDocument)
      #expect(try folder.read("out/A1-thumb.jpg") == Array("mine".utf8))
      #expect(try folder.read("out/catalog.json") == Array("mine".utf8))
    }
    for name in ["A1-thumb.jpg", "catalog.json"] {
      try FileManager.default.removeItem(atPath: folder.path("out/\(name)"))
    }
    let report = try Self.export(folder)
    #expect(report.failed.isEmpty && report.hasDocument && report.files == 7)
  }

  @Test func `a symbolic link given by the user is followed, for the cache and the export`() throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    for name in ["disk", "www"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name),
        withIntermediateDirectories: true
      )
    }
    for (link, target) in [("cache", "disk"), ("out", "www")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.path(link),
        withDestinationPath: folder.path(target)
      )
    }

    #expect(try shop.sync(folder).outcome == .complete)
    let report = try Self.export(folder)

    #expect(report.copied == 4)
    #expect(folder.state(of: "disk/index.sqlite") != nil)
    #expect(folder.state(of: "www/catalog.json") != nil)
    #expect(try CacheCheck(folder.path("cache/"), holder: nil).run(.full).isClean)
  }

  @Test func `of several catalogs in a cache, one must be named`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    _ = try shop.sync(folder, shop.catalog(name: "one"))
    _ = try shop.sync(folder, shop.catalog(name: "two"))

    #expect(throws: LarderError.self) { try Self.export(folder) }
    _ = try CacheExport(cache: folder.path("cache"), catalog: "two").run(into: folder.path("out"))

    let document = try Self.json(try folder.read("out/catalog.json")) as? [String: Any]
    #expect(document?["catalog"] as? String == "two")
  }

  @Test func `an export without changes writes nothing`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    _ = try Self.export(folder, deletes: true)
    let before = folder.files(below: "out")

    let again = try Self.export(folder, deletes: true)

    #expect(again.unchanged == 7 && again.copied == 0 && again.deleted == 0)
    #expect(folder.files(below: "out") == before)
  }

  @Test func `pictures no longer in the catalog are deleted on request, but never foreign files`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 3)
    _ = try shop.sync(folder)
    _ = try Self.export(folder)
    try folder.write("mine", to: "out/mine.jpg")
    try folder.write("mine", to: "out/deeper/A1-thumb.jpg")
    shop.items["A"]?.removeFirst()
    try shop.publish()
    var options = SyncOptions()
    options.allowRemovals = true
    _ = try shop.sync(folder, options: options)

    let kept = try Self.export(folder)
    #expect(kept.deleted == 0 && folder.state(of: "out/A1-thumb.jpg") != nil)
    try folder.write("changed by hand since", to: "out/A1-top.jpg")
    let report = try Self.export(folder, deletes: true)

    #expect(report.deleted == 2)
    let names = Set(folder.files(below: "out").keys.map { $0.dropFirst("out/".count) })
    #expect(
      names == [
        "A1-top.jpg", "A2-1.jpg", "A2-thumb.jpg", "A2-top.jpg", "A3-1.jpg", "A3-thumb.jpg",
        "A3-top.jpg", "catalog.json", "common.jpg", "deeper/A1-thumb.jpg", "export.json",
        "mine.jpg",
      ]
    )
  }

  @Test func `a picture missing from the cache is not deleted from the export`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    _ = try shop.sync(folder)
    _ = try Self.export(folder)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let path = try #require(try reader.list()[0].thumbnail?.path)
    try FileManager.default.removeItem(atPath: folder.path("cache/\(path)"))

    let report = try Self.export(folder, deletes: true)

    #expect(report.missing.count == 1 && report.deleted == 0)
    #expect(folder.state(of: "out/A1-thumb.jpg") != nil)
  }

  @Test(arguments: [false, true])
  func `a picture whose file is damaged is missing from the export`(copies: Bool) throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    _ = try shop.sync(folder)
    let reader = try CatalogReader(cache: folder.path("cache"), catalog: nil)
    let path = try #require(try reader.list()[0].thumbnail?.path)
    let bytes = try folder.read("cache/\(path)")

    for damaged in [[], Array(bytes.dropLast())] {
      try folder.write(damaged, to: "cache/\(path)")
      let report = try Self.export(folder, copies: copies)
      #expect(report.missing.count == 1)
      #expect(folder.state(of: "out/A1-thumb.jpg") == nil)
    }
  }

  @Test func `a planted record of an export cannot lead out of the folder`() throws {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 2)
    _ = try shop.sync(folder)
    try folder.write("secret", to: "secret.jpg")
    try folder.write(#"{"files":{"../secret.jpg":{"bytes":6}}}"#, to: "out/export.json")

    #expect(try Self.export(folder, deletes: true).deleted == 0)
    #expect(folder.state(of: "secret.jpg") != nil)
  }

  @Test func `pictures with hostile names get file names that no web server executes or hides`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 0)
    let names = [
      "x.html", "x.php", "y.php.jpg", ".htaccess", "web.config", "manifest.jsonl", "catalog.json",
      "index.html", "X.HTML",
    ]
    let script = Array("GIF89a<script>alert(1)</script>;".utf8)
    shop.store.content["/pictures/x.html"] = Resource(script, type: "text/html")
    let items = names.enumerated().map { number, name in
      #"{"detail_hash": "\#(number)", "title": "t", "image": "/pictures/\#(name)"}"#
    }
    shop.put("[\(items.joined(separator: ","))]", at: "/shop/A")
    _ = try shop.sync(folder, shop.catalog(detail: false))

    let report = try Self.export(folder)

    #expect(report.missing.isEmpty)
    let files = Set(folder.files(below: "out").keys.map { String($0.dropFirst("out/".count)) })
    let own: Set = ["catalog.json", "export.json"]
    #expect(files.isSuperset(of: own))
    let pictures = files.subtracting(own)
    #expect(pictures.count == names.count)
    #expect(pictures.isSuperset(of: ["x-html.gif", "x-php.jpg", "y-php.jpg", "%2Ehtaccess.jpg"]))
    #expect(pictures.allSatisfy { $0.hasSuffix(".gif") || $0.hasSuffix(".jpg") })
    #expect(try folder.read("out/x-html.gif") == script)
  }

  @Test func `the next export removes the temporary files of a killed one, and no other files`()
    throws
  {
    let folder = try TemporaryFolder()
    let shop = try SampleShop(sections: 1, items: 1)
    _ = try shop.sync(folder)
    // 4194305 is above Linux's largest process id; process 1 always exists.
    let left = [
      ".larder-4194305.tmp", ".larder-4194399.tmp", ".larder-4194305-catalog.json.tmp",
    ]
    let others = [
      ".larder-1.tmp", ".larder-x.tmp", ".larder-04194305.tmp", ".larder--5.tmp",
      ".larder-4194305",
      "larder-4194305.tmp", ".larder-4194305.tmp.jpg",
      ".larder-4194305-own.tmp", ".larder-4194305.own.tmp",
    ]
    for name in left + others { try folder.write("half", to: "out/\(name)") }
    try folder.write("mine", to: "out/.larder-4194306.tmp/mine")

    _ = try Self.export(folder)

    for name in left { #expect(folder.state(of: "out/\(name)") == nil, "\(name)") }
    for name in others + [".larder-4194306.tmp/mine"] {
      #expect(folder.state(of: "out/\(name)") != nil, "\(name)")
    }
  }

  @Test(
    arguments: [
      (".larder-12.tmp", 12), (".larder-0.tmp", nil), (".larder-+1.tmp", nil),
      (".larder-.tmp", nil), (".larder-12-catalog.json.tmp", 12), (".larder-12-x.tmp", nil),
      (".larder-99999999999.tmp", nil), (".larder-1.tmp ", nil), ("", nil), (".tmp", nil),
    ] as [(String, pid_t?)]
  )
  func `a temporary file's name contains the process id`(_ name: String, _ process: pid_t?) {
    #expect(ExportFolder.owner(of: name) == process)
  }
}
