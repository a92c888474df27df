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
