import Foundation
import Support
import Testing

/// Caches of earlier and later versions of larder.
@Suite struct VersionTests {
  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "CacheTests/Fixtures")

  /// Replaces a shop's index by a fixture.
  private func place(_ name: String, in shop: Shop) throws {
    try FileManager.default.createDirectory(
      atPath: "\(shop.cache)/images",
      withIntermediateDirectories: true
    )
    try FileManager.default.createDirectory(
      atPath: "\(shop.cache)/partial",
      withIntermediateDirectories: true
    )
    try? FileManager.default.removeItem(atPath: "\(shop.cache)/index.sqlite")
    try FileManager.default.copyItem(
      at: Self.fixtures.appending(path: "\(name).sqlite"),
      to: URL(filePath: "\(shop.cache)/index.sqlite")
    )
  }

  /// Writes the pictures that the fixture's index refers to.
  private func placePictures(in shop: Shop) throws {
    let list = try Document(try shop.larder("list", "--json"))
    for (place, label) in ["A1 1", "B2 0", "C3 1"].enumerated() {
      let path = try #require(list[place]["thumbnail"]["path"].string)
      let file = URL(filePath: "\(shop.cache)/\(path)")
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(),
        withIntermediateDirectories: true
      )
      let head = Data([0xFF, 0xD8, 0xFF, 0xE0] + Array(label.utf8))
      let filling = Data(repeating: 0x20, count: 62 - head.count)
      try (head + filling + Data([0xFF, 0xD9])).write(to: file)
    }
  }

  @Test func `reading commands show a cache of an older larder and leave its index unchanged`()
    throws
  {
    let shop = try Shop()
    try place("v4", in: shop)
    try placePictures(in: shop)
    let before = try Data(contentsOf: URL(filePath: "\(shop.cache)/index.sqlite"))

    let list = try Document(try shop.larder("list", "--json"))
    let show = try shop.larder("show", "A1")
    let status = try shop.larder("status")
    let verify = try shop.larder("verify")
    let diff = try shop.larder("diff", "--json")

    #expect((0..<3).map { list[$0]["id"].string } == ["A1", "B2", "C3"])
    #expect(list[0]["thumbnail"]["state"].string == "held")
    #expect(show.status == 0 && show.output.contains("갈비탕"))
    #expect(status.status == 0 && status.output.contains("shop"))
    #expect(verify.status == 0 && verify.output == "3 pictures checked: clean\n")
    #expect(diff.status == 0 && diff.output.contains("C3"))
    #expect(try Data(contentsOf: URL(filePath: "\(shop.cache)/index.sqlite")) == before)
  }

  @Test func `verify --repair and sync migrate a cache of an older larder completely`() throws {
    let shop = try Shop()
    try place("v4", in: shop)
    try placePictures(in: shop)

    #expect(try shop.larder("verify", "--repair").output == "3 pictures checked: clean\n")
    #expect(try shop.sync().status == 0)

    let list = try Document(try shop.larder("list", "--json", "--catalog", "shop"))
    #expect((0..<3).map { list[$0]["thumbnail"]["state"].string } == ["held", "held", "held"])
    #expect(try shop.larder("verify").output == "8 pictures checked: clean\n")
  }

  @Test func `every command refuses the cache of a newer larder by its version, status 74`() throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let index = URL(filePath: "\(shop.cache)/index.sqlite")
    var bytes = try Data(contentsOf: index)
    // `user_version`, big-endian. (https://sqlite.org/fileformat.html, section 1.3)
    bytes.replaceSubrange(60..<64, with: [0, 0, 0, 99])
    try bytes.write(to: index)
    let files = try shop.folder.contents(below: "cache/images")

    let commands = [
      ["sync", shop.catalog], ["warm", shop.catalog], ["sync", "--dry-run", shop.catalog],
      ["list"],
      ["show", "A1"], ["status"], ["diff"], ["verify"], ["verify", "--repair"], ["gc"],
      ["gc", "--dry-run"], ["export", shop.folder.path("out")],
    ]
    for command in commands {
      let run = try Command.larder(command + ["--cache", shop.cache])
      #expect(run.status == 74, "\(command)")
      #expect(run.errors.contains("index.sqlite: it was written by a newer larder (schema 99, "))
    }

    #expect(try Data(contentsOf: index) == bytes)
    #expect(try shop.folder.contents(below: "cache/images") == files)
    #expect(try !shop.folder.contents(below: "cache").keys.contains { $0.contains("damaged") })
  }
}
