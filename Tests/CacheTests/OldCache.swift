import Foundation
import Support

@testable import Cache

/// A cache as an earlier larder left it: one catalog, two runs, three pictures.
///
/// `Fixtures/NAME.sqlite` is an index written by that version itself, 0.2.0 or later; `v5-squares` is of a build between
/// two releases. The pictures are written again, as if the folder had been copied. In the second run `A1` became cheaper and
/// got another picture, and `C3` was added.
struct OldCache {
  /// The names of the fixtures that a release wrote, oldest first.
  ///
  /// A name has the version of the schema, and the other things that the cache contains.
  static let names = ["v4", "v4-squares"]

  /// The cache's folder.
  let root: String

  private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Fixtures")

  /// Copies the fixture with that name into a folder.
  init(_ name: String, in folder: TemporaryFolder) throws {
    root = folder.path("cache")
    let index = try Data(contentsOf: Self.fixtures.appending(path: "\(name).sqlite"))
    try folder.write([UInt8](index), to: "cache/index.sqlite")
    try folder.write([], to: "cache/index.sqlite-journal")
    try FileManager.default.createDirectory(
      atPath: folder.path("cache/partial"),
      withIntermediateDirectories: true
    )
    for (item, run) in [("A1", 1), ("B2", 0), ("C3", 1)] {
      try folder.write(Self.picture("\(item) \(run)"), to: Self.path(item, in: name))
    }
    if name.hasSuffix("squares") {
      let square = Self.path("B2", in: name).replacing("cache/images", with: "cache/squares/128")
      try folder.write(Self.picture("square"), to: square)
    }
  }

  /// The path that version gave the picture of an item, relative to the test folder.
  static func path(_ item: String, in name: String = "v4") -> String {
    let address = url(item)
    let picture =
      name.hasPrefix("v5")
      ? PictureName(url: address, id: PictureID(url: address)) : PictureName(older: address)
    return "cache/" + picture.path
  }

  /// A picture that contains the label.
  static func picture(_ label: String) -> [UInt8] {
    let head: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + Array(label.utf8)
    return head + [UInt8](repeating: 0x20, count: 62 - head.count) + [0xFF, 0xD9]
  }

  /// All rows of an index as text, to compare before and after a migration.
  static func contents(of index: Index) throws -> [String] {
    var lines: [String] = []
    for catalog in try index.catalogs() {
      lines.append("catalog \(catalog.name) \(catalog.currency)")
      for run in try index.runs(catalog: catalog.id) {
        let report = String(decoding: run.report ?? [], as: UTF8.self)
        lines.append("run \(run.id) \(run.outcome ?? "-") \(report)")
        for section in try index.sections(run: run.id) {
          let listing = section.listing ?? ListingID(rawValue: 0)
          let keys = try index.itemKeys(listing: listing)
          let items = try index.items(listing: listing)
          lines.append("section \(section.key) \(section.title) \(keys)")
          lines += items.map { "item \($0.key) \(String(decoding: $0.body, as: UTF8.self))" }
          lines.append(
            "pictures \(try index.pictures(listing: listing) == items.flatMap(\.pictures))"
          )
        }
      }
      try index.forEachDetail(of: catalog.id) { detail in
        lines.append("detail \(detail.item) \(detail.state) \(detail.body?.count ?? 0)")
      }
    }
    let page = try index.document("https://shop.example/main")
    lines.append("page \(page?.mapping ?? 0) \(page?.digest ?? 0)")
    if let page { lines += try index.decoded(page.id).map { "decoded \($0.key) \($0.title)" } }
    try index.forEachPicture { picture in
      let fields = picture.response?.split(separator: "\n").dropFirst().prefix(2) ?? []
      let digest = picture.sha256?.first ?? 0
      lines.append("picture \(picture.url) \(digest) \(picture.bytes) \(Array(fields))")
    }
    lines.append("changed \(try index.pictureChanges(after: 1, through: 2))")
    return lines
  }

  /// The expected result of ``contents(of:)`` for every one of ``names``.
  static let contents = [
    "catalog shop KRW",
    "run 2 complete {\"catalog\":\"shop\",\"run\":2}",
    "section main 메인반찬 [\"A1\", \"B2\", \"C3\"]",
    "item A1 \(item("A1", "갈비탕", 6000))",
    "item B2 \(item("B2", "김치찌개", 7000))",
    "item C3 \(item("C3", "된장찌개", 5000))",
    "pictures true",
    "run 1 complete {\"catalog\":\"shop\",\"run\":1}",
    "section main 메인반찬 [\"A1\", \"B2\"]",
    "item A1 \(item("A1", "갈비탕", 6500))",
    "item B2 \(item("B2", "김치찌개", 7000))",
    "pictures true",
    "detail A1 held 46",
    "page 42 7",
    "decoded main 메인반찬",
    picture("B2", 0, 0x32),
    picture("A1", 1, 0x67),
    picture("C3", 1, 0xAF),
    "changed [\"https://cdn.example/A1.jpg\"]",
  ]

  private static func item(_ id: String, _ title: String, _ price: Int) -> String {
    "{\"id\":\"\(id)\",\"title\":\"\(title)\",\"badges\":[\"이벤트특가\"],"
      + "\"deliveryTypes\":[\"새벽배송\"],\"salePrice\":{\"minorUnits\":\(price),\"currency\":\"KRW\"},"
      + "\"images\":[{\"role\":\"thumbnail\",\"url\":\"https://cdn.example/\(id).jpg\"}]}"
  }

  private static func picture(_ id: String, _ run: Int, _ digest: UInt8) -> String {
    let fields = ["ETag: \"\(id)-\(run)\"", "Last-Modified: Sat, 01 Nov 2025 00:00:00 GMT"]
    return "picture https://cdn.example/\(id).jpg \(digest) 64 \(fields)"
  }
}
