extension BuiltInFormat {
  /// Google's product feed, as ``MerchantFeed`` makes JSON of it. (Google Merchant Center, product data specification)
  static let googleMerchantYAML = """
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
