/// The result of checking a catalog file against the first page of a section: the mapped fields, and the problems
/// found.
///
/// Used by `larder catalog check`.
package struct SectionCheck: Sendable {
  /// A mapped field, and how many items have a value in it.
  package struct Field: Sendable, Encodable {
    /// The name of the field: `salePrice`, `images.thumbnail`.
    package let name: String
    /// The field's paths, in order.
    package let paths: [String]
    /// How many items have the field.
    package let items: Int
  }

  /// The section.
  package let section: Section
  /// How many elements of the page could not be read.
  package let skipped: Int
  /// The total number of items that the response states; nil when it states none.
  package let total: Int?
  /// The fields that have paths.
  package let fields: [Field]
  /// The findings, the most severe first.
  package var findings: [CatalogFinding]

  /// Checks one section of a page.
  ///
  /// - Parameters:
  ///   - section: The section.
  ///   - listing: The page that the section is from.
  ///   - mapping: The mapping that the page was read with.
  package init(_ section: Section, of listing: DecodedListing, mapping: Mapping) {
    self.section = section
    let items = section.items
    let skips = listing.skipped.filter { $0.section == section.key }
    skipped = Set(skips.filter { $0.lost == .item }.map(\.index)).count
    total = listing.sections.count == 1 ? listing.total : nil
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
      + Self.odd(items)
  }

  /// The values that could not be read, by field and reason.
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

  /// Finds paths that the catalog file spells out but that lead to nothing.
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

  private static func odd(_ items: [StoreItem]) -> [CatalogFinding] {
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
}

extension DecodedListing {
  /// Findings about a page as a whole, not about one section.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - paging: The paging in the catalog file; nil when there is none.
  ///   - hasNextLink: Whether the page's `Link` header names a next page.
  /// - Returns: The findings; none if nothing is wrong.
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
          message:
            "the request asks for \(size.value) elements a page, but \(elementCount) were returned; "
            + "the shop ignores the parameter \(size.name), or has another name for it"
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
    // A warning of a sync about further pages is a finding here.
    guard let message = unfollowed(hasNextLink: hasNextLink) else { return [] }
    return [CatalogFinding(.morePages, field: "paging", count: elementCount, message: message)]
  }
}

/// Something that looks wrong in a page, as the catalog file reads it.
package struct CatalogFinding: Hashable, Sendable, Encodable {
  /// The kind of finding.
  package enum Code: String, Sendable, CaseIterable, Encodable {
    /// Items that cannot be read.
    case itemSkipped = "item-skipped"
    /// Values that cannot be read.
    case fieldLost = "field-lost"
    /// A path of the catalog file that leads to nothing.
    case neverMatches = "never-matches"
    /// Items whose price to pay is above the price before the reduction.
    case saleAboveNormal = "sale-above-normal"
    /// A crossed-out price that is higher than the lowest price of the 30 days before the sale.
    case struckPrice = "struck-price"
    /// An id that several items of one section have.
    case duplicateID = "duplicate-id"
    /// A section with the key of another section; a sync refuses such sections.
    case duplicateKey = "duplicate-key"
    /// Prices that are read as major units but seem to be in cents.
    case minorUnits = "minor-units"
    /// Prices such as "1.299", in which only the usage of the currency tells the meaning of the point.
    case ambiguousPrice = "ambiguous-price"
    /// Pictures whose URL ends like a web page's, or whose response is an HTML page.
    case pictureIsPage = "picture-is-page"
    /// A picture that cannot be fetched.
    case pictureFails = "picture-fails"
    /// A listing with further pages, in a catalog file without paging.
    case morePages = "more-pages"
    /// More elements on a page than requested.
    case pageSize = "page-size"
    /// A detail that cannot be fetched or read.
    case detailFails = "detail-fails"
    /// A field of a detail that cannot be read.
    case detailField = "detail-field"
    /// A section without items.
    case empty

    /// Whether the finding's message has no subject, so that texts put a count of items before it, such as "3 of 40".
    package var countsItems: Bool {
      switch self {
      case .itemSkipped, .fieldLost, .saleAboveNormal, .duplicateID, .minorUnits, .pictureIsPage,
        .pictureFails, .detailFails, .detailField:
        true
      case .neverMatches, .struckPrice, .duplicateKey, .ambiguousPrice, .morePages, .pageSize,
        .empty:
        false
      }
    }
  }

  /// The kind of finding.
  package let code: Code
  /// The field of the catalog file that the finding is about; nil when it is not about a field.
  @OrNull package private(set) var field: String?
  /// How many items the finding is about.
  package let count: Int
  /// The finding in words, and a possible remedy.
  ///
  /// In findings about items, the message follows a number of items: "3 of 20 have a value that cannot be read".
  package let message: String
  /// The ids of some of the items, or other examples.
  package let examples: [String]

  /// Makes a finding that keeps only the first three examples.
  package init(
    _ code: Code,
    field: String? = nil,
    count: Int = 0,
    message: String,
    examples: [String] = []
  ) {
    self.code = code
    self.field = field
    self.count = count
    self.message = message
    self.examples = Array(examples.prefix(3))
  }

  /// Joins the findings of the same kind and field into one.
  package static func joined(_ findings: [CatalogFinding]) -> [CatalogFinding] {
    var groups: [[CatalogFinding]] = []
    for finding in findings {
      if let place = groups.firstIndex(where: {
        $0[0].code == finding.code && $0[0].field == finding.field
      }) {
        groups[place].append(finding)
      } else {
        groups.append([finding])
      }
    }
    return groups.compactMap(CatalogFinding.init(joining:))
  }

  /// Joins several findings of the same kind into one, with the message of the first; nil if there is none.
  package init?(joining findings: [CatalogFinding]) {
    guard let first = findings.first else { return nil }
    self.init(
      first.code,
      field: first.field,
      count: findings.map(\.count).reduce(0, +),
      message: first.message,
      examples: findings.flatMap(\.examples)
    )
  }
}

extension CatalogFile {
  /// Findings about prices as a page writes them.
  ///
  /// Only the usage of a currency tells that "1.299" means 1,299 euros, and not 1.30 from a database. If other prices
  /// of the field show the meaning of the point, the price is not in doubt.
  ///
  /// Whole numbers that end like prices in cents, such as 1999, may be cents. Texts with decimals are not cents.
  /// Numbers of a currency with such large everyday prices are not reported.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - position: The index of the page's source.
  /// - Returns: Findings for each field; none for an unreadable page, because that is reported as an error.
  package func priceFindings(in body: [UInt8], ofSource position: Int) -> [CatalogFinding] {
    guard let (decoder, elements) = try? elements(of: body, position) else { return [] }
    let item = decoder.mapping.item
    return [("normalPrice", item.normalPrice), ("salePrice", item.salePrice)].flatMap {
      field,
      rules -> [CatalogFinding] in
      var custom = PriceCustom()
      var numbers: [Int] = []
      for element in elements {
        var reader = FieldReader(
          node: element,
          currency: decoder.currency,
          values: decoder.mapping.values
        )
        if let (text, currency) = reader.priceText(rules) { custom.add(text, currency) }
        if let number = reader.wholePrice(rules) { numbers.append(number) }
      }
      return [custom.finding(field), minorUnits(field, numbers, of: elements.count, rules)]
        .compactMap(
          \.self
        )
    }
  }

  /// The finding for whole numbers that look like cents, if the file does not give their unit.
  private func minorUnits(
    _ field: String,
    _ numbers: [Int],
    of count: Int,
    _ rules: [Mapping.PriceRule]
  ) -> CatalogFinding? {
    guard rules.allSatisfy({ $0.scale == nil && $0.currency == nil }),
      numbers.count * 10 > count * 9,
      Currency.exponent(of: currency) == 2, !PriceProposal.largeAmounts.contains(currency),
      PriceProposal.seemsMinor(numbers), let price = try? Price(numbers[0], currency: currency)
    else { return nil }
    return CatalogFinding(
      .minorUnits,
      field: field,
      count: numbers.count,
      message: "seem to cost a hundred times too much (\(price.formatted())); "
        + "if the number counts cents, write {path: \(rules.first?.path.description ?? "$"), minorUnits: true}",
      examples: numbers.prefix(3).map(String.init)
    )
  }

  /// The items of a page as JSON, from all its sections.
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

/// The texts of a price field.
///
/// They show whether the meaning of the point is in doubt.
struct PriceCustom {
  /// The meanings of the point in the unambiguous texts.
  private var shown: Set<WrittenPrice.Point> = []
  /// The ambiguous texts, each with the price that is read from it.
  private var open: [(text: String, price: Price, meaning: WrittenPrice.Point)] = []

  /// Adds a price as it is written.
  mutating func add(_ text: String, _ currency: String) {
    // A text that cannot be read at all is reported by another finding.
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

  /// The finding for ambiguous prices; nil for none.
  func finding(_ field: String) -> CatalogFinding? {
    guard let (text, price, meaning) = open.first, shown != [meaning] else { return nil }
    return CatalogFinding(
      .ambiguousPrice,
      field: field,
      count: open.count,
      message:
        "only the convention of \(price.currency) decides the meaning of such prices: \"\(text)\" is read as "
        + "\(price.formatted()); when that is wrong, let a transform make it a number",
      examples: open.map(\.text)
    )
  }
}
