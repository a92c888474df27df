import Foundation
import Support
import Testing

/// `larder verify`, which checks and repairs the files of a cache.
@Suite struct VerifyTests {
  private static let keys = keyPaths(
    "checked damaged missing stray unreadable index complete clean"
  )

  @Test func `for a clean cache the status is 0, and the document has all keys`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)

    let verify = try shop.larder("verify", "--json")
    let report = try Document(verify)

    #expect(verify.status == 0)
    #expect(report.keys == Self.keys)
    #expect(report["checked"].int == 5)
    #expect(report["clean"].bool == true)
    #expect(try shop.larder("verify").output == "5 pictures checked: clean\n")
  }

  @Test
  func `damage has status 74, is removed by --repair, and is fetched again by the next sync`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let list = try Document(try shop.larder("list", "--json"))
    let paths = try (0..<3).map { try #require(list[$0]["thumbnail"]["path"].string) }
    let bytes = try Data(contentsOf: URL(filePath: "\(shop.cache)/\(paths[0])"))
    let damaged = Data(bytes.dropLast() + [0])
    try damaged.write(to: URL(filePath: "\(shop.cache)/\(paths[0])"))
    try FileManager.default.removeItem(atPath: "\(shop.cache)/\(paths[1])")
    _ = try shop.folder.write("nobody's", to: "cache/images/stray.jpg")

    let verify = try shop.larder("verify", "--json")
    let report = try Document(verify)

    #expect(verify.status == 74)
    #expect(report.keys == Self.keys)
    #expect(report["damaged"].strings == [paths[0]])
    #expect(report["missing"].strings == [paths[1]])
    #expect(report["stray"].strings == ["images/stray.jpg"])
    #expect(report["clean"].bool == false)

    let repair = try shop.larder("verify", "--repair")
    #expect(repair.output.contains("1 damaged, 1 missing, 1 stray; repaired"))
    #expect(try shop.larder("verify").status == 0)
    let sync = try Document(try shop.sync("--json"))
    #expect(sync["images"]["fetched"].int == 2)
    #expect(try Data(contentsOf: URL(filePath: "\(shop.cache)/\(paths[0])")) == bytes)
    #expect(try shop.larder("verify").status == 0)
  }

  @Test
  func `a file without a row that fits a known URL is adopted by --repair, not fetched again`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let item = try Document(try shop.larder("show", "S1", "--json"))
    let path = try #require(item["thumbnail"]["path"].string)
    let aside = shop.folder.path("aside.jpg")
    try FileManager.default.moveItem(atPath: "\(shop.cache)/\(path)", toPath: aside)
    #expect(try shop.larder("verify", "--repair").status == 74)
    try FileManager.default.moveItem(atPath: aside, toPath: "\(shop.cache)/\(path)")

    #expect(try Document(try shop.larder("verify", "--json"))["stray"].strings == [path])
    #expect(try shop.larder("verify", "--repair").status == 74)

    #expect(try Document(try shop.larder("verify", "--json"))["checked"].int == 5)
    #expect(try shop.larder("verify").status == 0)
    #expect(try Document(try shop.sync("--json"))["images"]["fetched"].int == 0)
  }

  @Test(arguments: ["--thumbnails-only", "--no-details"])
  func `a sync that skips pictures does not remove those that it did not request`(
    _ flag: String
  ) throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    try FileManager.default.removeItem(atPath: "\(shop.cache)/index.sqlite")
    #expect(try shop.sync(flag).status == 0)

    let report = try Document(try shop.sync("--json"))

    #expect(report["outcome"].string == "complete")
    #expect(report["images"]["fetched"].int == 0)
    #expect(try shop.larder("verify").status == 0)
  }
}
