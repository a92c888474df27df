extension ListingDecoder {
  /// Decodes a body that holds all sections.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - plan: Where the sections and their names are.
  ///   - firstIndices: By section, how many elements earlier pages listed.
  /// - Returns: The sections; one that cannot be used is among those that failed.
  /// - Throws: ``CatalogError`` when the body as a whole cannot be used, or none of its sections.
  public func sections(
    _ body: [UInt8],
    plan: CombinedSections,
    firstIndices: [String: Int] = [:]
  ) throws(CatalogError) -> DecodedListing {
    do throws(CatalogError) {
      return try listing(body, plan: plan, firstIndices: firstIndices)
    } catch {
      // Of a feed in XML, the fault itself says more than that it is no JSON.
      throw mapping.notation == .json ? error.quoting(body) : error
    }
  }

  private func listing(
    _ body: [UInt8],
    plan: CombinedSections,
    firstIndices: [String: Int]
  ) throws(CatalogError) -> DecodedListing {
    let (root, nextPage, _) = try read(body, of: "sections")
    try mapping.envelope.checkStatus(of: root, subject: "sections")
    let nodes = try plan.each.values(in: root)
    guard try nodes.isEmpty ? isArray(plan.each, in: root) : true else {
      throw CatalogError(
        .unexpectedShape,
        subject: "sections",
        reason: "\(plan.each) leads to nothing in \(root.kind.phrase)",
        remedy: mapping.transform == nil
          ? "correct \"each\" under sections"
          : "let the transform make {\"sections\": […]}, or correct \"each\" under sections"
      )
    }
    var listing = DecodedListing(sections: [], elementCount: 0, nextPage: nextPage)
    for (position, node) in nodes.enumerated() {
      try decodeSection(node, at: position, plan, firstIndices, into: &listing)
    }
    if listing.sections.isEmpty, let first = listing.failed.first {
      throw CatalogError(
        .unexpectedShape,
        subject: "sections",
        reason: "none of \(nodes.count) can be used, the first because \(first.reason)"
      )
    }
    return listing
  }

  /// Adds one section to the listing, or why it fails: alone, for the others are as good as before.
  private func decodeSection(
    _ node: JSONNode,
    at position: Int,
    _ plan: CombinedSections,
    _ firstIndices: [String: Int],
    into listing: inout DecodedListing
  ) throws(CatalogError) {
    func fail(_ key: String?, _ reason: String) {
      listing.failed.append(FailedSection(index: position, key: key, reason: reason))
    }
    var reader = FieldReader(node: node, currency: currency)
    let remedy = "correct \"key\" under sections, or the feed"
    guard let key = try plan.key.firstValue(in: node).flatMap(FieldReader.plainText), !key.isEmpty
    else { return fail(nil, "it has no key at \(plan.key); \(remedy)") }
    guard isFileName(key) else {
      return fail(nil, "its key at \(plan.key) could not be a file name; \(remedy)")
    }
    let others = listing.sections.map(\.key) + listing.failed.compactMap(\.key)
    guard !others.contains(key) else {
      return fail(key, "an earlier section has the same key at \(plan.key); \(remedy)")
    }
    let elements: [JSONNode]
    do throws(CatalogError) {
      elements = try self.elements(of: node, subject: "section \(key)")
    } catch {
      return fail(key, error.reason + (error.remedy.map { "; \($0)" } ?? ""))
    }
    var section = Section(
      key: key,
      title: plan.title.flatMap { reader.identifier([$0]) } ?? key,
      subtitle: plan.subtitle.flatMap { reader.identifier([$0]) }
    )
    for fault in reader.faults {
      listing.skipped.append(
        SkippedItem(
          section: key,
          index: position,
          field: fault.field,
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
    if let reason = sharedID(of: section.items) {
      listing.skipped.removeAll { $0.section == key }
      return fail(key, "\(reason); correct item.id in the catalog file, or the feed")
    }
    listing.absent[key] = try absentFields(of: section.items, in: elements)
    listing.sections.append(section)
    listing.elementCount += elements.count
  }

  private func isArray(_ path: JSONPath, in root: JSONNode) throws(CatalogError) -> Bool {
    try path.withoutLastChoice?.firstValue(in: root).map { $0.kind == .array } ?? false
  }
}
