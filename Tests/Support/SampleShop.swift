import Catalog
import Foundation
import SampleStore

/// A shop of sections, items, details and pictures on the embedded store, which tests can change.
///
/// Section `A` lists the items `A1`, `A2` and so on. Each has a thumbnail in the list, and in its
/// detail a top picture, a gallery picture and one picture that all details share.
package final class SampleShop {
  /// One item in the shop's JSON.
  package struct Item {
    package var id: String
    package var title: String
    package var price = "7,000원"
    package var normalPrice: String?
    package var badges = ["신상품"]
    package var thumbnail: String
    package var gallery: [String]
    /// The pictures of the description.
    package var story: [String] = []
    package var hasDetail = true

    /// A dish whose pictures are named for its id.
    package init(_ id: String) {
      self.id = id
      title = "Dish \(id)"
      thumbnail = "/pictures/\(id)-thumb.jpg"
      gallery = ["/pictures/\(id)-top.jpg", "/pictures/\(id)-1.jpg", "/pictures/common.jpg"]
    }

    /// The item in its section's listing.
    package var listed: [String: Any] {
      var listed: [String: Any] = [
        "detail_hash": id, "title": title, "image": thumbnail, "s_price": price, "badge": badges,
        "delivery_type": ["새벽배송"], "description": "About \(id)",
      ]
      listed["n_price"] = normalPrice
      return listed
    }

    var detail: [String: Any] {
      var data: [String: Any] = [
        "top_image": gallery.first ?? "", "thumb_images": Array(gallery.dropFirst()),
        "product_description": "More about \(id)", "prices": [price],
      ]
      if !story.isEmpty { data["detail_section"] = story }
      return ["hash": id, "data": data]
    }
  }

  /// The running store.
  package let store: SampleStore
  /// The clock of store and runs.
  package let clock: TestClock
  /// The sections' keys, in the catalog's order.
  package let keys: [String]
  /// The items of each section; ``publish()`` applies changes.
  package var items: [String: [Item]] = [:]
  /// The picture of which all others are variants: a JPEG's first and last marker.
  package static let base: [UInt8] = [0xFF, 0xD8, 0xFF, 0xD9]

  /// Starts a shop and publishes it.
  package init(sections: Int = 3, items count: Int = 4, clock: TestClock = TestClock()) throws {
    self.clock = clock
    keys = (0..<sections).map { String(UnicodeScalar(UInt8(ascii: "A") + UInt8($0))) }
    let picture = try Picture(Self.base)
    let content = SampleContent { path in
      guard path.hasPrefix("/pictures/") else { return nil }
      var resource = picture.resource(path, byteCount: 400)
      resource.lastModified = 1_600_000_000
      return resource
    }
    store = try SampleStore(content, clock: { Double(clock.now.seconds) })
    for key in keys { items[key] = (0..<count).map { Item("\(key)\($0 + 1)") } }
    try publish()
  }

  /// Where the catalog's relative URLs start.
  package var base: String { "\(store.baseURL)/shop/" }

  /// The bytes that the store sends for one of its pictures.
  package static func bytes(of path: String) throws -> [UInt8] {
    try Picture(base).distinct(path, byteCount: 400)
  }

  /// Publishes all listings and details.
  package func publish() throws {
    for key in keys {
      let listed = (items[key] ?? []).map(\.listed)
      put(try Self.json(["statusCode": 200, "body": listed]), at: "/shop/\(key)")
      for item in items[key] ?? [] {
        put(item.hasDetail ? try Self.json(item.detail) : nil, at: "/shop/detail/\(item.id)")
      }
    }
  }

  /// Publishes a JSON text at a path; nil removes it.
  package func put(_ json: String?, at path: String) {
    store.content[path] = json.map { Resource(json: $0) }
  }

  /// A catalog file of this shop.
  ///
  /// `sections` is the value of that key, by default one entry for each section; `more` are
  /// further lines.
  package func catalog(
    name: String = "shop",
    sections: String? = nil,
    detail: Bool = true,
    _ more: String = ""
  ) throws -> CatalogFile {
    let text = catalogText(name: name, sections: sections, detail: detail, more)
    return try CatalogFile(parsing: Array(text.utf8), file: "shop.yaml")
  }

  /// The text of ``catalog(name:sections:detail:_:)``.
  package func catalogText(
    name: String = "shop",
    sections: String? = nil,
    detail: Bool = true,
    _ more: String = ""
  ) -> String {
    let listed = keys.map { "{key: \($0), title: Section \($0), url: \($0)}" }
    return """
      name: \(name)
      currency: KRW
      base: \(base)
      sections: \(sections ?? "[\(listed.joined(separator: ", "))]")
      \(detail ? "detail: {url: \"detail/{id}\"}" : "")
      \(more)
      """
  }

  /// A JSON value as text with sorted keys.
  package static func json(_ value: Any) throws -> String {
    let data = try JSONSerialization.data(withJSONObject: value, options: .sortedKeys)
    return String(decoding: data, as: UTF8.self)
  }
}
