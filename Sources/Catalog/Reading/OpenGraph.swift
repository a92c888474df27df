/// The Open Graph of a page about one product, as JSON-LD. (ogp.me; its `product:` as Facebook's catalogs define it)
struct OpenGraph {
  /// How many properties are read; more are ignored.
  private static let mostProperties = 1000

  private var properties: [(name: String, content: String)] = []

  /// Takes in a `meta` element.
  mutating func add(_ attributes: HTMLAttributes) {
    guard let name = attributes["property"] ?? attributes["name"],
      name.hasPrefix("og:") || name.hasPrefix("product:"),
      let content = attributes["content"]?.trimmed, !content.isEmpty,
      properties.count < Self.mostProperties
    else { return }
    properties.append((name, content))
  }

  /// The type that the page says it has.
  var type: String? { self["og:type"] }

  private subscript(names: String...) -> String? {
    names.lazy.compactMap { name in properties.first { $0.name == name }?.content }.first
  }

  /// Whether the page is about one product: its type says so, or it has a price.
  private var isProduct: Bool {
    ["product", "og:product", "product.item"].contains(type) || price != nil
  }

  private var price: String? { self["product:price:amount", "og:price:amount"] }

  /// A picture and its width.
  private struct Picture {
    var url: String
    var width: Int?
  }

  /// The pictures, the widest first when all say how wide they are.
  private var pictures: [Picture] {
    var pictures: [Picture] = []
    for (name, content) in properties {
      switch name {
      case "og:image", "og:image:url":
        // Both may name one picture.
        if pictures.last?.url != content { pictures.append(Picture(url: content)) }
      case "og:image:secure_url":
        if pictures.isEmpty { pictures.append(Picture(url: content)) }
        pictures[pictures.count - 1].url = content
      case "og:image:width":
        if !pictures.isEmpty { pictures[pictures.count - 1].width = Int(content) }
      default: break
      }
    }
    guard pictures.allSatisfy({ $0.width != nil }) else { return pictures }
    return pictures.enumerated().sorted {
      ($1.element.width ?? 0, $0.offset) < ($0.element.width ?? 0, $1.offset)
    }.map(\.element)
  }

  /// The product in UTF-8; nil when the page is about none.
  var json: [UInt8]? {
    guard isProduct, let title = self["og:title"] else { return nil }
    var writer = StoredFormWriter()
    writer.object {
      $0.member("@type", "Product")
      $0.member("name", title)
      $0.member("description", self["og:description"])
      $0.member("url", self["og:url"])
      $0.member("sku", self["product:retailer_item_id"])
      $0.member("brand", self["product:brand", "og:brand"])
      $0.member("category", self["product:category"])
      $0.name("image")
      $0.array { for picture in pictures { $0.value(picture.url) } }
      $0.name("offers")
      writeOffer(to: &$0)
    }
    return writer.bytes
  }

  private func writeOffer(to writer: inout StoredFormWriter) {
    let sale = self["product:sale_price:amount"]
    let usual = self["product:original_price:amount"] ?? (sale == nil ? nil : price)
    let currency = self[
      "product:price:currency",
      "og:price:currency",
      "product:sale_price:currency"
    ]
    writer.object {
      $0.member("price", sale ?? price)
      $0.member("priceCurrency", currency)
      $0.member("availability", availability)
      guard let usual else { return }
      $0.name("priceSpecification")
      $0.object {
        $0.member("priceType", "ListPrice")
        $0.member("price", usual)
        $0.member("priceCurrency", currency)
      }
    }
  }

  /// schema.org's word for the availability; nil when there is none.
  private var availability: String? {
    let text = self["product:availability", "og:availability"] ?? ""
    return switch text.lowercased().filter(\.isLetter) {
    case "instock", "available", "availablefororder": "InStock"
    case "outofstock", "oos": "OutOfStock"
    case "preorder", "pending": "PreOrder"
    case "discontinued": "Discontinued"
    default: nil
    }
  }
}
