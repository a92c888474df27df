/// Decodes listings into sections.
///
/// It skips single items that cannot be read, but rejects a body that is wrong as a whole.
public struct ListingDecoder: Sendable {
  /// The paths to the items and their fields.
  public internal(set) var mapping: Mapping
  /// The catalog's currency.
  public let currency: String
  /// The path to the next page's URL or cursor; nil when bodies name none.
  public let nextPage: JSONPath?
  /// Whether ``nextPage`` leads to a cursor, which may be a number, rather than to a URL.
  var nextPageIsCursor = false
  /// The run's limits for decoding.
  var limits = DecodingLimits()
  /// The number of lines before the body, if the body is a part of a larger one.
  var linesBefore = 0

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
  ///   - source: The section that the body was fetched for.
  ///   - firstIndex: How many elements earlier pages listed.
  /// - Returns: The section, with a list of the skipped items and fields.
  /// - Throws: ``CatalogError`` when the body is not JSON, reports a failure, or has no list of items at the paths of
  ///   the mapping. An empty array is an empty section.
  public func section(
    _ body: [UInt8],
    source: SectionSource,
    firstIndex: Int = 0
  ) throws(CatalogError) -> DecodedListing {
    do throws(CatalogError) {
      return try listing(body, source: source, firstIndex: firstIndex)
    } catch {
      // Quote the origin's message only if the body should be JSON; for other notations, the decoder's error says more.
      throw mapping.notation.isJSON ? error.quoting(body) : error
    }
  }

  private func listing(
    _ body: [UInt8],
    source: SectionSource,
    firstIndex: Int
  ) throws(CatalogError) -> DecodedListing {
    let subject = "section \(source.key)"
    let (root, nextPage, total, continuation) = try read(body, of: subject)
    try mapping.envelope.checkStatus(of: root, subject: subject)
    let elements = try elements(of: root, subject: subject)
    let envelope = mapping.envelope
    let title = source.title == nil ? try onlyText(envelope.title, in: root) : nil
    let subtitle = source.subtitle == nil ? try onlyText(envelope.subtitle, in: root) : nil
    var section = Section(
      key: source.key,
      title: source.title ?? title ?? source.key,
      subtitle: source.subtitle ?? subtitle
    )
    var listing = DecodedListing(sections: [], elementCount: 0, nextPage: nextPage)
    listing.elementCount = try decode(
      elements,
      into: &section,
      of: &listing,
      firstIndex: firstIndex
    )
    if let reason = sharedID(of: section.items) {
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        reason: reason,
        remedy: "correct item.id in the catalog file, or the feed"
      )
    }
    listing.sections = [section]
    listing.total = total
    listing.continuation = continuation
    listing.absent[source.key] = try absentFields(of: section.items, in: elements)
    return listing
  }

  /// An error message if all items have the same id but different titles, so that they cannot be distinguished;
  /// otherwise nil.
  func sharedID(of items: [StoreItem]) -> String? {
    guard items.count > 2, let id = items.first?.id, items.allSatisfy({ $0.id == id }),
      items.contains(where: { $0.title != items[0].title })
    else { return nil }
    let paths = mapping.item.id.map(\.description).joined(separator: ", ")
    return "all \(items.count) items have the same id \"\(id.prefix(40))\" at \(paths)"
  }

  /// Adds the usable elements to a section, and records the skipped ones in a listing.
  ///
  /// Stops as soon as the section has lost more elements than the run's limit allows.
  ///
  /// - Parameters:
  ///   - elements: The elements.
  ///   - section: The section.
  ///   - listing: The listing that the section belongs to, or will belong to.
  ///   - firstIndex: How many elements of the section came before these.
  ///   - isWhole: Whether these are all elements of the section.
  /// - Returns: How many elements were read.
  /// - Throws: ``CatalogError`` when the run ends.
  func decode(
    _ elements: [JSONNode],
    into section: inout Section,
    of listing: inout DecodedListing,
    firstIndex: Int,
    isWhole: Bool = true
  ) throws(CatalogError) -> Int {
    var lost = 0
    for (position, element) in elements.enumerated() {
      if position % 1024 == 1023 { try limits.demandTime("section \(section.key)") }
      let read = item(element)
      if let item = read.item { section.items.append(item) } else { lost += 1 }
      for fault in read.faults {
        listing.note(
          SkippedItem(
            section: section.key,
            index: firstIndex + position,
            field: fault.field,
            id: read.id,
            lost: read.item == nil ? .item : .field,
            reason: fault.reason
          )
        )
      }
      if isWhole, read.item == nil, lost > SkipTally.mostRows,
        limits.maxSkipped?.isPassed(by: lost, of: elements.count) == true
      {
        listing.givenUp.insert(section.key)
        return position + 1
      }
    }
    return elements.count
  }

  /// The result of reading an element; if `item` is nil, `faults` has only the reason for that.
  private struct ReadItem {
    var item: StoreItem?
    var id: String?
    var faults: [FieldFault]
  }

  /// The maximum length of an id in bytes: an id appears in every list of items, and in messages.
  private static let longestID = 2048

  /// Reads an item, which needs an id and a title.
  ///
  /// Any other value that cannot be read is left out and recorded as skipped.
  private func item(_ node: JSONNode) -> ReadItem {
    func unusable(_ fault: FieldFault, id: String? = nil) -> ReadItem {
      ReadItem(item: nil, id: id, faults: [fault])
    }
    guard node.kind == .object else {
      // In linked data, an element that is a text is the reason why a block could not be read.
      let reason = mapping.notation.kind == .html ? node.text : nil
      let expected = "expected an object, found \(node.kind.phrase)"
      return unusable(FieldFault(field: nil, reason: reason ?? expected))
    }
    let fields = mapping.item
    var reader = FieldReader(node: node, currency: currency, values: mapping.values)
    guard let id = reader.identifier(fields.id) else {
      let absent = FieldFault(field: fields.id.first?.lastName, reason: "the item has no id")
      return unusable(reader.faults.first ?? absent)
    }
    guard id.utf8.count <= Self.longestID else {
      let reason = "the id has \(id.utf8.count) bytes; at most \(Self.longestID) are read"
      return unusable(FieldFault(field: fields.id.first?.lastName, reason: reason))
    }
    guard let title = reader.title(fields.title) else {
      let absent = FieldFault(field: fields.title.first?.lastName, reason: "the item has no title")
      return unusable(reader.faults.first ?? absent, id: id)
    }
    let item = StoreItem(
      id: id,
      title: title,
      description: reader.text(fields.description),
      badges: reader.texts(fields.badges),
      deliveryTypes: reader.texts(fields.deliveryTypes),
      normalPrice: reader.price(fields.normalPrice),
      salePrice: reader.price(fields.salePrice),
      coordinate: reader.coordinate(fields.latitude, fields.longitude),
      address: reader.text(fields.address),
      images: reader.images(fields.images),
      placeValues: placeValues(&reader)
    )
    return ReadItem(item: item, id: id, faults: reader.faults)
  }

  /// The values of the placeholders in the request for the item's detail; nil when its id is
  /// enough.
  private func placeValues(_ reader: inout FieldReader) -> [String: String]? {
    let rules = mapping.item.placeValues
    guard !rules.isEmpty else { return nil }
    var values: [String: String] = [:]
    for rule in rules { values[rule.name] = reader.identifier(rule.paths) }
    return values
  }

  /// The elements of the arrays at the first alternative that matches.
  func elements(of root: JSONNode, subject: String) throws(CatalogError) -> [JSONNode] {
    for path in mapping.items {
      guard let elements = try elements(path, in: root) else { continue }
      return try mapping.records.map { records throws(CatalogError) in
        try records.apply(to: elements, of: subject, within: limits)
      } ?? elements
    }
    let paths = mapping.items.map(\.description).joined(separator: ", ")
    throw CatalogError(
      .absentItems,
      subject: subject,
      expected: "an array of items at \(paths)",
      reason: "expected an array of items at \(paths), found none in \(root.kind.phrase)",
      remedy: "correct \"items\" in the catalog file"
    )
  }

  /// The elements of the arrays that a path leads to, or the items that it selects; nil when it leads to neither.
  ///
  /// `null` is ignored.
  private func elements(
    _ path: JSONPath,
    in root: JSONNode
  ) throws(CatalogError) -> [JSONNode]? {
    let values = try path.values(in: root)
    let lists = values.filter { $0.kind != .null }
    if lists.count == 1, lists[0].kind == .array { return lists[0].elements }
    if !lists.isEmpty, lists.allSatisfy({ $0.kind == .array }) { return lists.flatMap(\.elements) }
    // `$.edges[*].node` and `$..product` lead to the items themselves; a wildcard over members does so only if there is
    // no other alternative.
    let picksItems = !path.isSingular && (!path.endsInMembers || mapping.items.count == 1)
    if picksItems, !lists.isEmpty, lists.allSatisfy({ $0.kind == .object }) { return lists }
    guard let parents = try path.withoutLastChoice?.values(in: root), !parents.isEmpty,
      parents.allSatisfy({ $0.kind == .array })
    else { return nil }
    return values
  }

  /// The text that the alternatives lead to; nil when an alternative leads to several different texts.
  private func onlyText(_ paths: [JSONPath], in root: JSONNode) throws(CatalogError) -> String? {
    for path in paths {
      let texts = Set(try path.values(in: root).compactMap(\.content.text).filter { !$0.isEmpty })
      if texts.count == 1 { return texts.first }
    }
    return nil
  }

  /// The value that the mapping reads, and the next page that the body named before any transform.
  func read(
    _ body: [UInt8],
    of subject: String
  ) throws(CatalogError)
    -> (root: JSONNode, nextPage: String?, total: Int?, continuation: String?)
  {
    try mapping.transform?.checkSize(body.count, of: subject)
    let isMade = mapping.transform != nil || mapping.records != nil
    let columns = isMade ? [] : mapping.item.id.compactMap(\.lastName)
    let body = try mapping.notation.json(
      of: body,
      subject,
      columns: columns,
      linesBefore: linesBefore,
      within: limits
    )
    let response = try JSONDocument(parsing: body, of: subject, within: limits).root
    let nextPage = try link(in: response, subject)
    guard let transform = mapping.transform else {
      return (
        response, nextPage, Self.total(in: response), Self.continuation(in: response)
      )
    }
    let made = try transform.apply(to: body, of: subject, isStopped: limits.isStopped)
    return (
      try JSONDocument(parsing: made, of: "\(subject), transformed").root, nextPage, nil, nil
    )
  }

  /// The maximum length of a next page's URL or cursor in bytes; it is limited because it is stored for every page.
  private static let longestNextPage = 16 << 10

  /// The next page that the body names: a URL or a cursor.
  private func link(in root: JSONNode, _ subject: String) throws(CatalogError) -> String? {
    guard let value = try nextPage?.firstValue(in: root),
      let text = nextPageIsCursor ? FieldReader.plainText(value) : value.text, !text.isEmpty
    else { return nil }
    guard text.utf8.count <= Self.longestNextPage else {
      throw CatalogError(
        .unexpectedShape,
        subject: subject,
        reason:
          "the address of its next page has \(text.utf8.count) bytes; at most \(Self.longestNextPage) are read",
        remedy: "correct the path under paging"
      )
    }
    return text
  }
}

extension ListingDecoder {
  /// Decodes a body that holds all sections.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - plan: Where the sections and their names are.
  ///   - firstIndices: By section, how many elements earlier pages listed.
  /// - Returns: The sections; unusable ones are in ``DecodedListing/failed``.
  /// - Throws: ``CatalogError`` when the body as a whole, or every section, cannot be used.
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
      // Quote the origin's message only if the body should be JSON; for other notations, the decoder's error says more.
      throw mapping.notation.isJSON ? error.quoting(body) : error
    }
  }

  /// Decodes a window of a body that holds all sections.
  ///
  /// - Parameters:
  ///   - window: The window.
  ///   - plan: Where the sections and their names are.
  ///   - earlier: The result of the windows before it; its items are not used.
  ///   - elements: The number of elements in earlier windows of a section that this window continues.
  /// - Returns: The sections, or parts of them; unusable ones are in ``DecodedListing/failed``. Call
  ///   ``DecodedListing/settleAbsence()`` once all windows are joined.
  /// - Throws: ``CatalogError`` when the window cannot be decoded alone; decode the body whole to
  ///   learn why.
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

  /// The state of the body before the sections that a window decodes.
  private struct SectionsBefore {
    /// The number of earlier sections.
    var count = 0
    /// The keys of the earlier sections.
    var keys: Set<String> = []
    /// Whether the window contains whole sections or a part of one.
    var extent = ListingWindow.Extent.whole
    /// The section that the window continues; nil when it cannot be used.
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

  /// Adds one section to the listing, or the reason why the section failed; the other sections are not affected.
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
      return fail(nil, "its key at \(plan.key) cannot be used as a file name; \(remedy)")
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
      // Items of the section in later windows may have other ids.
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

extension ListingDecoder {
  /// Names that shops use for the total number of items, as ``NameWords/plain(_:)`` writes them.
  static let totalNames: Set<String> = [
    "total", "total count", "total results", "total items", "total elements", "count",
  ]
  /// Names of objects that may hold the total number, if it is not beside the items.
  private static let totalPlaces = ["meta", "pagination", "paging", "page", "data"]

  /// The total number of items that a body states; nil when it states none.
  static func total(in root: JSONNode) -> Int? {
    guard root.kind == .object else { return nil }
    for node in [root] + totalPlaces.compactMap({ root[$0] }) where node.kind == .object {
      for (name, value) in node.firstMembers(60) {
        guard let number = value.integer, totalNames.contains(NameWords.plain(name)) else {
          continue
        }
        return number
      }
    }
    return nil
  }

  /// The member that says that there are more pages, for example "has_more is true"; nil when no member does.
  ///
  /// Looks at the objects around the items, not at the items.
  static func continuation(in root: JSONNode) -> String? {
    guard root.kind == .object else { return nil }
    return continuation(among: root.members.prefix(60), path: "", depth: 0)
  }

  private static func continuation(
    among members: some Collection<(name: String, value: JSONNode)>,
    path: String,
    depth: Int
  ) -> String? {
    var (page, pages): (Int?, Int?) = (nil, nil)
    for (name, value) in members {
      let words = NameWords.plain(name)
      let place = path + name
      switch value.kind {
      case .boolean where moreNames.contains(words) && value.boolean == true:
        return "\(place) is true"
      case .string where nextNames.contains(words) && value.text?.isEmpty == false:
        return "it has \(place)"
      case .integer where nextNames.contains(words) && value.integer ?? 0 > 0:
        return "it has \(place)"
      case .integer where pageNames.contains(words): page = value.integer
      case .integer where pagesNames.contains(words): pages = value.integer
      case .object where depth < 3:
        let found = continuation(
          among: value.members.prefix(60),
          path: place + ".",
          depth: depth + 1
        )
        // The HAL form: {"_links": {"next": {"href": "…"}}}
        if let found { return found }
        if nextNames.contains(words), value["href"]?.text?.isEmpty == false {
          return "it has \(place)"
        }
      default: break
      }
    }
    guard let page, let pages, page < pages else { return nil }
    return "it is page \(page) of \(pages)"
  }

  private static let moreNames: Set<String> = ["has more", "has next", "has next page"]
  private static let nextNames: Set<String> = [
    "next", "next page", "next url", "next link", "next page url", "next href", "next cursor",
    "next page token", "next token", "next cursor token", "continuation token",
  ]
  private static let pageNames: Set<String> = ["page", "current page"]
  private static let pagesNames: Set<String> = [
    "pages", "total pages", "page count", "last page",
  ]
}

extension DecodedListing {
  /// Judges whether a listing without paging has further pages.
  ///
  /// - Parameter hasNextLink: Whether a `Link` header names a next page.
  /// - Returns: The sign of further pages, and a remedy; nil when there is no sign.
  package func unfollowed(hasNextLink: Bool) -> String? {
    if hasNextLink {
      return "the shop names a next page by a Link header, and it is not read; "
        + "write paging: {link: true} in the catalog file"
    }
    let advice = "describe the further pages under paging in the catalog file"
    if let total, elementCount > 0, total > elementCount {
      return "the shop says that there are \(total) items, and lists \(elementCount); \(advice)"
    }
    guard let continuation, elementCount > 0 else { return nil }
    return
      "the shop reports further pages (\(continuation)), which are not read; "
      + advice
  }
}
