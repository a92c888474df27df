import Foundation
import Glibc
import Imaging
import SampleStore
import Support
import Testing

/// The square crops that `larder sync --square` makes of all pictures.
@Suite struct SquareTests {
  @Test func `a sync keeps an up-to-date square of every picture`() throws {
    let shop = try Self.shop()

    let first = try shop.sync("--square", "32", "--json")
    #expect(first.status == 0)
    #expect(try Self.counts(first) == ["made": 5, "fresh": 0, "removed": 0, "unfit": 0])
    #expect(try Self.squares(shop).values.allSatisfy { $0 == 32 })
    #expect(try Self.squares(shop).keys.sorted() == (try Self.pictures(shop)))

    let second = try shop.sync("--square", "32", "--json")
    #expect(try Self.counts(second) == ["made": 0, "fresh": 5, "removed": 0, "unfit": 0])

    let before = try shop.folder.contents(below: "cache/squares")
    shop.store.content["/pictures/S1.jpg"] = try Self.photo(9, modified: 1_620_000_000)
    let third = try shop.sync("--square", "32", "--json")
    #expect(try Self.counts(third) == ["made": 1, "fresh": 4, "removed": 0, "unfit": 0])
    let after = try shop.folder.contents(below: "cache/squares")
    #expect(after.filter { before[$0.key] != $0.value }.count == 1)
    #expect(try shop.larder("verify").status == 0)
    #expect(try Document(try shop.larder("verify", "--json"))["checked"].int == 10)
  }

  @Test
  func `the server's square equals that of crop, is stored, and is used by a sync`()
    throws
  {
    let shop = try Self.shop()
    _ = try shop.sync()
    let server = try Served(shop, "--squares", "32,16")
    let pictures = try Self.pictures(shop)
    let path = try #require(pictures.first)

    let square = try server.get("/images/\(path)?square=32")
    let again = try server.get("/images/\(path)?square=32")

    let out = shop.folder.path("crops")
    let crop = ["crop", "\(shop.cache)/images/\(path)", "--out", out, "--size", "32"]
    #expect(try Command.larder(crop).status == 0)
    let cropped = try shop.folder.contents(below: "crops").values.first
    #expect(square.status == 200 && square.body == cropped.map(Array.init))
    #expect(square["Content-Type"] == "image/jpeg")
    #expect(again.body == square.body && again["ETag"] != nil && again["Last-Modified"] != nil)
    for name in ["ETag", "Last-Modified", "Cache-Control", "Accept-Ranges", "Content-Type"] {
      #expect(square[name] == again[name], "\(name)")
    }
    let tag = try #require(square["ETag"])
    #expect(try server.get("/images/\(path)?square=32", "If-None-Match: \(tag)").status == 304)
    #expect(try Self.squares(shop).keys.sorted() == [path])
    #expect(try shop.larder("verify").status == 0)
    #expect(try server.get("/images/\(path)?square=33").status == 400)
    let sync = try shop.sync("--square", "32", "--json")
    #expect(try Self.counts(sync)["fresh"] == 1)
    #expect(
      try server.get("/images/\(path)?square=32", "If-None-Match: \(again["ETag"] ?? "")").status
        == 304
    )
  }

  @Test func `a sync without squares makes none, and removes those of changed pictures`() throws {
    let shop = try Self.shop()
    #expect(try shop.sync("--square", "32").status == 0)
    shop.store.content["/pictures/S1.jpg"] = try Self.photo(9, modified: 1_620_000_000)

    let sync = try shop.sync("--json")

    #expect(sync.status == 0)
    #expect(try Document(sync)["squares"].isNull)
    #expect(try Self.squares(shop).count == 4)
    #expect(try Self.squares(shop).keys.allSatisfy { !$0.contains("S1-") })
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `squares of two sizes are kept beside each other`() throws {
    let shop = try Self.shop()
    #expect(try shop.sync("--square", "32").status == 0)

    #expect(try shop.sync("--square", "16").status == 0)

    #expect(try Self.squares(shop, side: 32).count == 5)
    #expect(try Self.squares(shop, side: 16).values.allSatisfy { $0 == 16 })
  }

  @Test func `an export copies squares and keeps those of an earlier export`() throws {
    let shop = try Self.shop()
    let out = shop.folder.path("out")
    #expect(try shop.sync("--square", "32").status == 0)

    let first = try shop.larder("export", out, "--flat", "--copy", "--squares", "--json")
    let files = try shop.folder.contents(below: "out")
    let again = try shop.larder(
      "export",
      out,
      "--flat",
      "--copy",
      "--squares",
      "--delete",
      "--json"
    )
    let plain = try shop.larder("export", out, "--flat", "--copy", "--delete", "--json")

    for command in [first, again] {
      #expect(command.status == 0)
      #expect(try Document(command)["squares"].int == 5)
    }
    #expect(try Document(plain)["deleted"].int == 0)
    #expect(files.keys.filter { $0.contains("squares/32/") && $0.hasSuffix(".jpg") }.count == 5)
    #expect(try shop.folder.contents(below: "out") == files)
  }

  @Test func `a picture that cannot be cropped is reported once and fails nothing`() throws {
    let shop = try Self.shop()
    let whole = try Self.photo(1).bytes
    shop.store.content["/pictures/A1.jpg"] = Resource(
      Array(whole.prefix(whole.count / 2)),
      type: "image/jpeg",
      cacheControl: "max-age=0"
    )
    shop.store.content["/pictures/A2.jpg"] = Resource(
      Array("GIF89a".utf8) + [40, 0, 30, 0, 0, 0, 0, 0x3B],
      type: "image/gif"
    )

    let first = try shop.sync("--square", "32", "--json")
    let second = try shop.sync("--square", "32", "--json")
    let people = try Self.shop().sync("--square", "32")

    #expect(first.status == 0)
    #expect(try Self.counts(first) == ["made": 3, "fresh": 0, "removed": 0, "unfit": 2])
    let failures = try Document(first)["squares"]["failures"]
    #expect(failures.count == 2)
    let reasons = [0, 1].compactMap { failures[$0]["reason"].string }
    #expect(reasons.contains { $0.contains("missing or damaged") })
    #expect(reasons.contains { $0.contains("ends before the picture begins") })
    #expect(failures[1]["path"].string?.hasPrefix("images/") == true)
    #expect(second.status == 0)
    #expect(try Self.counts(second) == ["made": 0, "fresh": 3, "removed": 0, "unfit": 2])
    #expect(try Document(second)["squares"]["failures"].count == 0)
    #expect(people.output.contains("squares   5 made (32 × 32)"))

    // A picture that is repaired gets its square again.
    shop.store.content["/pictures/A1.jpg"] = try Self.photo(1)
    let third = try shop.sync("--square", "32", "--json")
    #expect(
      try Self.counts(third) == ["made": 1, "fresh": 3, "removed": 0, "unfit": 1],
      "\(third.output)"
    )
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `squares are made of WebP and AVIF whatever their names`() throws {
    let shop = try Self.shop()
    // The names of these real files all end with .jpg, although their types differ. Shops serve
    // such files.
    for (name, kind, type) in [
      ("A1", "webp", "image/webp"), ("A1-top", "webp", "image/jpeg"), ("A2", "avif", "image/avif"),
    ] {
      shop.store.content["/pictures/\(name).jpg"] = Resource(
        try Self.bytes(ofSample: "faulty/\(kind)-named.jpg"),
        type: type,
        cacheControl: "max-age=0"
      )
    }

    let synced = try shop.sync("--square", "32", "--json")
    let crop = try Command.larder([
      "crop", shop.folder.path("cache/images"), "--out", shop.folder.path("crops"), "--json",
    ])

    #expect(try Self.counts(synced) == ["made": 5, "fresh": 0, "removed": 0, "unfit": 0])
    let endings = try Self.squares(shop).keys.map { $0.suffix(4) }.sorted()
    #expect(endings == [".jpg", ".jpg", "avif", "webp", "webp"])
    #expect(try shop.larder("verify").status == 0)
    #expect(crop.status == 0)
    #expect(crop.output.split(separator: "\n").count == 5)
  }

  @Test func `the square of a GIF is named .png, and is removed when the picture changes`()
    throws
  {
    let shop = try Self.shop()
    let gif: [UInt8] =
      Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
      + [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0, 0x3B]
    shop.store.content["/pictures/A1.jpg"] = Resource(
      gif,
      type: "image/gif",
      cacheControl: "max-age=0"
    )

    #expect(try shop.sync("--square", "32").status == 0)
    let path = try #require(try Self.squares(shop).keys.first { $0.hasSuffix(".png") })
    let bytes = try shop.folder.contents(below: "cache/squares/32")[path]
    let again = try shop.sync("--square", "32", "--json")
    // This is the state after a process is killed between the rename of a file and the write of its
    // row.
    try FileManager.default.createDirectory(
      atPath: shop.folder.path("cache/squares/24/\(path.prefix(2))"),
      withIntermediateDirectories: true
    )
    try bytes?.write(to: URL(filePath: shop.folder.path("cache/squares/24/\(path)")))
    let verified = try shop.larder("verify")
    shop.store.content["/pictures/A1.jpg"] = try Self.photo(9, modified: 1_620_000_000)
    let other = try shop.sync("--square", "32", "--json")

    #expect(bytes?.starts(with: [0x89, 0x50, 0x4E, 0x47]) == true)
    #expect(try Self.counts(again)["fresh"] == 5)
    #expect(verified.status == 0, "\(verified.output)")
    #expect(try Self.counts(other)["made"] == 1)
    #expect(try Self.squares(shop).keys.allSatisfy { $0.hasSuffix(".jpg") })
    #expect(try shop.larder("verify").status == 0)
  }

  @Test(arguments: [[], ["--quiet"]])
  func `a damaged photo is reported even with quiet output`(_ how: [String]) throws {
    let folder = try TemporaryFolder()

    let crop = try Command.larder(
      ["crop", "\(Command.samples)/faulty/truncated.jpg", "--out", folder.path("out")] + how
    )

    #expect(crop.status == 3)
    #expect(crop.errors.contains("truncated.jpg is missing or broken"), "\(crop.errors)")
    #expect(crop.output.contains("damaged") == how.isEmpty)
  }

  @Test func `verify finds damaged, missing and foreign squares, and repairs them`() throws {
    let shop = try Self.shop()
    #expect(try shop.sync("--square", "32").status == 0)
    let paths = try Self.squares(shop).keys.sorted()
    let (bad, gone) = ("cache/squares/32/\(paths[0])", "cache/squares/32/\(paths[1])")
    _ = try shop.folder.write("no picture", to: bad)
    try FileManager.default.removeItem(atPath: shop.folder.path(gone))
    _ = try shop.folder.write("x", to: "cache/squares/32/00-stranger.jpg")

    let found = try shop.larder("verify", "--json")
    let repaired = try shop.larder("verify", "--repair")
    let clean = try shop.larder("verify")
    let sync = try shop.sync("--square", "32", "--json")

    #expect(found.status == 74)
    #expect(try Document(found)["damaged"].strings == [String(bad.dropFirst(6))])
    #expect(try Document(found)["missing"].strings == [String(gone.dropFirst(6))])
    #expect(try Document(found)["stray"].strings == ["squares/32/00-stranger.jpg"])
    #expect(repaired.status == 74)
    #expect(clean.status == 0, "\(clean.output)")
    #expect(try Self.counts(sync) == ["made": 2, "fresh": 3, "removed": 0, "unfit": 0])
  }

  @Test func `a repair that forgets a picture removes its square too`() throws {
    let shop = try Self.shop()
    #expect(try shop.sync("--square", "32").status == 0)
    let path = try #require(try Self.squares(shop).keys.min())
    try FileManager.default.removeItem(atPath: "\(shop.cache)/images/\(path)")

    let repaired = try shop.larder("verify", "--repair")
    let clean = try shop.larder("verify")

    #expect(repaired.status == 74 && clean.status == 0, "\(clean.output)")
    #expect(try Self.squares(shop)[path] == nil && Self.squares(shop).count == 4)
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `an interrupted run leaves only whole squares`(_ signal: Int32) throws {
    let shop = try Self.shop(faults: "path=/pictures/S1.jpg hang")
    let sync = try shop.startSync(requests: Shop.requests, "--square", "32")

    sync.send(signal)

    #expect(try sync.wait().status == 128 + signal)
    #expect(try Self.squares(shop).values.allSatisfy { $0 == 32 })
    if signal == SIGTERM { #expect(try shop.larder("verify").status == 0) }
    shop.store.faults = []
    #expect(try shop.sync("--square", "32").status == 0)
    #expect(try Self.squares(shop).count == 5)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a square without a row is not an error, and is removed or made again`() throws {
    let shop = try Self.shop()
    #expect(try shop.sync("--square", "32").status == 0)
    let path = try #require(try Self.squares(shop).keys.sorted().first)
    // This is the state after a process is killed between the rename of a file and the write of its
    // row.
    try FileManager.default.createDirectory(
      atPath: shop.folder.path("cache/squares/24/\(path.prefix(2))"),
      withIntermediateDirectories: true
    )
    try FileManager.default.copyItem(
      atPath: shop.folder.path("cache/squares/32/\(path)"),
      toPath: shop.folder.path("cache/squares/24/\(path)")
    )

    #expect(try shop.larder("verify").status == 0)
    #expect(try shop.sync().status == 0)

    #expect(try Self.squares(shop, side: 24).isEmpty)
    #expect(try Self.squares(shop, side: 32).count == 5)
  }

  @Test(arguments: ["0", "4097", "many"])
  func `an invalid size is a usage error`(_ size: String) throws {
    #expect(try Self.shop().sync("--square", size).status == 64)
  }

  /// A shop with real photos that are stale at once.
  private static func shop(faults: String = "") throws -> Shop {
    let shop = try Shop(faults: faults)
    for (number, name) in ["A1", "A1-top", "A2", "A2-top", "S1"].enumerated() {
      shop.store.content["/pictures/\(name).jpg"] = try photo(number)
    }
    return shop
  }

  private static func bytes(ofSample path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: "\(Command.samples)/\(path)")))
  }

  private static func photo(_ number: Int, modified: Int = 1_610_000_000) throws -> Resource {
    let bitmap = Bitmap(
      width: 60,
      height: 45,
      layout: .rgb,
      samples: (0..<60 * 45 * 3).map { UInt8(truncatingIfNeeded: ($0 / 3 + number * 31) % 200) }
    )
    return Resource(
      try bitmap.jpeg(),
      type: "image/jpeg",
      lastModified: modified,
      cacheControl: "max-age=0"
    )
  }

  /// The paths of the squares, relative to their folder, with the side that each file's header
  /// gives.
  private static func squares(_ shop: Shop, side: Int = 32) throws -> [String: Int] {
    let files = (try? shop.folder.contents(below: "cache/squares/\(side)")) ?? [:]
    return try files.mapValues { bytes in
      let probe = try PictureFile([UInt8](bytes)).probe
      return probe.width == probe.height && !probe.isCutShort ? probe.width : 0
    }
  }

  private static func pictures(_ shop: Shop) throws -> [String] {
    try shop.folder.contents(below: "cache/images").keys.filter { $0.hasSuffix(".jpg") }.sorted()
  }

  private static func counts(_ sync: Command) throws -> [String: Int] {
    let squares = try Document(sync)["squares"]
    return ["made", "fresh", "removed", "unfit"].reduce(into: [:]) { $0[$1] = squares[$1].int }
  }
}
