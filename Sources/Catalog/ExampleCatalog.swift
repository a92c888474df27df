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
