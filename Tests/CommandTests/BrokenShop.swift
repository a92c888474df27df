import Foundation
import SampleStore
import Support

/// A shop whose data can be broken in the ways that occur in real shops.
///
/// Section `main` lists M1 to M8, `soup` lists S1 to S4; each item has a thumbnail, and a detail with
/// one picture. The catalog file spells its paths out.
final class BrokenShop: Sendable {
  let store: SampleStore
  let folder: TemporaryFolder
  /// The catalog file's path.
  let catalog: String
  /// The ids of all items of the intact feed.
  static let ids = (1...8).map { "M\($0)" } + (1...4).map { "S\($0)" }

  /// Opens the shop.
  ///
  /// If `combined` is true, one response holds both sections.
  init(combined: Bool = false) throws {
    folder = try TemporaryFolder()
    let content = SampleContent { path in
      path.hasPrefix("/pictures/")
        ? Resource(
          [0xFF, 0xD8, 0xFF, 0xE0] + Array(path.utf8) + [0xFF, 0xD9],
          type: "image/jpeg",
          lastModified: 1_610_000_000
        ) : nil
    }
    store = try SampleStore(content)
    let sections =
      combined
      ? "{url: all, each: \"$.sections[*]\", key: $.key, title: $.title}"
      : "[{key: main, title: Main, url: main}, {key: soup, title: Soup, url: soup}]"
    catalog = try folder.write(
      """
      name: shop
      currency: KRW
      base: \(store.baseURL)/
      sections: \(sections)
      items: $.items
      item:
        id: $.id
        title: $.name
        description: $.text
        salePrice: $.price
        images: {thumbnail: $.picture}
      detail: {url: "detail/{id}", description: $.text, images: {gallery: $.pictures}}
      """,
      to: "shop.yaml"
    )
    mend()
  }

  deinit {
    store.stop()
  }

  /// Restores the intact feed.
  func mend() {
    put(Self.text(["items": Self.items("M", 8)]), at: "/main")
    put(Self.text(["items": Self.items("S", 4)]), at: "/soup")
    put(Self.text(["sections": Self.sections]), at: "/all")
    for id in Self.ids {
      put(
        Self.text(["text": "More about \(id)", "pictures": ["/pictures/\(id)-1.jpg"]]),
        at: "/detail/\(id)"
      )
    }
  }

  /// Sets the body at a path; nil removes it.
  func put(_ bytes: [UInt8]?, at path: String) {
    store.content[path] = bytes.map { Resource($0, type: "application/json") }
  }

  /// Runs a subcommand on this shop's cache and waits for its end.
  func larder(_ arguments: String...) throws -> Command {
    try Command.larder(arguments + ["--cache", folder.path("cache")])
  }

  /// Runs `sync` or `warm` for this shop.
  func run(_ command: String) throws -> Command {
    try larder(command, catalog, "--retries", "0")
  }

  /// The items that are not listed, and the pictures that are not in the cache, although the intact
  /// shop has them.
  func missing() throws -> [String] {
    let list = try larder("list", "--json")
    guard list.status == 0 else { return ["list: \(list.errors)"] }
    let rows = try JSONSerialization.jsonObject(with: Data(list.output.utf8)) as? [[String: Any]]
    var missing: [String] = []
    for id in Self.ids {
      guard let row = rows?.first(where: { $0["id"] as? String == id }) else {
        missing.append(id)
        continue
      }
      let images =
        (row["images"] as? [[String: Any]] ?? [])
        + [row["thumbnail"] as? [String: Any]]
        .compactMap(\.self)
      for role in ["thumbnail", "gallery"] {
        let isHeld = images.contains {
          $0["role"] as? String == role && $0["state"] as? String == "held"
        }
        if !isHeld { missing.append("\(role) of \(id)") }
      }
    }
    return missing
  }

  // MARK: - Bodies

  static func items(_ letter: String, _ count: Int) -> [[String: Any]] {
    (1...count).map { number in
      [
        "id": "\(letter)\(number)", "name": "Dish \(letter)\(number)", "text": "About it",
        "price": 1000 + number, "picture": "/pictures/\(letter)\(number).jpg",
      ]
    }
  }

  static var sections: [[String: Any]] {
    [
      ["key": "main", "title": "Main", "items": items("M", 8)],
      ["key": "soup", "title": "Soup", "items": items("S", 4)],
    ]
  }

  static func text(_ value: Any) -> [UInt8] {
    let options: JSONSerialization.WritingOptions = [.sortedKeys, .fragmentsAllowed]
    return (try? JSONSerialization.data(withJSONObject: value, options: options))
      .map { [UInt8]($0) } ?? []
  }
}
