/// The built-in formats and examples as people see them: what there is, and each as a file to start from.
package enum FormatCatalog {
  /// A format in a line.
  package struct Entry: Sendable {
    /// Its name, as `format:` takes it.
    package let name: String
    /// What it reads.
    package let summary: String
  }

  /// The formats, in the order in which help lists them.
  package static var entries: [Entry] {
    BuiltInFormat.allCases.map { Entry(name: $0.rawValue, summary: $0.summary) }
  }

  /// The examples: files to edit for shops that no format can read.
  package static var examples: [Entry] {
    ExampleCatalog.allCases.map { Entry(name: $0.rawValue, summary: $0.summary) }
  }

  /// A format spelled out as a catalog file, which reads what the format reads.
  ///
  /// - Parameter name: The format.
  /// - Returns: YAML, whole but for the shop's own address.
  /// - Throws: ``CatalogError`` that names the nearest format when there is none of that name.
  package static func catalogFile(of name: String) throws(CatalogError) -> String {
    if let example = ExampleCatalog(rawValue: name) { return example.catalogFile }
    guard let format = BuiltInFormat(rawValue: name) else {
      let names = (entries + examples).map(\.name)
      let nearest = nearest(to: name, in: names)
      throw CatalogError(
        .catalogFile,
        subject: "format \(PlainText.line(String(name.prefix(40))))",
        expected: names.joined(separator: ", "),
        nearestKey: nearest,
        reason: "there is no such format",
        remedy: nearest.map { "the nearest is \"\($0)\"; larder catalog formats lists them all" }
      )
    }
    return format.catalogFile
  }
}

extension BuiltInFormat {
  /// What it reads, in a line.
  var summary: String {
    switch self {
    case .banchan: "the side dish store and its later editions, with details; the default"
    case .dummyjson: "dummyjson.com/products, or its list alone"
    case .shopify: "a Shopify shop's products.json, or what its Storefront API answers"
    case .shopifyStorefront: "Shopify's Storefront API (GraphQL), asked for all products"
    case .woocommerce: "WooCommerce: REST API v3 and Store API"
    case .magento: "Magento and Adobe Commerce: REST and GraphQL product lists"
    case .fakestore: "fakestoreapi.com/products"
    case .googleMerchant: "Google's product feed: RSS 2.0, Atom, or tab-separated text"
    case .linkedData: "products of schema.org: JSON-LD, alone or in HTML pages"
    }
  }

  /// The sections that a catalog file of such a shop begins with.
  private var sections: (base: String, url: String, currency: String) {
    switch self {
    case .banchan: ("https://store.example/develop/baminchan/", "main", "KRW")
    case .dummyjson: ("https://dummyjson.com/", "products", "USD")
    case .shopify: ("https://shop.example/", "products.json", "USD")
    case .shopifyStorefront: ("https://shop.example/", "api/2025-07/graphql.json", "USD")
    case .woocommerce: ("https://shop.example/wp-json/", "wc/store/v1/products", "EUR")
    case .magento: ("https://shop.example/rest/V1/", "products", "USD")
    case .fakestore: ("https://fakestoreapi.com/", "products", "USD")
    case .googleMerchant: ("https://shop.example/", "feeds/google.xml", "EUR")
    case .linkedData: ("https://shop.example/", "collections/all", "EUR")
    }
  }

  /// Where such a shop has the detail of an item.
  private var detailURL: String { self == .shopify ? "products/{handle}.json" : "detail/{id}" }

  /// The format's name where paths alone do not say how a body is read.
  private var formatLine: String { notation == .json ? "" : "format: \(rawValue)\n" }

  fileprivate var catalogFile: String {
    let (base, url, currency) = sections
    let mapping = yaml.replacing("\ndetail:\n", with: "\ndetail:\n  url: \"\(detailURL)\"\n")
    return """
      # yaml-language-server: $schema=larder.schema.json
      # The built-in format \(rawValue), spelled out: \(summary).
      # Put in your shop's name, currency and address, and change what it has otherwise. Remove the fields that it never
      # has: one that no item has makes a sync partial.
      name: \(rawValue)
      currency: \(currency)
      base: \(base)
      sections:
        - {key: main, url: "\(url)"}
      \(formatLine)\(mapping)

      """
  }
}
