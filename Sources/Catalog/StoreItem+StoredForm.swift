extension StoreItem {
  /// The item as compact JSON: the same item always gives the same bytes, and absent values no key.
  public func encoded() -> [UInt8] {
    var writer = StoredFormWriter()
    writer.object {
      $0.member("id", id)
      $0.member("title", title)
      if let description {
        $0.member("description", description)
      }
      $0.member("badges", badges)
      $0.member("deliveryTypes", deliveryTypes)
      if let normalPrice {
        $0.name("normalPrice")
        $0.value(normalPrice)
      }
      if let salePrice {
        $0.name("salePrice")
        $0.value(salePrice)
      }
      if let coordinate {
        $0.member("coordinate", coordinate.text)
      }
      if let address {
        $0.member("address", address)
      }
      $0.name("images")
      $0.value(images)
      if let placeValues {
        $0.name("placeValues")
        $0.value(placeValues)
      }
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
      address: try reader.optionalText("address"),
      images: try reader.images("images"),
      placeValues: try reader.optionalDictionary("placeValues")
    )
  }
}
