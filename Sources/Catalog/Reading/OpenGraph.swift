/// The Open Graph properties of a page, which can describe one product.
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
  mutating func add(_ attributes: MarkupAttributes) {
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

  /// The URLs of the pictures, without repetitions.
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
    return sorted.map { RecordValue.address($0.url) }.unique(by: \.self)
  }

  /// The product, or nil if the page is not about one product.
  var product: LinkedProducts.Item? {
    guard isProduct, let title = self["og:title"] else { return nil }
    let sale = self["product:sale_price:amount"]
    let currency = self[
      "product:price:currency",
      "og:price:currency",
      "product:sale_price:currency"
    ]
    let usual = self["product:original_price:amount"] ?? (sale == nil ? nil : price)
    let texts: [(String, String?)] = [
      ("name", title), ("url", self["og:url"]), ("sku", self["product:retailer_item_id"]),
      ("brand", self["product:brand", "og:brand"]), ("category", self["product:category"]),
      ("price", sale ?? price ?? usual), ("listPrice", usual), ("priceCurrency", currency),
    ]
    var product: LinkedProducts.Item = texts.compactMap { name, text in
      text.map { (name, RecordValue(text: $0)) }
    }
    if let description = self["og:description"] {
      product.append(("description", .text(PageText.plain(description))))
    }
    if let availability { product.append(("availability", .list([.text(availability)]))) }
    if !pictures.isEmpty { product.append(("image", .list(pictures.map { .text($0) }))) }
    return product
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
