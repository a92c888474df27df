extension CatalogFile {
  /// What only the custom of a currency tells of the prices on a page: "1.299" is 1,299 in euros, and might be 1.30 in
  /// somebody's database.
  ///
  /// Where other prices of the field show what the point does, nothing is in doubt.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - position: The source that it is of.
  /// - Returns: A finding for each field with such prices; none for a page that cannot be read, which fails by itself.
  package func customaryPrices(
    in body: [UInt8],
    ofSource position: Int
  ) -> [CatalogFinding] {
    guard let (decoder, elements) = try? elements(of: body, position) else { return [] }
    let item = decoder.mapping.item
    return [("normalPrice", item.normalPrice), ("salePrice", item.salePrice)].compactMap {
      field,
      rules in
      var custom = PriceCustom()
      for element in elements {
        var reader = FieldReader(node: element, currency: decoder.currency)
        guard let (text, currency) = reader.priceText(rules) else { continue }
        custom.add(text, currency)
      }
      return custom.finding(field)
    }
  }

  /// The items of a page as they came, of all its sections.
  private func elements(
    of body: [UInt8],
    _ position: Int
  ) throws(CatalogError) -> (decoder: ListingDecoder, elements: [JSONNode]) {
    let decoder = ListingDecoder(mapping: mapping(ofSource: position), currency: currency)
    let root = try decoder.read(body, of: "page").root
    var elements: [JSONNode] = []
    for node in try sections.parts(ofSource: position)?.each.values(in: root) ?? [root] {
      elements += try decoder.elements(of: node, subject: "page")
    }
    return (decoder, elements)
  }
}

/// The texts of a price field, and whether they leave open what the point does.
struct PriceCustom {
  /// What the texts that are sure say of the point.
  private var shown: Set<WrittenPrice.Point> = []
  /// The texts that are not, each with what it is read as.
  private var open: [(text: String, price: Price, meaning: WrittenPrice.Point)] = []

  /// Takes a price as it is written.
  mutating func add(_ text: String, _ currency: String) {
    // What cannot be read at all is reported as lost.
    guard let written = try? WrittenPrice(text), let point = written.point(in: currency) else {
      return
    }
    guard point == .open else {
      shown.insert(point)
      return
    }
    guard let price = try? Price(parsing: text, currency: currency),
      let isGrouped = try? written.parts(in: currency).fraction.isEmpty
    else { return }
    open.append((text, price, isGrouped ? .groups : .decimals))
  }

  /// What is in doubt; nil when nothing is.
  func finding(_ field: String) -> CatalogFinding? {
    guard let (text, price, meaning) = open.first, shown != [meaning] else { return nil }
    return CatalogFinding(
      .ambiguousPrice,
      field: field,
      count: open.count,
      message:
        "only the custom of \(price.currency) tells what such prices mean: \"\(text)\" is read as "
        + "\(price.formatted()); when that is wrong, let a transform make it a number",
      examples: open.map(\.text)
    )
  }
}
