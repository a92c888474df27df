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
      var listing = try listing(body, plan: plan, SectionsBefore(), firstIndices: firstIndices)
      _ = listing.refuseRepeatedKeys()
      listing.settleAbsence()
      if listing.sections.isEmpty, let first = listing.failed.first {
        let name = first.key.map { ", section \($0)," } ?? ""
        throw CatalogError(
          .unexpectedShape,
          subject: "sections",
          reason:
            "none of \(listing.failed.count) can be used, the first\(name) because \(first.reason)"
        )
      }
      return listing
    } catch {
      // Of a feed in XML, the fault itself says more than that it is no JSON.
      throw mapping.notation == .json ? error.quoting(body) : error
    }
  }

  /// Decodes a window of a body that holds all sections.
  ///
  /// - Parameters:
  ///   - window: The window.
  ///   - plan: Where the sections and their names are.
  ///   - earlier: What the windows before it were decoded to; the items are of no concern.
  ///   - elements: How many elements earlier windows listed of a section that goes on.
  /// - Returns: The sections, or parts of them, whose absence is to be settled when all are there; one that cannot be
  ///   used is among those that failed.
  /// - Throws: ``CatalogError`` when only the whole body can tell what it is.
  func sections(
    in window: ListingWindow,
    plan: CombinedSections,
    after earlier: DecodedListing,
    elements: Int
  ) throws(CatalogError) -> DecodedListing {
    let last = earlier.sections.last?.key
    let hasFailed = earlier.failed.last?.index == window.sectionsBefore
    return try listing(
      window.bytes,
      plan: plan,
      SectionsBefore(
        count: window.sectionsBefore,
        keys: Set(earlier.sections.map(\.key) + earlier.failed.compactMap(\.key)),
        extent: window.extent,
        open: hasFailed ? nil : last
      ),
      firstIndices: window.isContinuation ? last.map { [$0: elements] } ?? [:] : [:]
    )
  }

  /// What stands before the sections that are decoded.
  private struct SectionsBefore {
    /// How many sections.
    var count = 0
    /// The keys that are taken.
    var keys: Set<String> = []
    /// How much of its sections the body has.
    var extent = ListingWindow.Extent.whole
    /// The section that goes on in the body; nil when it cannot be used.
    var open: String?
  }

  private func listing(
    _ body: [UInt8],
    plan: CombinedSections,
    _ before: SectionsBefore,
    firstIndices: [String: Int]
  ) throws(CatalogError) -> DecodedListing {
    let (root, nextPage, _, _) = try read(body, of: "sections")
    try mapping.envelope.checkStatus(of: root, subject: "sections")
    let nodes = try plan.each.values(in: root)
    guard try nodes.isEmpty ? isArray(plan.each, in: root) : true else {
      throw CatalogError(
        .absentItems,
        subject: "sections",
        reason: "\(plan.each) leads to nothing in \(root.kind.phrase)",
        remedy: mapping.transform == nil
          ? "correct \"each\" under sections"
          : "let the transform make {\"sections\": […]}, or correct \"each\" under sections"
      )
    }
    try SectionLimit.check(before.count + nodes.count)
    var listing = DecodedListing(sections: [], elementCount: 0, nextPage: nextPage)
    var before = before
    for node in nodes {
      try decodeSection(node, plan, &before, firstIndices, into: &listing)
      before.count += 1
    }
    return listing
  }

  /// Adds one section to the listing, or why it fails: alone, for the others are as good as before.
  private func decodeSection(
    _ node: JSONNode,
    _ plan: CombinedSections,
    _ before: inout SectionsBefore,
    _ firstIndices: [String: Int],
    into listing: inout DecodedListing
  ) throws(CatalogError) {
    let position = before.count
    let isContinuation = before.extent == .continuation
    func fail(_ key: String?, _ reason: String) {
      listing.failed.append(FailedSection(index: position, key: key, reason: reason))
    }
    var reader = FieldReader(node: node, currency: currency)
    let remedy = "correct \"key\" under sections, or the feed"
    let read = try plan.key.firstValue(in: node).flatMap(FieldReader.plainText)
    if isContinuation, read == nil || read != before.open { return }
    guard let key = read, !key.isEmpty
    else { return fail(nil, "it has no key at \(plan.key); \(remedy)") }
    guard isFileName(key) else {
      return fail(nil, "its key at \(plan.key) could not be a file name; \(remedy)")
    }
    guard before.keys.insert(key).inserted || isContinuation else {
      fail(key, "another section has the same key at \(plan.key); \(remedy)")
      listing.failed[listing.failed.count - 1].repeatsKey = true
      return
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
    var part = DecodedListing(sections: [], elementCount: 0, nextPage: listing.nextPage)
    for fault in reader.faults where !isContinuation {
      part.note(
        SkippedItem(
          section: key,
          index: position,
          field: fault.field,
          lost: .field,
          reason: "section \(key): \(fault.reason)"
        )
      )
    }
    part.elementCount = try decode(
      elements,
      into: &section,
      of: &part,
      firstIndex: firstIndices[key] ?? 0,
      isWhole: before.extent == .whole
    )
    if let reason = sharedID(of: section.items) {
      // The rest of the section may have other ids.
      guard before.extent == .whole else {
        throw CatalogError(.unexpectedShape, subject: "section \(key)", reason: reason)
      }
      return fail(key, "\(reason); correct item.id in the catalog file, or the feed")
    }
    part.absent[key] = try absentFields(of: section.items, in: elements)
    part.sections = [section]
    listing.append(part, isNew: true)
  }

  private func isArray(_ path: JSONPath, in root: JSONNode) throws(CatalogError) -> Bool {
    try path.withoutLastChoice?.firstValue(in: root).map { $0.kind == .array } ?? false
  }
}
