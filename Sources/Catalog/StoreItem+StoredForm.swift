extension StoreItem {
  /// The item as compact JSON: the same item always gives the same bytes, and absent values no key.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.name("id")
      $0.value(id)
      $0.name("title")
      $0.value(title)
      if let description {
        $0.name("description")
        $0.value(description)
      }
      $0.name("badges")
      $0.value(badges)
      $0.name("deliveryTypes")
      $0.value(deliveryTypes)
      if let normalPrice {
        $0.name("normalPrice")
        $0.value(normalPrice)
      }
      if let salePrice {
        $0.name("salePrice")
        $0.value(salePrice)
      }
      if let coordinate {
        $0.name("coordinate")
        $0.value(coordinate.text)
      }
      $0.name("images")
      $0.value(images)
    }
    return writer.bytes
  }

  /// Reads what ``encoded()`` or any other JSON coder wrote.
  ///
  /// - Parameter bytes: One JSON object.
  /// - Throws: ``CatalogError`` when the bytes are anything else.
  public init(decoding bytes: [UInt8]) throws(CatalogError) {
    let reader = try StoredFormReader(bytes, subject: "stored item")
    self.init(
      id: try reader.text("id"),
      title: try reader.text("title"),
      description: try reader.optionalText("description"),
      badges: try reader.texts("badges"),
      deliveryTypes: try reader.texts("deliveryTypes"),
      normalPrice: try reader.optionalPrice("normalPrice"),
      salePrice: try reader.optionalPrice("salePrice"),
      coordinate: try reader.optionalText("coordinate").flatMap { Coordinate(text: $0) },
      images: try reader.images("images")
    )
  }
}
