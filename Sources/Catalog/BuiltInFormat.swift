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
