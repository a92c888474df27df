/// Turns bodies into details.
public struct DetailDecoder: Sendable {
  /// What stands around the details.
  public let envelope: Mapping.Envelope
  /// Where things are.
  public let mapping: Mapping.Detail
  /// The catalog's currency.
  public let currency: String

  /// Makes a decoder.
  public init(envelope: Mapping.Envelope, mapping: Mapping.Detail, currency: String) {
    self.envelope = envelope
    self.mapping = mapping
    self.currency = currency
  }

  /// Decodes the detail of one item, from a body that holds it alone or those of many.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - id: The item's id.
  /// - Returns: The detail.
  /// - Throws: ``CatalogError`` when the body is no JSON, says that it failed, holds no detail of
  ///   that item, or a field is of the wrong type.
  public func detail(_ body: [UInt8], id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    let entries = try entries(of: body, subject: subject)
    for entry in entries {
      guard let named = try name(of: entry, subject: subject) else { continue }
      if named == id { return try read(entry, id: id) }
      guard entries.count > 1 else {
        throw shapeError(subject, "the body is the detail of \"\(named.prefix(40))\"")
      }
    }
    guard entries.count == 1, let entry = entries.first else {
      throw CatalogError(
        .absentDetail,
        subject: subject,
        reason: "the body holds details of other items only"
      )
    }
    return try read(entry, id: id)
  }

  /// Decodes all details of a body that holds those of many items.
  ///
  /// - Parameter body: JSON in UTF-8.
  /// - Returns: The details in the body's order.
  /// - Throws: ``CatalogError`` when the body cannot be used, or one of its details has no id.
  public func details(_ body: [UInt8]) throws(CatalogError) -> [ItemDetail] {
    var details: [ItemDetail] = []
    for entry in try entries(of: body, subject: "details") {
      guard let id = try name(of: entry, subject: "details") else {
        throw shapeError("details", "number \(details.count) has no id")
      }
      details.append(try read(entry, id: id))
    }
    return details
  }

  private func entries(
    of body: [UInt8],
    subject: String
  ) throws(CatalogError) -> [JSONNode] {
    let root = try JSONDocument(parsing: body, of: subject).root
    try envelope.checkStatus(of: root, subject: subject)
    for path in mapping.entries {
      let values = path.values(in: root)
      if !values.isEmpty, values.allSatisfy({ $0.kind == .object }) { return values }
    }
    throw shapeError(subject, "expected an object, found \(root.kind.phrase)")
  }

  private func name(of entry: JSONNode, subject: String) throws(CatalogError) -> String? {
    do throws(FieldFault) {
      return try FieldReader(node: entry, currency: currency).identifier(mapping.id)
    } catch {
      throw shapeError(subject, "\(error.field ?? "id"): \(error.reason)")
    }
  }

  private func read(_ entry: JSONNode, id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    let outer = FieldReader(node: entry, currency: currency)
    guard let root = outer.first(mapping.root)?.value, root.kind == .object else {
      throw shapeError(subject, "expected the fields of a detail, found none")
    }
    let reader = FieldReader(node: root, currency: currency)
    guard holdsAnyField(reader) else {
      throw shapeError(subject, "expected the fields of a detail, found none")
    }
    do throws(FieldFault) {
      var notes: [String: String] = [:]
      for rule in mapping.notes { notes[rule.name] = try reader.note(rule.paths) }
      return ItemDetail(
        id: id,
        description: try reader.text(mapping.description),
        prices: try reader.prices(mapping.prices),
        images: try reader.images(mapping.images),
        notes: notes
      )
    } catch {
      throw shapeError(subject, (error.field.map { "\($0): " } ?? "") + error.reason)
    }
  }

  /// Whether anything that the mapping names is there, so that `{}` does not pass for a detail.
  private func holdsAnyField(_ reader: FieldReader) -> Bool {
    let images = ImageReference.Role.allCases.flatMap { mapping.images[$0] }
    let paths =
      mapping.description + mapping.prices.map(\.path) + images + mapping.notes.flatMap(\.paths)
    return paths.contains { path in
      path.firstValue(in: reader.node) != nil
        || path.withoutLastWildcard?.firstValue(in: reader.node) != nil
    }
  }

  private func shapeError(_ subject: String, _ reason: String) -> CatalogError {
    CatalogError(.unexpectedShape, subject: subject, reason: reason)
  }
}

extension FieldReader {
  /// A note: text, or a number as text.
  fileprivate func note(_ paths: [JSONPath]) throws(FieldFault) -> String? {
    guard let (path, value) = first(paths) else { return nil }
    if let text = value.text { return text.isEmpty ? nil : text }
    if let integer = value.integer { return String(integer) }
    if let real = value.real { return real.description }
    throw FieldFault(
      field: path.lastName,
      reason: "expected text or a number, found \(value.kind.phrase)"
    )
  }
}
