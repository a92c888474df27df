import Base

/// Decodes a shop's response into the details of items.
///
/// A detail is the document about one item that has more fields than the item's entry in a list, for example a long
/// description and more pictures.
struct DetailDecoder {
  /// The members around the details in a response, such as a status.
  let envelope: Mapping.Envelope
  /// The paths to the fields of a detail.
  let mapping: Mapping.Detail
  /// The catalog's currency, for example "KRW".
  let currency: String

  /// Decodes the detail of one item.
  ///
  /// - Parameters:
  ///   - body: The response, as JSON in UTF-8. It holds either this detail alone or the details of many items.
  ///   - id: The item's id.
  /// - Returns: The detail. The fields that cannot be read are listed in ``ItemDetail/lost``.
  /// - Throws: ``CatalogError`` if the body is not JSON, reports a failure, or has no detail of the item. This error is
  ///   also thrown if no field of the detail can be read.
  func detail(_ body: [UInt8], id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    let entries = try entries(of: body, subject: subject)
    if entries.count == 1 {
      if let named = try name(of: entries[0], subject: subject), named != id {
        throw CatalogError.shape(subject, "the body is the detail of \"\(named.prefix(40))\"")
      }
      return try read(entries[0], id: id)
    }
    let names = entries.map { try? name(of: $0, subject: subject) }
    if let own = names.firstIndex(where: { $0?.exact == id.exact }) {
      return try read(entries[own], id: id)
    }
    guard names.contains(where: { $0 != nil }) else {
      throw CatalogError.shape(
        subject,
        "none of the \(entries.count) details in the body has an id"
      )
    }
    throw CatalogError(
      .absentDetail,
      subject: subject,
      reason: "the body has only details of other items"
    )
  }

  /// Decodes a response that holds the details of many items.
  ///
  /// - Parameter body: The response, as JSON in UTF-8.
  /// - Returns: The details that can be read, in the order of the body, and the reasons why the others cannot be read.
  /// - Throws: ``CatalogError`` if the body cannot be used, or if none of its details can be read.
  func details(_ body: [UInt8]) throws(CatalogError) -> DecodedDetails {
    var decoded = DecodedDetails()
    var places: [ExactText: Int] = [:]
    var first: CatalogError?
    for (index, entry) in try entries(of: body, subject: "details").enumerated() {
      var id: String?
      do throws(CatalogError) {
        id = try name(of: entry, subject: "details")
        guard let id else { throw CatalogError.shape("details", "number \(index) has no id") }
        let detail = try read(entry, id: id)
        guard let place = places[id.exact] else {
          places[id.exact] = decoded.details.count
          decoded.details.append(detail)
          continue
        }
        var lost = decoded.details[place].lost ?? []
        let same = LostField(
          field: mapping.id.first?.lastName,
          reason: "another detail has the same id"
        )
        if decoded.details[place] == detail || lost.contains(same) { continue }
        lost.append(same)
        decoded.details[place].lost = lost
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
      let root = try JSONDocument(parsing: body, of: subject).root
      try envelope.checkStatus(of: root, subject: subject)
      for path in mapping.entries {
        let values = try path.values(in: root)
        if !values.isEmpty, values.allSatisfy({ $0.kind == .object }) { return values }
      }
      throw CatalogError.shape(subject, "expected an object, found \(root.kind.phrase)")
    } catch {
      throw error.quoting(body)
    }
  }

  private func name(of entry: JSONNode, subject: String) throws(CatalogError) -> String? {
    var reader = FieldReader(node: entry, currency: currency)
    let id = reader.identifier(mapping.id)
    if let fault = reader.faults.first {
      throw CatalogError.shape(subject, "\(fault.field ?? "id"): \(fault.reason)")
    }
    return id
  }

  private func read(_ entry: JSONNode, id: String) throws(CatalogError) -> ItemDetail {
    let subject = "detail \(id)"
    var outer = FieldReader(node: entry, currency: currency)
    guard let root = outer.first(mapping.root)?.value, root.kind == .object,
      try holdsAnyField(root)
    else { throw CatalogError.shape(subject, "expected the fields of a detail, found none") }
    var reader = FieldReader(node: root, currency: currency, values: mapping.values)
    var detail = ItemDetail(id: id)
    detail.description = reader.text(mapping.description)
    detail.prices = reader.prices(mapping.prices)
    detail.images = reader.images(mapping.images)
    detail.notes = reader.notes(mapping.notes).mapValues(reader.plain)
    // If no field can be read, this is an error, so that the run keeps the detail that is in the cache.
    if let fault = reader.faults.first, detail == ItemDetail(id: id) {
      throw CatalogError.shape(subject, (fault.field.map { "\($0): " } ?? "") + fault.reason)
    }
    detail.empty = try emptyFields(of: detail, in: root)
    detail.lost = reader.faults.isEmpty ? nil : reader.faults
    return detail
  }

  /// The names of the fields whose value in the response is an empty list, or nil if there are none.
  ///
  /// Only fields that the catalog file itself names are considered, not those of a built-in format.
  private func emptyFields(
    of detail: ItemDetail,
    in root: JSONNode
  ) throws(CatalogError) -> [String]? {
    var empty: [String] = []
    let held = detail.fieldNames
    for field in mapping.given where !held.contains(field.name) {
      if try field.paths.leadToEmptyList(in: [root]) { empty.append(field.name) }
    }
    return empty.isEmpty ? nil : empty.sorted()
  }

  /// Whether the object has any field of the mapping.
  ///
  /// Without this check, `{}` would be a detail.
  private func holdsAnyField(_ node: JSONNode) throws(CatalogError) -> Bool {
    for path in mapping.fields.flatMap(\.paths) {
      if try path.firstValue(in: node) != nil { return true }
      if try path.withoutLastChoice?.firstValue(in: node) != nil { return true }
    }
    return false
  }
}

/// The result of decoding a response that holds the details of many items.
public struct DecodedDetails: Hashable, Sendable {
  /// The details that could be read, in the order of the body.
  public var details: [ItemDetail] = []
  /// The details that could not be read, in the order of the body.
  public var unreadable: [UnreadableDetail] = []
}

/// A detail that could not be read, although other details of the same body could.
public struct UnreadableDetail: Hashable, Sendable {
  /// The id of the item, or nil if the id could not be read either.
  public var id: String?
  /// The position of the detail in the body, counted from 0.
  public var index: Int
  /// The reason why the detail could not be read.
  public var reason: String
}
