import Support

/// The content of a body that a client accepts.
enum SoakContent: Hashable, Sendable {
  case picture([UInt8])
  case listing([SoakSection])
  case detail(SoakDetail)
}

/// A section of a listing, or the part of it on one page.
struct SoakSection: Hashable, Sendable {
  var key: String
  var items: [SoakItem] = []

  /// The items that can be read.
  var readable: [SoakItem] { items.filter { $0.title != nil } }
  /// The ids of the items that cannot be read.
  var unreadable: [String] { items.filter { $0.title == nil }.map(\.id) }
}

/// An item in a listing.
struct SoakItem: Hashable, Sendable {
  var id: String
  /// Without a title the item cannot be read.
  var title: String?
  var price: Int?
  var picture: String?
}

/// An item's detail.
struct SoakDetail: Hashable, Sendable {
  var id: String
  var text: String
  var pictures: [String]
}

extension SoakContent {
  /// Whether it is one section, or a page of one.
  var isOneSection: Bool {
    if case .listing(let sections) = self {
      sections.count == 1 && sections[0].key.isEmpty
    } else {
      false
    }
  }

  /// The body with this content.
  var bytes: [UInt8] {
    switch self {
    case .picture(let bytes): bytes
    case .listing(let sections):
      Array(
        sections.count == 1 && sections[0].key.isEmpty
          ? sections[0].json.utf8
          : "{\"sections\": [\(sections.map(\.json).joined(separator: ", "))]}".utf8
      )
    case .detail(let detail): Array(detail.json.utf8)
    }
  }

  /// The content with picture URLs resolved against the body's URL. (RFC 3986, section 5)
  func resolved(from base: String) -> SoakContent {
    let host =
      base.prefix { $0 != ":" } + "://" + base.dropFirst("http://".count).prefix { $0 != "/" }
    func absolute(_ text: String) -> String {
      if text.hasPrefix("//") { return "http:\(text)" }
      return text.hasPrefix("/") ? "\(host)\(text)" : text
    }
    switch self {
    case .picture: return self
    case .listing(var sections):
      for section in sections.indices {
        for item in sections[section].items.indices {
          let picture = sections[section].items[item].picture
          sections[section].items[item].picture = picture.map(absolute)
        }
      }
      return .listing(sections)
    case .detail(var detail):
      detail.pictures = detail.pictures.map(absolute)
      return .detail(detail)
    }
  }

  /// The bytes of a picture: a JPEG's first and last marker around its name and version.
  ///
  /// Some are longer than one read from a socket.
  static func painting(_ name: String, _ version: Int) -> SoakContent {
    var random = SplitMix64(UInt64(version), name)
    let length = random.pick([(300, weight: 8), (3_000, weight: 4), (40_000, weight: 1)])
    let filling = (0..<Int.random(in: 0..<length, using: &random)).map { UInt8($0 % 251) }
    return .picture(
      [0xFF, 0xD8, 0xFF, 0xE0] + Array("\(name) \(version) ".utf8) + filling + [0xFF, 0xD9]
    )
  }
}

extension SoakSection {
  fileprivate var json: String {
    let items = items.map(\.json).joined(separator: ", ")
    return "{\"key\": \"\(key)\", \"items\": [\(items)]}"
  }
}

extension SoakItem {
  fileprivate var json: String {
    let image = picture.map { ", \"image\": \"\($0)\"" } ?? ""
    let title = title.map { ", \"title\": \"\($0)\"" } ?? ", \"name\": \"renamed\""
    // An item without a price has no member for it, or an unreadable one.
    let none = id.utf8.count % 2 == 0 ? "" : ", \"price\": \"on request\""
    let price = price.map { ", \"price\": \($0)" } ?? none
    return "{\"id\": \"\(id)\"\(title)\(price)\(image)}"
  }
}

extension SoakDetail {
  fileprivate var json: String {
    let images = pictures.map { "\"\($0)\"" }.joined(separator: ", ")
    return "{\"id\": \"\(id)\", \"text\": \"\(text)\", \"images\": [\(images)]}"
  }
}
