import Foundation
import Glibc
import SampleStore
import Testing

/// The commands that read a cache: `list`, `show`, `diff` and `status`.
@Suite struct ReadingTests {
  private static let image = "role url path sha256 bytes type state"
  private static let price = "minorUnits currency"

  @Test func `list prints every listing in the catalog's order, with all keys`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)

    let list = try Document(try shop.larder("list", "--json"))

    #expect(
      list.keys
        == keyPaths(
          """
          []: id section title description badges deliveryTypes normalPrice salePrice lowest30Days latitude \
          longitude address stale thumbnail images
          [].normalPrice: \(Self.price)
          [].lowest30Days: \(Self.price) at
          [].salePrice: \(Self.price)
          [].thumbnail: \(Self.image)
          [].images[]: \(Self.image)
          """
        )
    )
    #expect(list.count == 3)
    #expect((0..<3).map { list[$0]["id"].string } == ["A1", "A2", "S1"])
    #expect((0..<3).map { list[$0]["section"].string } == ["main", "main", "soup"])
    let first = list[0]
    #expect(first["title"].string == "반찬 A1")
    #expect(first["description"].string == "맛있는 A1")
    #expect(first["badges"].strings == ["이벤트특가"])
    #expect(first["deliveryTypes"].strings == ["새벽배송"])
    #expect(first["normalPrice"]["minorUnits"].int == 8000)
    #expect(first["salePrice"]["minorUnits"].int == 7000)
    #expect(first["salePrice"]["currency"].string == "KRW")
    #expect(first["stale"].bool == false)
    let picture = first["thumbnail"]
    #expect(picture["role"].string == "thumbnail")
    #expect(picture["url"].string == "\(shop.store.baseURL)/pictures/A1.jpg")
    #expect(picture["type"].string == "image/jpeg")
    #expect(picture["state"].string == "held")
    let file = try #require(picture["path"].string)
    let bytes = try Data(contentsOf: URL(filePath: "\(shop.cache)/\(file)"))
    #expect(Array(bytes) == Shop.picture("A1").bytes)
    #expect(picture["bytes"].int == bytes.count)
    #expect(picture["sha256"].string?.wholeMatch(of: #/[0-9a-f]{64}/#) != nil)
    #expect(list[2]["images"].count == 0)
  }

  @Test
  func `list takes a section and a search, and suggests the nearest section for an unknown one`()
    throws
  {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)

    #expect(try Document(try shop.larder("list", "soup", "--json")).count == 1)
    #expect(try Document(try shop.larder("list", "--search", "a2", "--json")).count == 1)
    #expect(try Document(try shop.larder("list", "--search", "없다", "--json")).count == 0)
    let wrong = try shop.larder("list", "sopu")
    #expect(wrong.status == 1)
    #expect(wrong.errors.contains("soup"))
  }

  @Test func `show prints one item with its sections and detail, with all keys`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)

    let show = try Document(try shop.larder("show", "A1", "--json"))

    #expect(
      show.keys
        == keyPaths(
          """
          id sections title description badges deliveryTypes normalPrice salePrice lowest30Days latitude \
          longitude address stale thumbnail images detail
          normalPrice: \(Self.price)
          lowest30Days: \(Self.price) at
          salePrice: \(Self.price)
          thumbnail: \(Self.image)
          images[]: \(Self.image)
          detail: description prices notes stale since
          detail.prices[]: \(Self.price)
          detail.notes: point delivery_info delivery_fee
          """
        )
    )
    #expect(show["sections"].strings == ["main"])
    #expect(show["images"][0]["role"].string == "top")
    #expect(show["images"].count == 2)
    let wrong = try shop.larder("show", "A9")
    #expect(wrong.status == 1)
    #expect(wrong.errors.contains("A1"))
  }

  @Test
  func `a picture that was never fetched is shown as failed, without a path but with all keys`()
    throws
  {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    #expect(try shop.sync().status == 3)

    let picture = try Document(try shop.larder("show", "S1", "--json"))["thumbnail"]

    #expect(picture.keys == keyPaths(Self.image))
    #expect(picture["state"].string == "failed")
    #expect(picture["path"].isNull && picture["sha256"].isNull && picture["bytes"].isNull)
  }

  @Test func `diff prints the changes between two runs, with all keys`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.list([Shop.item("A2", price: "6,500원"), Shop.item("A3", picture: "A1")], in: "main")
    shop.store.content["/pictures/A2.jpg"] = Shop.picture("A2, taken anew")
    #expect(try shop.sync().status == 0)

    let diff = try Document(try shop.larder("diff", "--json"))
    let text = try shop.larder("diff")

    #expect(
      diff.keys.isSuperset(
        of: keyPaths(
          """
          catalog old new added removed changed pictures
          added[]: id section
          removed[]: id section
          changed[]: id section field from to
          """
        )
      )
    )
    #expect(diff["old"].int == 1 && diff["new"].int == 2)
    #expect(diff["added"][0]["id"].string == "A3")
    #expect(diff["removed"][0]["id"].string == "A1")
    #expect(diff["changed"][0]["field"].string == "salePrice")
    #expect(text.lines.contains("+ main/A3"))
    #expect(text.lines.contains("- main/A1"))
    #expect(text.lines.contains("~ main/A2 salePrice: 7000 → 6500"))
    #expect(try Document(try shop.larder("diff", "1", "1", "--json"))["changed"].count == 0)
    #expect(try shop.larder("diff", "1", "9").status == 1)
  }

  @Test func `runs are listed newest first, with all keys`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.store.stop()
    #expect(try shop.sync().status == 69)

    let runs = try Document(try shop.larder("diff", "--runs", "--json"))

    #expect(runs.keys == keyPaths("[]: run started finished outcome"))
    #expect((0..<2).map { runs[$0]["run"].int } == [2, 1])
    #expect((0..<2).map { runs[$0]["outcome"].string } == ["partial", "complete"])
    #expect(try shop.larder("diff", "--runs").lines.count == 2)
  }

  @Test func `status describes the cache, with all keys`() throws {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    #expect(try shop.sync().status == 3)

    let status = try Document(try shop.larder("status", "--json"))

    #expect(
      status.keys
        == keyPaths(
          """
          catalogs pictures bytes oldestCheck failing
          catalogs[]: name run finished outcome complete items stale failing
          failing[]: url reason since
          """
        )
    )
    #expect(status["pictures"].int == 4)
    #expect(status["catalogs"][0]["complete"].isNull)
    #expect(status["failing"][0]["reason"].string == "http-404")
    #expect(try shop.larder("status").output.contains("failing pictures: 1"))
  }

  @Test func `status --check is 3 before a complete run and 0 after one`() throws {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    #expect(try shop.sync().status == 3)

    let late = try shop.larder("status", "--check", "6h", "--quiet")
    #expect(late.status == 3 && late.output == "")
    #expect(late.errors.contains("no complete run within 6 h 0 min: banchan never"))
    shop.store.faults = []
    #expect(try shop.sync().status == 0)
    #expect(try shop.larder("status", "--check", "6h", "--quiet").status == 0)
  }

  @Test func `every reading command works while a sync runs`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.list([Shop.item("A1", price: "6,500원"), Shop.item("A2")], in: "main")
    shop.store.faults = try FaultScript(text: "path=/develop/soup hang")
    shop.store.clearRequests()
    let sync = try shop.startSync(requests: 4)

    for arguments in [
      ["list"], ["show", "A1"], ["diff"], ["diff", "--runs"], ["status"], ["verify"], ["report"],
    ] {
      let command = try Command.larder(arguments + ["--cache", shop.cache])
      #expect(command.status == 0, "\(arguments): \(command.errors)")
      #expect(command.errors == "")
    }
    let item = try Document(try shop.larder("show", "A1", "--json"))
    #expect(item["salePrice"]["minorUnits"].int == 7000)
    #expect(try shop.larder("verify", "--repair").status == 75)

    sync.send(SIGINT)
    #expect(try sync.wait().status == 130)
  }

  @Test func `a file may be a pipe with a slow writer, and a too long file is refused`() throws {
    let shop = try Shop()
    let long = try shop.folder.write(String(repeating: "a", count: (1 << 16) + 1), to: "long")

    let piped = try Command.shell(
      #""$larder" sync <(sleep 0.3; cat "$catalog") --dry-run --cache "$cache""#,
      environment: ["catalog": shop.catalog, "cache": shop.cache]
    )
    let secret = try Command.larder(["notify", "--webhook-url-file", long, "--cache", shop.cache])

    #expect(piped.status == 0, "\(piped.errors)")
    #expect(secret.status == 64)
    #expect(secret.errors.contains("long: it has more than 64"), "\(secret.errors)")
  }
}
