/// Turns bodies into sections: tolerant item by item, strict about the body as a whole.
public struct ListingDecoder: Sendable {
  /// Where things are.
  public let mapping: Mapping
  /// The catalog's currency.
  public let currency: String
  /// Where the next page is named; nil when it is not.
  public let nextPage: JSONPath?

  /// Makes a decoder.
  public init(mapping: Mapping, currency: String, nextPage: JSONPath? = nil) {
    self.mapping = mapping
    self.currency = currency
    self.nextPage = nextPage
  }

  /// Decodes the body of one section.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - source: The section it was fetched for.
  ///   - firstIndex: How many elements earlier pages listed.
  /// - Returns: The section, with what had to be skipped.
  /// - Throws: ``CatalogError`` when the body is no JSON, says that it failed, or holds no items
  ///   where the mapping looks. An empty array is an empty section.
  public func section(
    _ body: [UInt8],
    source: SectionSource,
    firstIndex: Int = 0
  ) throws(CatalogError) -> DecodedListing {
    let subject = "section \(source.key)"
    let root = try JSONDocument(parsing: body, of: subject).root
    try mapping.envelope.checkStatus(of: root, subject: subject)
    let elements = try elements(of: root, subject: subject)
    var section = Section(
      key: source.key,
      title: source.title ?? onlyText(mapping.envelope.title, in: root) ?? source.key,
      subtitle: source.subtitle ?? onlyText(mapping.envelope.subtitle, in: root)
    )
    var skipped: [SkippedItem] = []
    decode(elements, into: &section, skipped: &skipped, firstIndex: firstIndex)
    return DecodedListing(
      sections: [section],
      skipped: skipped,
      elementCount: elements.count,
      nextPage: link(in: root)
    )
  }

  /// Adds the usable elements to a section, and records the others.
  func decode(
    _ elements: [JSONNode],
    into section: inout Section,
    skipped: inout [SkippedItem],
    firstIndex: Int
  ) {
    section.items.reserveCapacity(elements.count)
    for (position, element) in elements.enumerated() {
      do throws(FieldFault) {
        section.items.append(try item(element))
      } catch {
        skipped.append(
          SkippedItem(
            section: section.key,
            index: firstIndex + position,
            field: error.field,
            lost: .item,
            reason: error.reason
          )
        )
      }
    }
  }

  private func item(_ node: JSONNode) throws(FieldFault) -> StoreItem {
    guard node.kind == .object else {
      throw FieldFault(field: nil, reason: "expected an object, found \(node.kind.phrase)")
    }
    let fields = mapping.item
    let reader = FieldReader(node: node, currency: currency)
    guard let id = try reader.identifier(fields.id) else {
      throw FieldFault(field: fields.id.first?.lastName, reason: "the item has no id")
    }
    guard let title = try reader.text(fields.title) else {
      throw FieldFault(field: fields.title.first?.lastName, reason: "the item has no title")
    }
    return StoreItem(
      id: id,
      title: title,
      description: try reader.text(fields.description),
      badges: try reader.texts(fields.badges),
      deliveryTypes: try reader.texts(fields.deliveryTypes),
      normalPrice: try reader.price(fields.normalPrice),
      salePrice: try reader.price(fields.salePrice),
      coordinate: try reader.coordinate(fields.latitude, fields.longitude),
      images: try reader.images(fields.images)
    )
  }

  /// The elements of the arrays that the first fitting alternative leads to.
  func elements(of root: JSONNode, subject: String) throws(CatalogError) -> [JSONNode] {
    for path in mapping.items {
      if let arrays = arrays(path, in: root) { return arrays.flatMap(\.elements) }
    }
    let paths = mapping.items.map(\.description).joined(separator: ", ")
    throw CatalogError(
      .unexpectedShape,
      subject: subject,
      expected: "an array of items at \(paths)",
      reason: "expected an array of items at \(paths), found none in \(root.kind.phrase)",
      remedy: "correct \"items\" in the catalog file"
    )
  }

  /// The arrays that a path leads to; nil unless it leads to arrays alone, `null` aside.
  private func arrays(_ path: JSONPath, in root: JSONNode) -> [JSONNode]? {
    let values = path.values(in: root).filter { $0.kind != .null }
    if !values.isEmpty, values.allSatisfy({ $0.kind == .array }) { return values }
    return path.withoutLastWildcard.flatMap { parents in
      let arrays = parents.values(in: root)
      return !arrays.isEmpty && arrays.allSatisfy { $0.kind == .array } ? arrays : nil
    }
  }

  /// The one text that alternatives lead to; nil when they lead to several different ones.
  private func onlyText(_ paths: [JSONPath], in root: JSONNode) -> String? {
    for path in paths {
      let texts = Set(path.values(in: root).compactMap(\.text).filter { !$0.isEmpty })
      if texts.count == 1 { return texts.first }
    }
    return nil
  }

  /// What the body calls the next page.
  func link(in root: JSONNode) -> String? {
    guard let text = nextPage?.firstValue(in: root)?.text, !text.isEmpty else { return nil }
    return text
  }
}
