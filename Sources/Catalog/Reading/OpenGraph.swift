/// The Open Graph properties of a page, which can be converted to JSON-LD if the page is about one product.
///
/// For example, `<meta property="og:title" content="A cup">` is the property `og:title`. The properties that begin with
/// `product:` are defined by Facebook's catalogs. (ogp.me)
struct OpenGraph {
  /// The maximum number of properties.
  ///
  /// Further ones are ignored.
  private static let mostProperties = 1000

  private var properties: [(name: String, content: String)] = []

  /// Adds a property, if a `meta` element has one.
  mutating func add(_ attributes: [String: String]) {
    guard let name = attributes["property"] ?? attributes["name"],
      name.hasPrefix("og:") || name.hasPrefix("product:"),
      let content = attributes["content"]?.trimmed, !content.isEmpty,
      properties.count < Self.mostProperties
    else { return }
    properties.append((name, content))
  }

  /// The content of the first of these properties that the page has.
  private subscript(names: String...) -> String? {
    names.lazy.compactMap { name in properties.first { $0.name == name }?.content }.first
  }

  /// Whether the page is about one product, because its type says so or because it has a price.
  private var isProduct: Bool {
    ["product", "og:product", "product.item"].contains(self["og:type"]) || price != nil
  }

  private var price: String? { self["product:price:amount", "og:price:amount"] }

  /// The URLs of the pictures.
  ///
  /// If the page gives the width of every picture, the widest is first.
  private var pictures: [String] {
    var pictures: [(url: String, width: Int?)] = []
    for (name, content) in properties {
      switch name {
      // A page can have both properties for the same picture.
      case "og:image", "og:image:url":
        if pictures.last?.url != content { pictures.append((content, nil)) }
      case "og:image:secure_url":
        let width = pictures.popLast()?.width
        pictures.append((content, width))
      case "og:image:width" where !pictures.isEmpty:
        pictures[pictures.count - 1].width = Int(content)
      default: break
      }
    }
    let isMeasured = pictures.allSatisfy { $0.width != nil }
    let sorted = isMeasured ? pictures.sorted { ($0.width ?? 0) > ($1.width ?? 0) } : pictures
    return sorted.map(\.url)
  }

  /// The product as JSON-LD in UTF-8, or nil if the page is not about one product.
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
      $0.member("image", pictures)
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

  /// The availability in the words of schema.org, such as "InStock", or nil if the page does not give it.
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
