/// What the first page of a section says about its catalog file: what maps, and what looks wrong.
package struct SectionCheck: Sendable {
  /// A field of the catalog file, and how many items have a value in it.
  package struct Field: Sendable {
    /// The field: `salePrice`, `images.thumbnail`.
    package let name: String
    /// Its paths, in order.
    package let paths: [String]
    /// How many items have it.
    package let items: Int
  }

  /// The section.
  package let section: Section
  /// How many elements could not be read.
  package let skipped: Int
  /// The fields that have paths.
  package let fields: [Field]
  /// What looks wrong, the gravest first.
  package var findings: [CatalogFinding]

  /// Judges a section of a page.
  ///
  /// - Parameters:
  ///   - section: The section.
  ///   - listing: The page that it is from.
  ///   - mapping: How it was read.
  package init(_ section: Section, of listing: DecodedListing, mapping: Mapping) {
    self.section = section
    let items = section.items
    let skips = listing.skipped.filter { $0.section == section.key }
    skipped = Set(skips.filter { $0.lost == .item }.map(\.index)).count
    var fields = [
      Field(name: "id", paths: mapping.item.id.map(\.description), items: items.count),
      Field(name: "title", paths: mapping.item.title.map(\.description), items: items.count),
    ]
    for field in ItemField.allCases where !mapping.item.paths(of: field).isEmpty {
      fields.append(
        Field(
          name: field.rawValue,
          paths: mapping.item.paths(of: field).map(\.description),
          items: items.count(where: field.isHeld)
        )
      )
    }
    self.fields = fields
    findings =
      Self.unreadable(skips) + Self.unmatched(fields, of: section, in: listing)
      + Self.odd(items, mapping.item)
  }

  /// What could not be read, by field and reason.
  private static func unreadable(_ skips: [SkippedItem]) -> [CatalogFinding] {
    var groups: [(skip: SkippedItem, examples: [String], count: Int)] = []
    for skip in skips {
      let example = skip.id ?? "element \(skip.index)"
      if let place = groups.firstIndex(where: {
        $0.skip.lost == skip.lost && $0.skip.field == skip.field
          && (skip.lost == .field || $0.skip.reason == skip.reason)
      }) {
        groups[place].examples.append(example)
        groups[place].count += 1
      } else {
        groups.append((skip, [example], 1))
      }
    }
    return groups.map { skip, examples, count in
      CatalogFinding(
        skip.lost == .item ? .itemSkipped : .fieldLost,
        field: skip.field,
        count: count,
        message: skip.lost == .item
          ? "cannot be read: \(skip.reason)" : "have a value that cannot be read: \(skip.reason)",
        examples: examples
      )
    }
  }

  /// Paths that the catalog file spells out and that lead to nothing.
  private static func unmatched(
    _ fields: [Field],
    of section: Section,
    in listing: DecodedListing
  ) -> [CatalogFinding] {
    guard !section.items.isEmpty else {
      return [
        CatalogFinding(.empty, message: "the section has no items; is that so in the shop?")
      ]
    }
    let absent = Set(listing.absent[section.key]?.map(\.rawValue) ?? [])
    return fields.filter { absent.contains($0.name) }.map { field in
      CatalogFinding(
        .neverMatches,
        field: field.name,
        count: section.items.count,
        message: "no item has a value at \(field.paths.joined(separator: ", ")); "
          + "correct the path or remove the key"
      )
    }
  }

  private static func odd(_ items: [StoreItem], _ mapping: Mapping.Item) -> [CatalogFinding] {
    var findings: [CatalogFinding] = []
    var seen: Set<String> = []
    let repeated = items.filter { !seen.insert($0.id).inserted }.map(\.id)
    if !repeated.isEmpty {
      findings.append(
        CatalogFinding(
          .duplicateID,
          field: "id",
          count: repeated.count,
          message: "have an id that an earlier item has; is id the right field?",
          examples: repeated
        )
      )
    }
    let dearer = items.filter { item in
      guard let sale = item.salePrice, let normal = item.normalPrice else { return false }
      return sale.currency == normal.currency && sale.minorUnits > normal.minorUnits
    }
    if !dearer.isEmpty {
      findings.append(
        CatalogFinding(
          .saleAboveNormal,
          field: "salePrice",
          count: dearer.count,
          message: dearer.count * 2 > items.count
            ? "cost more than their normal price; are salePrice and normalPrice swapped?"
            : "cost more than their normal price",
          examples: dearer.map(\.id)
        )
      )
    }
    if let finding = minorUnits(items, mapping.salePrice) { findings.append(finding) }
    let pages = items.filter { $0.images.contains { PictureText.isPage($0.url) } }
    if !pages.isEmpty {
      findings.append(
        CatalogFinding(
          .pictureIsPage,
          field: "images",
          count: pages.count,
          message: "have a picture whose URL ends as a page's; take the field with the "
            + "picture itself",
          examples: pages.map(\.id)
        )
      )
    }
    return findings
  }

  /// Prices that look a hundred times too high, where the file does not say how a number is meant.
  private static func minorUnits(
    _ items: [StoreItem],
    _ rules: [Mapping.PriceRule]
  ) -> CatalogFinding? {
    guard rules.allSatisfy({ $0.scale == nil }) else { return nil }
    let priced = items.filter { $0.salePrice != nil }
    let prices = priced.compactMap(\.salePrice)
    guard let currency = prices.first?.currency, Currency.exponent(of: currency) == 2,
      prices.allSatisfy({ $0.minorUnits.isMultiple(of: 100) }),
      PriceProposal.seemsMinor(prices.map { $0.minorUnits / 100 })
    else { return nil }
    return CatalogFinding(
      .minorUnits,
      field: "salePrice",
      count: priced.count,
      message: "seem to cost a hundred times too much (\(prices[0].formatted())); "
        + "if the number counts cents, write {path: \(rules.first?.path.description ?? "$"), minorUnits: true}",
      examples: priced.map(\.id)
    )
  }
}

extension DecodedListing {
  /// What looks wrong about a page as a whole, not about one section.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - paging: The paging in the catalog file; nil when there is none.
  ///   - hasNextLink: Whether its `Link` header names a next page.
  /// - Returns: What looks wrong; nothing when all is well.
  package func pageFindings(
    of body: [UInt8],
    paging: PagingRule?,
    hasNextLink: Bool
  ) -> [CatalogFinding] {
    if let size = paging?.size, elementCount > size.value {
      return [
        CatalogFinding(
          .pageSize,
          field: "paging.size",
          count: elementCount,
          message: "\(size.value) elements a page are asked for, and \(elementCount) came; "
            + "the shop does not know \(size.name), or names it otherwise"
        )
      ]
    }
    guard paging == nil, let root = try? JSONDocument(parsing: body).root else { return [] }
    let place = ItemPlace.all(in: root).first { $0.items.count == elementCount }
    let goesOn = place.flatMap {
      PagingProposal(root: root, place: $0, query: [], hasNextLink: hasNextLink)
    }
    if let goesOn, goesOn.confidence >= 0.8 {
      let message =
        "the listing seems to have more pages (\(goesOn.reason)), and the file has no paging; "
        + "write paging: \(goesOn.yaml)"
      return [
        CatalogFinding(.morePages, field: "paging", count: elementCount, message: message)
      ]
    }
    // What a sync warns of is found here too.
    guard let message = unfollowed(hasNextLink: hasNextLink) else { return [] }
    return [CatalogFinding(.morePages, field: "paging", count: elementCount, message: message)]
  }
}
