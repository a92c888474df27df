import Catalog
import Pipeline

/// How much of the cache each section's pictures are.
struct SizesView {
  /// A section.
  struct Row {
    let title: String
    let speech: String
    let items: String
    let pictures: String
    let size: String
    /// The length of its bar, of 160.
    let bar: Int
  }

  let summary: String
  let rows: [Row]
  /// Whether sections share pictures.
  let isShared: Bool
  /// Pictures that are held and those that the catalog refers to, each URL once.
  let held: Int
  let referenced: Int
  /// The bytes of those that are held.
  let bytes: Int64

  /// The sizes of shelves.
  init(_ shelves: [ReportShelf], _ language: PageLanguage) {
    var all: [String: Int64] = [:]
    var urls: Set<String> = []
    var sum: Int64 = 0
    let sizes = shelves.map { shelf in
      var own: [String: Int64] = [:]
      for image in shelf.items.lazy.flatMap(\.images) {
        urls.insert(image.url)
        if image.state == .held { own[image.url] = image.bytes?.count ?? 0 }
      }
      all.merge(own) { first, _ in first }
      let bytes = own.values.reduce(0, +)
      sum += bytes
      return (shelf, own.count, bytes)
    }
    bytes = all.values.reduce(0, +)
    (held, referenced, isShared) = (all.count, urls.count, sum > bytes)
    let most = sizes.map(\.2).max() ?? 0
    rows = sizes.map { shelf, pictures, bytes in
      Row(
        title: shelf.title,
        speech: shelf.speech,
        items: PageLanguage.number(shelf.items.count),
        pictures: PageLanguage.number(pictures),
        size: PageLanguage.bytes(bytes),
        bar: most > 0 ? max(bytes > 0 ? 2 : 0, Int(160 * Double(bytes) / Double(most))) : 0
      )
    }
    let pictures = language.count(held, "picture", "pictures", "사진")
    summary = "\(pictures), \(PageLanguage.bytes(bytes))"
  }
}
