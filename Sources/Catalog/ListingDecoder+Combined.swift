extension ListingDecoder {
  /// Decodes a body that holds all sections.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - plan: Where the sections and their names are.
  ///   - firstIndices: By section, how many elements earlier pages listed.
  /// - Returns: The sections; one that cannot be used is skipped with its position.
  /// - Throws: ``CatalogError`` when the body as a whole cannot be used.
  public func sections(
    _ body: [UInt8],
    plan: CombinedSections,
    firstIndices: [String: Int] = [:]
  ) throws(CatalogError) -> DecodedListing {
    let root = try JSONDocument(parsing: body, of: "sections").root
    try mapping.envelope.checkStatus(of: root, subject: "sections")
    let nodes = plan.each.values(in: root)
    guard !nodes.isEmpty || isEmptyArray(plan.each, in: root) else {
      throw CatalogError(
        .unexpectedShape,
        subject: "sections",
        reason: "\(plan.each) leads to nothing in \(root.kind.phrase)",
        remedy: "correct \"each\" under sections"
      )
    }
    var listing = DecodedListing(sections: [], elementCount: 0, nextPage: link(in: root))
    for (position, node) in nodes.enumerated() {
      do throws(FieldFault) {
        try decodeSection(node, at: position, plan, firstIndices, into: &listing)
      } catch {
        listing.skipped.append(
          SkippedItem(
            section: "",
            index: position,
            field: error.field,
            lost: .item,
            reason: error.reason
          )
        )
      }
    }
    return listing
  }

  private func decodeSection(
    _ node: JSONNode,
    at position: Int,
    _ plan: CombinedSections,
    _ firstIndices: [String: Int],
    into listing: inout DecodedListing
  ) throws(FieldFault) {
    var reader = FieldReader(node: node, currency: currency)
    guard let key = reader.identifier([plan.key]) else {
      let absent = FieldFault(field: plan.key.lastName, reason: "the section has no key")
      throw reader.faults.first ?? absent
    }
    guard isFileName(key) else {
      throw FieldFault(field: plan.key.lastName, reason: "the key could not be a file name")
    }
    guard !listing.sections.contains(where: { $0.key == key }) else {
      throw FieldFault(field: plan.key.lastName, reason: "a second section \"\(key)\"")
    }
    let elements: [JSONNode]
    do throws(CatalogError) {
      elements = try self.elements(of: node, subject: "section \(key)")
    } catch {
      throw FieldFault(field: nil, reason: "section \(key): \(error.reason)")
    }
    var section = Section(
      key: key,
      title: plan.title.flatMap { reader.identifier([$0]) } ?? key,
      subtitle: plan.subtitle.flatMap { reader.identifier([$0]) }
    )
    for fault in reader.faults {
      listing.skipped.append(
        SkippedItem(
          section: "",
          index: position,
          field: fault.field,
          id: key,
          lost: .field,
          reason: "section \(key): \(fault.reason)"
        )
      )
    }
    decode(
      elements,
      into: &section,
      skipped: &listing.skipped,
      firstIndex: firstIndices[key] ?? 0
    )
    listing.sections.append(section)
    listing.elementCount += elements.count
  }

  private func isEmptyArray(_ path: JSONPath, in root: JSONNode) -> Bool {
    path.withoutLastWildcard?.firstValue(in: root).map { $0.kind == .array } ?? false
  }
}
