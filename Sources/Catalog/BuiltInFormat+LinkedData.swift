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
