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

/// Catalog files to start from for shops that every owner models otherwise, so that no format can read them.
///
/// The same as in `samples/catalogs`.
enum ExampleCatalog: String, CaseIterable {
  case contentful
  case square

  /// What it reads, in a line.
  var summary: String {
    switch self {
    case .contentful: "entries of the Contentful Delivery API"
    case .square: "items of Square's Catalog API"
    }
  }

  /// The catalog file.
  var catalogFile: String {
    switch self {
    case .contentful:
      #"""
      # Products kept in Contentful, read by its Content Delivery API.
      #
      #     CONTENTFUL_SPACE=… CONTENTFUL_TOKEN=… larder sync samples/catalogs/contentful.yaml
      #
      # Contentful lets every shop name its own content type and fields: put in those of yours where `product`, `title`,
      # `description`, `price`, `image` and `images` stand below. `larder catalog check` says which of them lead to nothing.
      # (https://www.contentful.com/developers/docs/references/content-delivery-api/)
      name: contentful
      currency: EUR
      base: "https://cdn.contentful.com/spaces/${CONTENTFUL_SPACE}/environments/master/"

      sections:
        # In an order that stays the same while pages are read.
        - {key: products, title: Products, url: "entries?content_type=product&include=1&order=sys.id"}

      headers: {Authorization: "Bearer ${CONTENTFUL_TOKEN}"}

      # Elements are skipped page by page, until a page is empty: the one at `total`.
      paging: {offset: skip, size: {name: limit, value: 100}}

      # An entry refers to its pictures by id; the assets themselves stand beside the entries. One that is not published is
      # absent there. An asset's URL begins with `//`: it is read by the scheme of `base`.
      transform: |
        INDEX(.includes.Asset[]?; .sys.id) as $assets
        | def url: $assets[.sys.id // ""].fields.file.url;
        {items: [.items[] | {
          id: .sys.id,
          title: .fields.title,
          description: (.fields.description | strings // null),
          salePrice: .fields.price,
          images: {
            thumbnail: (.fields.image | objects // {} | url),
            gallery: [.fields.images[]? | url | strings]
          }
        }]}

      """#
    case .square:
      #"""
      # A shop's item library at Square, read by its Catalog API.
      #
      #     SQUARE_TOKEN=… larder sync samples/catalogs/square.yaml
      #
      # The token needs the permission ITEMS_READ. Searching is a POST here, because `list` puts items and their pictures on
      # pages of their own, where they cannot be joined; `include_related_objects` sends along what a page's items refer to.
      # (https://developer.squareup.com/reference/square/catalog-api/search-catalog-objects)
      name: square
      currency: USD
      base: https://connect.squareup.com/v2/

      sections:
        - {key: items, title: Items, url: catalog/search}

      headers:
        Authorization: "Bearer ${SQUARE_TOKEN}"
        Square-Version: "2024-01-18"

      request:
        body: |
          {"object_types": ["ITEM"], "include_related_objects": true, "limit": {size}, "cursor": {cursor}}

      # The last page has no cursor.
      paging: {from: $.cursor, size: {name: limit, value: 100}}

      # The first variation that has a price says what an item costs, in the smallest unit of its currency.
      transform: |
        INDEX(.related_objects[]?; .id) as $related
        | {items: [.objects[]? | select(.type == "ITEM" and (.is_deleted | not)) | {id} + (.item_data | {
          name,
          description: (.description_plaintext // .description),
          categories: [.categories[]?.id // empty | $related[.].category_data.name | strings],
          price: [.variations[]?.item_variation_data.price_money // empty][0],
          pictures: [.image_ids[]? | $related[.].image_data.url | strings]
        })]}

      items: $.items
      item:
        id: $.id
        title: $.name
        description: $.description
        # badges: $.categories
        salePrice: {path: $.price.amount, minorUnits: true, currency: $.price.currency}
        images: {thumbnail: "$.pictures[0]", gallery: "$.pictures[1:]"}

      """#
    }
  }
}
