/// A mapping that larder brings along, written in the language of catalog files.
enum BuiltInFormat: String, CaseIterable {
  case banchan, dummyjson, shopify
  case shopifyStorefront = "shopify-storefront"
  case woocommerce, magento, fakestore
  case googleMerchant = "google-merchant"
  case linkedData = "json-ld"

  /// The mapping as YAML.
  var yaml: String {
    switch self {
    case .banchan: Self.banchanYAML
    case .dummyjson: Self.dummyjsonYAML
    case .shopify: Self.shopifyYAML
    case .shopifyStorefront: Self.shopifyStorefrontYAML
    case .woocommerce: Self.woocommerceYAML
    case .magento: Self.magentoYAML
    case .fakestore: Self.fakestoreYAML
    case .googleMerchant: Self.googleMerchantYAML
    case .linkedData: Self.linkedDataYAML
    }
  }

  /// The side dish store and its later editions, each with an envelope of its own.
  ///
  /// The wildcards come before the bare array, because an array of categories is an array too.
  private static let banchanYAML = """
    items:
      - $.body
      - $.items
      - $.item
      - $.categoryResponses[*].sideDishCardResponses
      - $.sideDishCardResponses
      - $.body.items
      - $.data
      - $[*].items
      - $[*].item
      - $[*].sideDishCardResponses
      - $.*
      - $
    envelope:
      title: [$.title, $.sectionHeader, $.categoryTitle, "$[*].sectionHeader", "$[*].name"]
      subtitle: [$.subtitle, $.sectionDetail, "$[*].sectionDetail"]
      status: [$.statusCode, $.status]
    item:
      id: [$.detail_hash, $.detailHash, $.hash, $.id]
      title: [$.title, $.alt]
      description: $.description
      badges: [$.badge, $.badges]
      deliveryTypes: [$.delivery_type, $.deliveryType]
      normalPrice: [$.n_price, $.nPrice]
      salePrice: [$.s_price, $.sPrice]
      images: {thumbnail: [$.image, $.imageUrl]}
    detail:
      entries: [$.body, "$.body[*]", "$[*]", $]
      id: [$.hash, $.detail_hash]
      root: [$.data, $]
      description: $.product_description
      prices: $.prices
      images: {top: $.top_image, gallery: $.thumb_images, section: $.detail_section}
      notes:
        point: $.point
        delivery_info: $.delivery_info
        delivery_fee: $.delivery_fee
    """

  /// dummyjson.com/products, and its list without the envelope.
  private static let dummyjsonYAML = """
    items: [$.products, $]
    paging: {offset: skip, size: {name: limit, value: 100}}
    item:
      id: $.id
      title: $.title
      description: $.description
      badges: $.tags
      deliveryTypes: $.shippingInformation
      salePrice: $.price
      images: {thumbnail: $.thumbnail, gallery: $.images}
    """

  /// The Store API, whose prices are whole numbers of its own scale, and the REST API.
  private static let woocommerceYAML = """
    items: [$, $.products]
    paging: {page: page, size: {name: per_page, value: 100}}
    envelope: {status: $.data.status}
    item:
      id: $.id
      title: [$.name, $.title]
      description: [$.short_description, $.description]
      badges: "$.tags[*].name"
      normalPrice:
        - {path: $.prices.regular_price, scale: $.prices.currency_minor_unit}
        - $.regular_price
      salePrice:
        - {path: $.prices.price, scale: $.prices.currency_minor_unit}
        - $.price
      images:
        thumbnail: ["$.images[0].thumbnail", "$.images[0].src"]
        gallery: "$.images[*].src"
    """

  /// The REST API's `V1/products`, whose fields beyond the common ones are attributes, and GraphQL's `products`.
  private static let magentoYAML = """
    items: [$.items, $.data.products.items]
    paging:
      page: "searchCriteria[currentPage]"
      size: {name: "searchCriteria[pageSize]", value: 100}
    item:
      id: [$.sku, $.id]
      title: $.name
      description:
        - "$.custom_attributes[?@.attribute_code == 'short_description'].value"
        - "$.custom_attributes[?@.attribute_code == 'description'].value"
        - $.short_description.html
        - $.description.html
      normalPrice:
        - $.price
        - path: $.price_range.minimum_price.regular_price.value
          currency: $.price_range.minimum_price.regular_price.currency
      salePrice:
        - "$.custom_attributes[?@.attribute_code == 'special_price'].value"
        - $.price
        - path: $.price_range.minimum_price.final_price.value
          currency: $.price_range.minimum_price.final_price.currency
      images:
        thumbnail:
          - $.small_image.url
          - $.thumbnail.url
          - "$.media_gallery_entries[0].file"
        gallery: ["$.media_gallery[*].url", "$.media_gallery_entries[*].file"]
    """

  /// fakestoreapi.com/products.
  private static let fakestoreYAML = """
    items: [$.products, $]
    item:
      id: $.id
      title: $.title
      description: $.description
      badges: $.category
      salePrice: $.price
      images: {thumbnail: $.image}
    """

  /// The mapping itself.
  func mapping() throws(CatalogError) -> Mapping {
    var mapping = try MappingParser.parse(format: root())
    mapping.notation = notation
    return mapping
  }

  /// What such a shop's bodies are written in.
  var notation: BodyNotation {
    switch self {
    case .googleMerchant: .merchantFeed
    case .linkedData: .linkedData
    default: .json
    }
  }

  /// The paging of such a shop's listing; nil when one response is all of it.
  func paging() throws(CatalogError) -> PagingRule? {
    try root()["paging"].map(PagingParser.parse)
  }

  /// How such a shop is asked; nil for a plain GET.
  func request() throws(CatalogError) -> RequestRule? {
    try RequestParser.sections(root())
  }

  private func root() throws(CatalogError) -> YAMLMapping {
    let file = YAMLFile(name: "format \(rawValue)", subject: "built-in format \(rawValue)")
    return try file.mapping(of: Array(yaml.utf8))
  }

  /// Google's product feed, as ``MerchantFeed`` makes JSON of it. (Google Merchant Center, product data specification)
  private static let googleMerchantYAML = """
    items: $.items
    envelope: {title: $.title}
    item:
      id: $.id
      title: $.title
      description: [$.description, $.summary, $.content]
      badges: $.custom_label_0
      normalPrice: $.price
      salePrice: [$.sale_price, $.price]
      images: {thumbnail: $.image_link, gallery: $.additional_image_link}
    """
}

extension BuiltInFormat {
  /// A shop's public `products.json`, whose price is that of the first variant; and the answers of the
  /// Storefront API, for queries of the user's own.
  static let shopifyYAML = """
    items:
      - $.products
      - $.data.products.nodes
      - "$.data.products.edges[*].node"
      - $.data.collection.products.nodes
      - "$.data.collection.products.edges[*].node"
    paging: {page: page, size: {name: limit, value: 250}}
    item:
      id: $.id
      title: $.title
      description: [$.body_html, $.description, $.descriptionHtml]
      badges: $.tags
      normalPrice:
        - "$.variants[0].compare_at_price"
        - path: "$.compareAtPriceRange[?@.amount != '0.0' && @.amount != '0'].amount"
          currency: $.priceRange.minVariantPrice.currencyCode
      salePrice:
        - "$.variants[0].price"
        - path: $.priceRange.minVariantPrice.amount
          currency: $.priceRange.minVariantPrice.currencyCode
      images:
        thumbnail: [$.image.src, "$.images[0].src", $.featuredImage.url, "$.images.nodes[0].url"]
        gallery: ["$.images[*].src", "$.images.nodes[*].url", "$.images.edges[*].node.url"]
    detail:
      entries: [$.product, $]
      description: $.body_html
      prices: "$.variants[*].price"
      images: {gallery: "$.images[*].src"}
      notes: {vendor: $.vendor, product_type: $.product_type}
    """

  /// The Storefront API, asked for all products.
  ///
  /// The last page has a cursor too, so `hasNextPage` decides.
  static let shopifyStorefrontYAML = """
    items: $.data.products.nodes
    request:
      body: |
        {"query": "query($n: Int!, $after: String) { products(first: $n, after: $after) { nodes { \
        id handle title description tags featuredImage { url } images(first: 20) { nodes { url } } \
        priceRange { minVariantPrice { amount currencyCode } } \
        compareAtPriceRange { minVariantPrice { amount currencyCode } } } \
        pageInfo { hasNextPage endCursor } } }",
         "variables": {"n": {size}, "after": {cursor}}}
    paging:
      from: "$.data.products[?@.hasNextPage == true].endCursor"
      size: {name: first, value: 100}
    item:
      id: $.id
      title: $.title
      description: $.description
      badges: $.tags
      normalPrice:
        path: "$.compareAtPriceRange[?@.amount != '0.0' && @.amount != '0'].amount"
        currency: $.priceRange.minVariantPrice.currencyCode
      salePrice:
        path: $.priceRange.minVariantPrice.amount
        currency: $.priceRange.minVariantPrice.currencyCode
      images:
        thumbnail: [$.featuredImage.url, "$.images.nodes[0].url"]
        gallery: "$.images.nodes[*].url"
    """
}

extension BuiltInFormat {
  /// Products of schema.org, as ``LinkedData`` makes JSON of JSON-LD and of pages with it. (schema.org/Product)
  static let linkedDataYAML = """
    items: $.items
    envelope: {title: $.title}
    item:
      id:
        - $.sku
        - $.productID
        - $.gtin
        - $.gtin14
        - $.gtin13
        - $.gtin12
        - $.gtin8
        - $.mpn
        - $.productGroupID
        - "$['@id']"
        - $.url
      title: $.name
      description: $.description
      badges: "$.availability[?@ != 'InStock']"
      normalPrice:
        - {path: $.listPrice, currency: $.priceCurrency}
        - {path: $.price, currency: $.priceCurrency}
      salePrice: {path: $.price, currency: $.priceCurrency}
      images: {thumbnail: "$.image[0]", gallery: "$.image[1:]"}
    """
}
