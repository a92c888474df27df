/// The result of `larder catalog check` for one section: the mapped fields, and the problems found.
///
/// The check reads the first page of the section with the catalog file.
package struct SectionCheck: Sendable {
  /// A mapped field, and how many items have a value in it.
  package struct Field: Sendable, Encodable {
    /// The name of the field: `salePrice`, `images.thumbnail`.
    package let name: String
    /// The paths in an item; the value is at the first path that leads to one.
    package let paths: [String]
    /// The number of items that have the field.
    package let items: Int
  }

  /// The section as the catalog file reads it.
  package let section: Section
  /// The number of elements in the list of items that could not be read.
  package let skipped: Int
  /// The total number of items that the response states, or nil if it states none.
  package let total: Int?
  /// The fields that have a path in the catalog file.
  package let fields: [Field]
  /// The findings, the most severe first.
  package var findings: [CatalogFinding]
  private let elements: Int

  /// Checks one section of a page.
  ///
  /// - Parameters:
  ///   - section: The section.
  ///   - listing: The decoded page, which contains the section.
  ///   - mapping: The mapping that decoded the page.
  package init(_ section: Section, of listing: DecodedListing, mapping: Mapping) {
    self.section = section
    let items = section.items
    let skips = listing.skipped.filter { $0.section == section.key }
    (skipped, elements) = listing.losses(in: section)
    total = listing.sections.count == 1 ? listing.total : nil
    func field(_ name: String, _ paths: [JSONPath], _ count: Int) -> Field {
      Field(name: name, paths: paths.map(\.description), items: count)
    }
    let item = mapping.item
    fields =
      [field("id", item.id, items.count), field("title", item.title, items.count)]
      + ItemField.allCases.filter { !item.paths(of: $0).isEmpty }.map {
        field($0.rawValue, item.paths(of: $0), items.count(where: $0.isHeld))
      }
    findings =
      Self.unreadable(skips) + Self.unmatched(fields, of: section, in: listing, item, skips)
      + Self.odd(items)
  }

  /// The reason why a sync would refuse the section, or nil if a sync would take it.
  package var refusal: String? {
    guard SkipLimit.standard.refuses(lost: skipped, of: elements) else { return nil }
    return "a sync would reject it: \(skipped) of \(elements) items cannot be read "
      + "(\(findings.first?.message ?? "")); correct the mapping"
  }

  /// The findings about values that could not be read, one for each field and reason.
  private static func unreadable(_ skips: [SkippedItem]) -> [CatalogFinding] {
    let findings = skips.map { skip in
      let isItem = skip.lost == .item
      return CatalogFinding(
        isItem ? .itemSkipped : .fieldLost,
        field: skip.field,
        count: 1,
        message: "\(isItem ? "" : "have a value that ")cannot be read: \(skip.reason)",
        examples: [skip.id ?? "element \(skip.index)"]
      )
    }
    return CatalogFinding.joined(findings)
  }

  /// The findings about paths of the catalog file that lead to nothing in every item.
  ///
  /// A path that leads to unreadable values is right, and ``unreadable(_:)`` reports them.
  private static func unmatched(
    _ fields: [Field],
    of section: Section,
    in listing: DecodedListing,
    _ item: Mapping.Item,
    _ skips: [SkippedItem]
  ) -> [CatalogFinding] {
    guard !section.items.isEmpty else {
      let message = "the section has no items; is that so in the shop?"
      return [CatalogFinding(.empty, message: message)]
    }
    let lost = Set(skips.filter { $0.lost == .field }.compactMap(\.field))
    let unmatched = (listing.absent[section.key] ?? []).filter { field in
      !item.paths(of: field).contains { $0.lastName.map(lost.contains) == true }
    }
    let absent = Set(unmatched.map(\.rawValue))
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

  /// The findings about items that can be read but look wrong.
  private static func odd(_ items: [StoreItem]) -> [CatalogFinding] {
    var seen: Set<String> = []
    let repeated = items.filter { !seen.insert($0.id).inserted }
    let dearer = items.filter { item in
      guard let sale = item.salePrice, let normal = item.normalPrice else { return false }
      return sale.isAbove(normal)
    }
    let pages = items.filter { $0.images.contains { PictureText.isOther($0.url) } }
    func finding(
      _ code: CatalogFinding.Code,
      _ field: String,
      _ items: [StoreItem],
      _ message: String
    ) -> CatalogFinding {
      let ids = items.map(\.id)
      return CatalogFinding(code, field: field, count: ids.count, message: message, examples: ids)
    }
    let repeats = "have an id that an earlier item has; is id the right field?"
    let costs =
      "cost more than their normal price"
      + (dearer.count * 2 > items.count ? "; are salePrice and normalPrice swapped?" : "")
    let shows = "have a picture whose URL ends as a page's; take the field with the picture itself"
    return [
      finding(.duplicateID, "id", repeated, repeats),
      finding(.saleAboveNormal, "salePrice", dearer, costs),
      finding(.pictureIsPage, "images", pages, shows),
    ].filter { $0.count > 0 }
  }
}

extension DecodedListing {
  /// The findings about this page as a whole, for example that the listing has further pages.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - paging: The paging in the catalog file, or nil if the file has none.
  ///   - hasNextLink: Whether the page's `Link` header names a next page.
  /// - Returns: The findings; empty if nothing is wrong.
  package func pageFindings(
    of body: [UInt8],
    paging: PagingRule?,
    hasNextLink: Bool
  ) -> [CatalogFinding] {
    func finding(_ code: CatalogFinding.Code, _ field: String, _ message: String) -> CatalogFinding
    {
      CatalogFinding(code, field: field, count: elementCount, message: message)
    }
    if let size = paging?.size, elementCount > size.value {
      let message =
        "the request asks for \(size.value) elements a page, but \(elementCount) were returned; "
        + "the shop ignores the parameter \(size.name), or has another name for it"
      return [finding(.pageSize, "paging.size", message)]
    }
    guard paging == nil, let root = try? JSONDocument(parsing: body).root else { return [] }
    let place = ItemPlace.all(in: root).first { $0.items.count == elementCount }
    let goesOn = place.flatMap {
      PagingProposal.ranking(root: root, place: $0, hasNextLink: hasNextLink).first
    }
    let advice = goesOn.flatMap { paging in
      paging.confidence < 0.8
        ? nil
        : "the listing seems to have more pages (\(paging.reason)), and the file has no paging; "
          + "write paging: \(paging.yaml)"
    }
    // A sync warns about further pages in other cases too, and the warning is a finding here.
    let message = advice ?? unfollowed(hasNextLink: hasNextLink)
    return message.map { [finding(.morePages, "paging", $0)] } ?? []
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
    /// A path of the catalog file that leads to nothing in every item.
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
    /// Prices such as "1.299". Their point can be decimal or can separate thousands.
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

    /// Whether the message has no subject and follows a count of items: "3 of 40" and "cannot be read".
    package var countsItems: Bool {
      ![
        .neverMatches, .struckPrice, .duplicateKey, .ambiguousPrice, .morePages, .pageSize, .empty,
      ]
      .contains(self)
    }
  }

  /// The kind of problem.
  package let code: Code
  /// The field of the catalog file that the finding is about; nil when it is not about a field.
  @OrNull package private(set) var field: String?
  /// How many items the finding is about.
  package private(set) var count: Int
  /// The finding in words, and a possible remedy; see ``Code/countsItems``.
  package let message: String
  /// The ids of up to three of the items, or other examples.
  package private(set) var examples: [String]

  /// Makes a finding with only the first three examples.
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

  /// Joins findings about one item each, so that each item counts once.
  ///
  /// For example, all pictures fail if their host is down, and an item can have several.
  package static func joined(ofItems findings: [CatalogFinding]) -> [CatalogFinding] {
    joined(findings.unique { [$0.code.rawValue, $0.field] + $0.examples })
  }

  /// Joins all findings of the same kind and field into one, which has the message of the first.
  ///
  /// Skipped items are joined only if they have the same message too.
  package static func joined(_ findings: [CatalogFinding]) -> [CatalogFinding] {
    findings.reduce(into: []) { joined, finding in
      let place = joined.firstIndex {
        $0.code == finding.code && $0.field == finding.field
          && ($0.code != .itemSkipped || $0.message == finding.message)
      }
      guard let place else { return joined.append(finding) }
      joined[place].count += finding.count
      joined[place].examples = Array((joined[place].examples + finding.examples).prefix(3))
    }
  }
}

extension CatalogFile {
  /// The findings about prices that possibly mean another amount than larder reads.
  ///
  /// "1.299" can mean 1,299 euros or 1.30 euros. It is not reported if other prices of the field show the meaning of
  /// the point.
  ///
  /// Whole numbers such as 1999 are possibly cents. They are not reported for a currency in which everyday prices are
  /// that large.
  ///
  /// - Parameters:
  ///   - body: The page.
  ///   - position: The index of the section in the catalog file.
  /// - Returns: The findings; empty if the page cannot be read, because that is reported as an error elsewhere.
  package func priceFindings(in body: [UInt8], ofSource position: Int) -> [CatalogFinding] {
    let decoder = ListingDecoder(mapping: mapping(ofSource: position), currency: currency)
    guard let root = try? decoder.read(body, of: "page").root,
      let parts = try? sections[position].parts?.each.values(in: root) ?? [root],
      let elements = try? parts.flatMap({ try decoder.elements(of: $0, subject: "page") })
    else { return [] }
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
      let cents = minorUnits(field, numbers, of: elements.count, rules)
      return [custom.finding(field), cents].compactMap(\.self)
    }
  }

  /// The finding about whole numbers that look like cents, unless the catalog file gives their unit.
  private func minorUnits(
    _ field: String,
    _ numbers: [Int],
    of count: Int,
    _ rules: [Mapping.PriceRule]
  ) -> CatalogFinding? {
    guard rules.allSatisfy({ $0.scale == nil && $0.currency == nil }),
      numbers.count * 10 > count * 9,
      Currency.exponent(of: currency) == 2,
      !FieldRules.isNamed("largeAmounts", currency.lowercased()),
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
}

/// Decides for the prices of one field whether the meaning of the point in "1.299" is in doubt.
struct PriceCustom {
  /// The meanings of the point in those prices, such as "12.50", that have only one meaning.
  private var shown: Set<WrittenPrice.Point> = []
  /// The prices that have two meanings.
  ///
  /// Each element has the price, and the meaning that larder reads.
  private var open: [(text: String, price: Price, meaning: WrittenPrice.Point)] = []

  /// Adds the text of a price.
  mutating func add(_ text: String, _ currency: String) {
    // A text that is no price is reported by another finding.
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

  /// The first price with two meanings and the amount that larder reads, or nil if the other prices show which meaning
  /// is right.
  private var unclear: (text: String, price: Price, meaning: WrittenPrice.Point)? {
    open.first.flatMap { shown == [$0.meaning] ? nil : $0 }
  }

  /// The first price whose amount is a guess.
  ///
  /// That points group thousands is no guess in a currency where people write so, unless another price contradicts it.
  var guess: (text: String, price: Price)? {
    unclear.flatMap { $0.meaning == .groups && shown.isEmpty ? nil : ($0.text, $0.price) }
  }

  /// The finding about the prices with two meanings, or nil if the other prices show which meaning is right.
  func finding(_ field: String) -> CatalogFinding? {
    guard let (text, price, _) = unclear else { return nil }
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
