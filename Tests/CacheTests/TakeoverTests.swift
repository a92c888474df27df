import Base
import GRDB
import Support
import Testing

@testable import Cache

/// The migration of files and keys from larder versions whose file names contained only 47 bits of
/// a digest.
struct TakeoverTests {
  private let folder: TemporaryFolder
  private static let items = ["A1", "B2", "C3"]
  private static let pictures: Set<String> = [path("A1"), path("B2"), path("C3")]

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(_ disk: any Disk = SystemDisk(durable: false)) throws -> Index {
    try Index(CacheLayout(creating: folder.path("cache")), disk: disk)
  }

  /// Changes the old index with SQL before it is opened.
  private func alter(_ sql: String, _ arguments: StatementArguments = []) throws {
    let queue = try DatabaseQueue(path: folder.path("cache/index.sqlite"))
    try queue.write { try $0.execute(sql: sql, arguments: arguments) }
    try queue.close()
  }

  private func entry(_ url: String, _ index: Index) throws -> PictureEntry? {
    let id = PictureID(url: url)
    return try index.pictures([id])[id]
  }

  @Test
  func `files of an older cache are renamed together with their rows, and its squares removed`()
    throws
  {
    _ = try OldCache("v4-squares", in: folder)
    let before = Self.items.map { folder.state(of: OldCache.path($0))?.inode }

    let index = try open()

    #expect(Self.items.map { folder.state(of: path($0))?.inode } == before)
    #expect(Self.items.allSatisfy { folder.state(of: OldCache.path($0)) == nil })
    #expect(folder.files(below: "cache/squares").isEmpty)
    #expect(try index.squares().isEmpty)
    #expect(try entry(url("A1"), index)?.older == nil)
    #expect(try entry(url("A1"), index)?.isHeld == true)
  }

  @Test func `a migration of files that stops at any operation is completed at the next opening`()
    throws
  {
    _ = try OldCache("v4-squares", in: folder)
    let whole = FaultyDisk()
    _ = try open(whole)
    #expect(whole.operations.count { $0.hasPrefix("rename") } == 3)

    for number in 1...whole.operations.count {
      let folder = try TemporaryFolder()
      let old = try OldCache("v4-squares", in: folder)
      let layout = try CacheLayout(creating: old.root)
      #expect(throws: LarderError.self) {
        _ = try Index(layout, disk: FaultyDisk(.crash(at: number)))
      }
      // A reader meanwhile sees all rows.
      let reader = try Index(reading: old.root)
      #expect(try OldCache.contents(of: reader) == OldCache.contents)
      let found = try Verification(CacheLayout(reading: old.root), reader).run(.full)
      let wrong = found.damaged + found.missing + found.strays
      #expect(wrong.isEmpty, "\(number): \(wrong)")

      let index = try Index(layout)
      let recovery = try Recovery(layout, index)

      #expect(recovery.forgotten == 0 && recovery.strays.isEmpty, "operation \(number)")
      #expect(try OldCache.contents(of: index) == OldCache.contents)
      let report = try Verification(layout, index).run(.full)
      #expect(report.isClean && report.checked == 3, "operation \(number)")
    }
  }

  @Test func `an older cache can be read before its files are renamed`() throws {
    let old = try OldCache("v4-squares", in: folder)

    let reader = try Index(reading: old.root)

    let older = String(OldCache.path("A1").dropFirst("cache/".count))
    #expect(try entry(url("A1"), reader)?.name.path == older)
    #expect(try reader.picture(at: older)?.url == url("A1"))
    #expect(try reader.picture(at: String(path("A1").dropFirst("cache/".count)))?.url == url("A1"))
    #expect(try reader.heldPictures(at: [older]) == [older: PictureID(url: url("A1"))])
    #expect(try CacheLayout(reading: old.root).strays(reader).isEmpty)
  }

  @Test func `two pictures with the same older name are both fetched again`() throws {
    _ = try OldCache("v4-squares", in: folder)
    let shop = "http://127.0.0.1:9101/p/"
    let urls = [shop + "0000f0aeca/main.png", shop + "00016e8f40/main.png"]
    let older = PictureName(older: urls[0]).path
    try folder.write(OldCache.picture("one"), to: "cache/\(older)")
    for url in urls {
      try alter(
        "INSERT INTO picture(id, url, sha256, content, bytes, expiry) VALUES (?, ?, x'01', 1, 64, 9)",
        [PictureID(url: url).olderNumber, url]
      )
    }

    let index = try open()

    for url in urls { #expect(try entry(url, index)?.isHeld == false) }
    let layout = try CacheLayout(creating: folder.path("cache"))
    #expect(try Recovery(layout, index).strays.paths == [older])
    #expect(try entry(url("A1"), index)?.isHeld == true)
  }

  @Test func `a picture that was never fetched keeps its place, and gets a row for its URL`()
    throws
  {
    _ = try OldCache("v4-squares", in: folder)
    try alter("DELETE FROM picture WHERE url = ?", [url("C3")])

    let index = try open()

    let catalog = try #require(try index.catalogs().first)
    let run = try #require(try index.lastRun(catalog: catalog.id))
    let listing = try #require(try index.sections(run: run.id).first?.listing)
    #expect(try index.pictures(listing: listing) == Self.items.map { PictureID(url: url($0)) })
    #expect(
      try entry(url("C3"), index) == PictureEntry(id: PictureID(url: url("C3")), url: url("C3"))
    )
  }

  @Test(arguments: ["", "shop\tsections", "shop\tsection\tmain", "shop\tdetails"])
  func `a document is still found for the part of the catalog that reads it after the migration`(
    _ reader: String
  ) throws {
    _ = try OldCache("v4-squares", in: folder)
    let page = "https://shop.example/main"
    let (old, new) = (DocumentID(url: page, reader: ""), DocumentID(url: page, reader: reader))
    for sql in [
      "UPDATE document SET id = ? WHERE id = ?",
      "UPDATE decoded SET document = ? WHERE document = ?",
    ] { try alter(sql, [new.digest.olderNumber, old.digest.olderNumber]) }

    let index = try open()

    let document = try #require(try index.document(page, reader: reader))
    #expect(document.response?.contains("ETag: \"main\"") == true)
    #expect(try index.decoded(document.id).map(\.key) == ["main"])
  }
}
