import Foundation
import Glibc
import SampleStore
import Support
import Testing

/// `larder report`, which writes an HTML page about a catalog and its last run.
@Suite struct ReportTests {
  @Test func `report writes one page and prints a summary as JSON`() throws {
    let shop = try Shop(faults: "path=/pictures/S1.jpg status=404")
    _ = try shop.sync()
    let out = shop.folder.path("page.html")

    let first = try shop.larder("report", "--out", out, "--json")
    let document = try Document(first)
    let html = try String(contentsOfFile: out, encoding: .utf8)

    #expect(first.status == 0 && first.errors == "")
    #expect(document["path"].string == out && document["folder"].isNull)
    #expect(document["items"].int == 3 && document["bytes"].int == html.utf8.count)
    for text in ["반찬 A1", "메인반찬", "한그릇 뚝딱 메인 요리", "이벤트특가", "7,000원", "8,000원"] {
      #expect(html.contains(text), "\(text)")
    }
    #expect(
      html.contains("<html lang=\"en\">") && html.contains("<ul class=\"cards\" lang=\"ko\">")
    )
    #expect(html.contains("1 picture · http-404") && html.contains("1 item skipped"))
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("page.files")))
    #expect(try shop.larder("verify").status == 0)
  }

  @Test func `a report has the thumbnails in the page, and leaves nothing in the cache`() throws {
    let folder = try TemporaryFolder()
    let demo = ["demo", "--samples", Command.samples, "--cache", folder.path("cache")]
    #expect(try Command.larder(demo).status == 0)
    let report = ["report", "--cache", folder.path("cache"), "--out", folder.path("a.html")]

    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("cache"))
    let document = try Document(try Command.larder(report + ["--json"]))

    #expect((document["thumbnails"].int ?? 0) > 80)
    let html = try String(contentsOfFile: folder.path("a.html"), encoding: .utf8)
    #expect(html.contains("src=\"data:image/jpeg;base64,/9j/"))
    let after = try FileManager.default.contentsOfDirectory(atPath: folder.path("cache"))
    #expect(after.sorted() == names.sorted())
    // An earlier version of larder kept them in the cache.
    let kept = folder.path("cache/thumbnails/96/ab")
    try FileManager.default.createDirectory(atPath: kept, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: "\(kept)/ab.jpg"))
    #expect(try Command.larder(["gc", "--cache", folder.path("cache")]).status == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.path("cache/thumbnails")))
  }

  @Test func `report --since covers that time and shows the items that changed`() throws {
    let shop = try Shop()
    #expect(try shop.sync().status == 0)
    shop.list([Shop.item("A1", price: "5,900원"), Shop.item("A2")], in: "main")
    #expect(try shop.sync().status == 0)
    shop.list([Shop.item("A1", price: "5,900원"), Shop.item("A3", picture: "A1")], in: "main")
    #expect(try shop.sync().status == 0)

    let html = try shop.larder("report", "--since", "30d", "--out", "-").output
    let whole = try shop.larder("report", "--out", "-").output

    for text in [
      "Cheaper (1)", "−16%", "New (1)", "Gone (1)", "반찬 A2", "5,900원 – lowest in 30 days (",
    ] { #expect(html.contains(text), "\(text)") }
    #expect(html.split(separator: "<li class=c ").count == 3)
    #expect(!whole.contains("Cheaper (1)") && whole.contains("5,900원 – lowest in 30 days ("))
    #expect(whole.split(separator: "<li class=c ").count == 4)
    let refused = try shop.larder("report", "--since", "30")
    #expect(refused.status == 64 && refused.errors.contains("it needs a unit"))
  }

  @Test func `report overwrites a report, but another file only with --force`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let out = try shop.folder.write("my notes", to: "notes.html")

    let refused = try shop.larder("report", "--out", out)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("it exists and is not a report of larder"))
    #expect(try String(contentsOfFile: out, encoding: .utf8) == "my notes")

    #expect(try shop.larder("report", "--out", out, "--force").status == 0)
    #expect(try shop.larder("report", "--out", out, "--language", "ko").status == 0)
    let html = try String(contentsOfFile: out, encoding: .utf8)
    #expect(html.contains("<html lang=\"ko\">") && html.contains("카탈로그 보고서"))
  }

  @Test func `- writes the page to stdout, in the environment's language`() throws {
    let shop = try Shop()
    _ = try shop.sync()

    let page = try shop.larder("report", "--out", "-", environment: ["LANG": "ko_KR.UTF-8"])

    #expect(page.status == 0 && page.errors == "")
    #expect(page.output.hasPrefix("<!doctype html>") && page.output.contains("<html lang=\"ko\">"))
    #expect(try shop.larder("report", "--out", "-", "--json").status == 64)
    #expect(try shop.larder("report", "--language", "fr").status == 64)
  }

  @Test func `a missing cache, catalog or output folder is reported`() throws {
    let shop = try Shop()

    let empty = try shop.larder("report")
    #expect(empty.status == 1 && empty.errors.contains("run larder sync"))
    _ = try shop.sync()
    #expect(
      try shop.larder("report", "--catalog", "bancha").errors.contains("did you mean banchan?")
    )
    let lost = try shop.larder("report", "--out", shop.folder.path("no/such/page.html"))
    #expect(lost.status == 74)
    #expect(try shop.larder("report", "--out", shop.folder.path).status == 64)
  }

  @Test func `with several catalogs in a cache, one must be named`() throws {
    let shop = try Shop()
    _ = try shop.sync()
    let yaml = try String(contentsOfFile: shop.catalog, encoding: .utf8)
    let other = try shop.folder.write(
      yaml.replacing("name: banchan", with: "name: kimchi"),
      to: "kimchi.yaml"
    )
    #expect(try Command.larder(["sync", other, "--cache", shop.cache]).status == 0)

    let any = try shop.larder("report", "--out", "-")
    let one = try shop.larder("report", "--out", "-", "--catalog", "kimchi")

    #expect(any.status == 64 && any.errors.contains("name one with --catalog"))
    #expect(one.status == 0 && one.output.contains("<h1>kimchi</h1>"))
  }

  @Test func `beyond 2000 items pictures are written beside the page, and other files are kept`()
    throws
  {
    let shop = try Shop()
    let path = "\(Command.samples)/photo"
    let photo = try #require(
      try FileManager.default.contentsOfDirectory(atPath: path).sorted().first {
        $0.hasSuffix(".jpg")
      }
    )
    let bytes = try Data(contentsOf: URL(filePath: "\(path)/\(photo)"))
    shop.store.content["/pictures/P.jpg"] = Resource([UInt8](bytes), type: "image/jpeg")
    shop.list((1...2001).map { Shop.item("B\($0)", picture: "P") }, in: "main")
    #expect(try shop.sync("--no-details").status == 0)
    let out = shop.folder.path("big.html")
    let mine = try shop.folder.write("mine", to: "big.files/notes.txt")
    let old = try shop.folder.write("old", to: "big.files/0123456789abcdef01234567.jpg")

    let document = try Document(try shop.larder("report", "--out", out, "--json"))
    let files = try FileManager.default.contentsOfDirectory(atPath: shop.folder.path("big.files"))
    let html = try String(contentsOfFile: out, encoding: .utf8)

    #expect(document["folder"].string == shop.folder.path("big.files"))
    #expect(files.count == 2 && files.contains("notes.txt"))
    #expect(FileManager.default.fileExists(atPath: mine))
    #expect(!FileManager.default.fileExists(atPath: old))
    let picture = try #require(files.first { $0.hasSuffix(".jpg") })
    #expect(html.contains("src=\"big.files/\(picture)\""))

    _ = try shop.folder.write("a file", to: "other.files")
    let blocked = try shop.larder("report", "--out", shop.folder.path("other.html"))
    #expect(blocked.status == 74 && blocked.errors.contains("other.files"))
    #expect(!FileManager.default.fileExists(atPath: shop.folder.path("other.html")))

    let page = try shop.larder("report", "--out", "-")
    #expect(page.errors.contains("without") || page.errors.contains("no thumbnails"))
    #expect(!page.output.contains("<img src="))
  }
}
