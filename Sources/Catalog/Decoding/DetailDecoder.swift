/// Decodes details of items from the bodies of responses.
public struct DetailDecoder: Sendable {
  /// The members around the details.
  public let envelope: Mapping.Envelope
  /// The paths to a detail's fields.
  public let mapping: Mapping.Detail
  /// The catalog's currency.
  public let currency: String

  /// Makes a decoder.
  public init(envelope: Mapping.Envelope, mapping: Mapping.Detail, currency: String) {
    self.envelope = envelope
    self.mapping = mapping
    self.currency = currency
  }

  /// Decodes the detail of one item, from a body that holds only this detail, or the details of many items.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - id: The item's id.
  /// - Returns: The detail, with the fields that could not be read in ``ItemDetail/lost``.
  /// - Throws: ``CatalogError`` when the body is not JSON, reports a failure, or has no detail of that item, and when
  ///   no field of the detail can be read.
  public func detail(_ body: [UInt8], id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    let entries = try entries(of: body, subject: subject)
    for entry in entries {
      let found: String?
      do throws(CatalogError) {
        found = try name(of: entry, subject: subject)
      } catch {
        // In a body of many details, a detail whose id cannot be read does not fail this item.
        guard entries.count > 1 else { throw error }
        continue
      }
      guard let named = found else { continue }
      if named == id { return try read(entry, id: id) }
      guard entries.count > 1 else {
        throw shapeError(subject, "the body is the detail of \"\(named.prefix(40))\"")
      }
    }
    guard entries.count == 1, let entry = entries.first else {
      throw CatalogError(
        .absentDetail,
        subject: subject,
        reason: "the body has only details of other items"
      )
    }
    return try read(entry, id: id)
  }

  /// Decodes all details of a body that holds the details of many items.
  ///
  /// - Parameter body: JSON in UTF-8.
  /// - Returns: The details that can be read, in the body's order, and a list of the others with the reasons.
  /// - Throws: ``CatalogError`` when the body cannot be used, or none of its details can be read.
  public func details(_ body: [UInt8]) throws(CatalogError) -> DecodedDetails {
    var decoded = DecodedDetails(details: [])
    var first: CatalogError?
    for (index, entry) in try entries(of: body, subject: "details").enumerated() {
      var id: String?
      do throws(CatalogError) {
        id = try name(of: entry, subject: "details")
        guard let id else { throw shapeError("details", "number \(index) has no id") }
        decoded.details.append(try read(entry, id: id))
      } catch {
        first = first ?? error
        decoded.unreadable.append(UnreadableDetail(id: id, index: index, reason: error.reason))
      }
    }
    if decoded.details.isEmpty, let first { throw first }
    return decoded
  }

  private func entries(
    of body: [UInt8],
    subject: String
  ) throws(CatalogError) -> [JSONNode] {
    do throws(CatalogError) {
      return try found(in: body, subject: subject)
    } catch {
      throw error.quoting(body)
    }
  }

  private func found(
    in body: [UInt8],
    subject: String
  ) throws(CatalogError) -> [JSONNode] {
    let root = try JSONDocument(parsing: body, of: subject).root
    try envelope.checkStatus(of: root, subject: subject)
    for path in mapping.entries {
      let values = try path.values(in: root)
      if !values.isEmpty, values.allSatisfy({ $0.kind == .object }) { return values }
    }
    throw shapeError(subject, "expected an object, found \(root.kind.phrase)")
  }

  private func name(of entry: JSONNode, subject: String) throws(CatalogError) -> String? {
    var reader = FieldReader(node: entry, currency: currency)
    let id = reader.identifier(mapping.id)
    if let fault = reader.faults.first {
      throw shapeError(subject, "\(fault.field ?? "id"): \(fault.reason)")
    }
    return id
  }

  private func read(_ entry: JSONNode, id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    var outer = FieldReader(node: entry, currency: currency)
    guard let root = outer.first(mapping.root)?.value, root.kind == .object else {
      throw shapeError(subject, "expected the fields of a detail, found none")
    }
    var reader = FieldReader(node: root, currency: currency, values: mapping.values)
    guard try holdsAnyField(reader) else {
      throw shapeError(subject, "expected the fields of a detail, found none")
    }
    var detail = ItemDetail(id: id)
    detail.description = reader.text(mapping.description)
    detail.prices = reader.prices(mapping.prices)
    detail.images = reader.images(mapping.images)
    for rule in mapping.notes { detail.notes[rule.name] = reader.identifier(rule.paths) }
    // Fail if no field could be read, so that the cached detail is kept.
    if let fault = reader.faults.first, detail == ItemDetail(id: id) {
      throw shapeError(subject, (fault.field.map { "\($0): " } ?? "") + fault.reason)
    }
    detail.empty = try emptyFields(of: detail, in: root)
    guard !reader.faults.isEmpty else { return detail }
    detail.lost = reader.faults.map { LostField(field: $0.field, reason: $0.reason) }
    return detail
  }

  /// The names of the fields that are empty lists, among those that the catalog file names; nil when there are none.
  private func emptyFields(
    of detail: ItemDetail,
    in root: JSONNode
  ) throws(CatalogError) -> [String]? {
    var empty: Set<DetailField> = []
    for field in mapping.given where !field.isHeld(by: detail) {
      for path in mapping.paths(of: field) where try path.leadsToEmptyList(in: root) {
        empty.insert(field)
      }
    }
    return empty.isEmpty ? nil : empty.map(\.name).sorted()
  }

  /// Whether the detail has any field of the mapping, so that `{}` does not count as a detail.
  private func holdsAnyField(_ reader: FieldReader) throws(CatalogError) -> Bool {
    let images = ImageReference.Role.allCases.flatMap { mapping.images[$0] }
    let paths =
      mapping.description + mapping.prices.map(\.path) + images + mapping.notes.flatMap(\.paths)
    for path in paths {
      if try path.firstValue(in: reader.node) != nil { return true }
      if try path.withoutLastChoice?.firstValue(in: reader.node) != nil { return true }
    }
    return false
  }

  private func shapeError(_ subject: String, _ reason: String) -> CatalogError {
    CatalogError(.unexpectedShape, subject: subject, reason: reason)
  }
}

/// The result of decoding a body that holds the details of many items.
public struct DecodedDetails: Hashable, Sendable {
  /// The details that could be read, in the body's order.
  public var details: [ItemDetail]
  /// The details that could not be read.
  public var unreadable: [UnreadableDetail]

  /// Makes a record.
  public init(details: [ItemDetail], unreadable: [UnreadableDetail] = []) {
    self.details = details
    self.unreadable = unreadable
  }
}

/// A detail that could not be read, in a body that holds the details of many items.
public struct UnreadableDetail: Hashable, Sendable {
  /// The id of its item; nil when that could not be read either.
  public var id: String?
  /// The detail's index in the body, counted from 0.
  public var index: Int
  /// Why it could not be read.
  public var reason: String

  /// Makes a record.
  public init(id: String?, index: Int, reason: String) {
    self.id = id
    self.index = index
    self.reason = reason
  }
}
