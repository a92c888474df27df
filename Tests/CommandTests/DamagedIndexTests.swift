import Foundation
import SampleStore
import Support
import Testing

/// Runs of `sync` and `warm` on a damaged index.
@Suite struct DamagedIndexTests {
  private func aside(_ shop: Shop) throws -> [Data] {
    try shop.folder.contents(below: "cache")
      .filter { $0.key.hasPrefix("index.sqlite.damaged-") && !$0.key.hasSuffix("-journal") }
      .map(\.value)
  }

  @Test(arguments: ["sync", "warm"])
  func `a damaged index is set aside and rebuilt with a message and without a download`(
    _ command: String
  ) throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let garbage = String(repeating: "no database ", count: 999)
    _ = try shop.folder.write(garbage, to: "cache/index.sqlite")

    let run = try Command.larder([command, shop.catalog, "--cache", shop.cache, "--json"])
    let report = try Document(run)

    #expect(run.status == 0)
    #expect(
      run.errors.contains("was damaged; it was renamed to \(shop.cache)/index.sqlite.damaged-20")
    )
    #expect(report["outcome"].string == "complete")
    #expect(report["images"]["fetched"].int == 0)
    #expect(report["images"]["revalidated"].int == 5)
    #expect(try aside(shop) == [Data(garbage.utf8)])
    #expect(try shop.larder("verify").output == "5 pictures checked: clean\n")
    let again = try Command.larder([command, shop.catalog, "--cache", shop.cache])
    #expect(again.status == 0 && !again.errors.contains("damaged"))
    #expect(try aside(shop).count == 1)
  }

  @Test func `whichever page of the index is damaged, a sync succeeds and fetches nothing again`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    let index = URL(filePath: "\(shop.cache)/index.sqlite")
    let whole = try Data(contentsOf: index)
    var said = 0

    for page in stride(from: 0, to: whole.count / 16_384, by: 2) {
      var bytes = whole
      bytes.replaceSubrange(
        page * 16_384..<(page + 1) * 16_384,
        with: Data(repeating: 0xA5, count: 16_384)
      )
      try bytes.write(to: index)
      let run = try shop.sync("--json")
      #expect(run.status == 0, "page \(page): \(run.errors)")
      #expect(try Document(run)["images"]["fetched"].int == 0, "page \(page)")
      if run.errors.contains("was damaged") { said += 1 }
    }

    #expect(said > 3)
    #expect(try aside(shop).count == said)
  }

  @Test
  func
    `whichever page is damaged, a run detects all damage that list detects, and list works afterwards`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    // Fresh data is not requested, so that the run reads as little of the index as possible.
    shop.store.faults = [FaultRule("*", .header("Cache-Control", "max-age=86400"))]
    #expect(try Command.larder(["warm", shop.catalog, "--cache", shop.cache]).status == 0)
    let index = URL(filePath: "\(shop.cache)/index.sqlite")
    let whole = try Data(contentsOf: index)
    let list = try shop.larder("list", "--json").output
    var found = 0

    for page in 0..<whole.count / 16_384 {
      // The head of the page, or the cells at its end.
      let parts = [page == 0 ? 100 : 0, 16_188]
      for place in Sweep.places(2, part: page, step: 2) {
        let part = parts[place]
        var bytes = whole
        let start = page * 16_384 + part
        for place in start..<start + 64 { bytes[place] ^= 0xFF }
        try bytes.write(to: index)
        let before = try shop.larder("list", "--json")
        #expect(before.status == 0 || !before.output.hasPrefix("["), "page \(page), part \(part)")

        let run = try Command.larder(["warm", shop.catalog, "--cache", shop.cache])
        let after = try shop.larder("list", "--json")

        let said = run.errors.contains("was damaged")
        // If the damage looks like a shorter listing, the shrink guard withholds it, with a
        // message.
        let isWithheld = run.status == 4 && run.errors.contains("withheld")
        #expect(run.status == 0 || isWithheld, "page \(page), part \(part): \(run.errors)")
        #expect(after.status == 0, "page \(page), part \(part): \(after.errors)")
        #expect(before.status == 0 || said, "page \(page), part \(part)")
        #expect(
          said || after.output.contains("A1"),
          "page \(page), part \(part): \(run.errors) \(before.output) \(after.output)"
        )
        if said { found += 1 }
      }
    }
    #expect(found > (Sweep.isWhole ? 10 : 5) && !list.isEmpty)
  }
}
