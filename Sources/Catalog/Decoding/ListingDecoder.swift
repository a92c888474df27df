/// Decodes a shop's response into sections.
///
/// A section is a list of items.
///
/// An item that cannot be read is skipped, and the result says why. A body that is wrong as a whole is an error.
public struct ListingDecoder: Sendable {
  /// The paths to the items and their fields.
  public internal(set) var mapping: Mapping
  /// The catalog's currency, for example "KRW".
  public let currency: String
  /// The path to the URL or cursor of the next page, or nil if the bodies name no next page.
  public let nextPage: JSONPath?
  /// Whether ``nextPage`` leads to a cursor instead of a URL.
  ///
  /// A cursor can be a number.
  var nextPageIsCursor = false
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
  ///   - body: The body, in a notation that the mapping allows.
  ///   - source: The section whose URL returned the body.
  ///   - firstIndex: The number of elements in earlier parts of the section. The indices of skipped items continue from
  ///     this number.
  /// - Returns: The section, together with a list of the items and fields that were skipped.
  /// - Throws: ``CatalogError`` if the body cannot be parsed, reports a failure, or has no list of items where the
  ///   mapping expects it. An empty array is no error, and gives an empty section.
  public func section(
    _ body: [UInt8],
    source: SectionSource,
    firstIndex: Int = 0
  ) throws(CatalogError) -> DecodedListing {
    do throws(CatalogError) {
      return try listing(body, source: source, firstIndex: firstIndex)
    } catch {
      throw quoting(body, error)
    }
  }

  /// Adds the server's error message to an error, if the body should be JSON and contains such a message instead.
  ///
  /// For other notations, the error of the decoder says more than the body.
  private func quoting(_ body: [UInt8], _ error: CatalogError) -> CatalogError {
    mapping.notation.isJSON ? error.quoting(body) : error
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

  /// A message that all items have the same id although their titles differ, or nil if this is not so.
  ///
  /// Such items cannot be distinguished, so the path to the id must be wrong.
  func sharedID(of items: [StoreItem]) -> String? {
    guard items.count > 2, let id = items.first?.id, items.allSatisfy({ $0.id == id }),
      items.contains(where: { $0.title != items[0].title })
    else { return nil }
    let paths = mapping.item.id.map(\.description).joined(separator: ", ")
    return "all \(items.count) items have the same id \"\(id.prefix(40))\" at \(paths)"
  }

  /// Reads elements of a JSON array as items of a section.
  ///
  /// If `isWhole` is true, decoding stops early when more than ``SkipTally/mostRows`` elements are unreadable, and more
  /// than ``DecodingLimits/maxSkipped`` allows.
  ///
  /// - Parameters:
  ///   - elements: The elements of the array.
  ///   - section: The section. Every element that can be read is appended to its items.
  ///   - listing: The result of decoding. Every element or field that cannot be read is recorded in its list of skipped
  ///     items.
  ///   - firstIndex: The number of elements of the section that were decoded before.
  ///   - isWhole: Whether `elements` are all elements of the section.
  /// - Returns: The number of elements that were decoded, including those that cannot be read.
  /// - Throws: ``CatalogError`` if decoding was stopped, for example at a deadline.
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

  /// The result of reading an element.
  ///
  /// If `item` is nil, `faults` holds one fault, which is the reason.
  private struct ReadItem {
    var item: StoreItem?
    var id: String?
    var faults: [FieldFault]
  }

  /// The maximum length of an id in bytes.
  ///
  /// Ids are limited because they appear in every list of items and in messages.
  private static let longestID = 2048

  /// Reads an item.
  ///
  /// An element without an id or a title is not an item. If another field cannot be read, the item lacks that field.
  private func item(_ node: JSONNode) -> ReadItem {
    func unusable(_ fault: FieldFault, id: String? = nil) -> ReadItem {
      ReadItem(item: nil, id: id, faults: [fault])
    }
    guard node.kind == .object else {
      // If a block of linked data in a page cannot be read, the reader puts the reason into the array as a text.
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

  /// The values for the placeholders in the URL of the item's detail, such as `handle` in `p/{handle}.json`.
  ///
  /// The result is nil if the URL needs only the item's id.
  private func placeValues(_ reader: inout FieldReader) -> [String: String]? {
    let rules = mapping.item.placeValues
    guard !rules.isEmpty else { return nil }
    var values: [String: String] = [:]
    for rule in rules { values[rule.name] = reader.identifier(rule.paths) }
    return values
  }

  /// Finds the elements that represent items, by the first path of the mapping that leads to any.
  ///
  /// If the mapping has a program for records, the elements are the output of the program.
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

  /// The elements that represent items, by one path, or nil if the path leads neither to arrays nor to items.
  ///
  /// The path can lead to an array, to several arrays, or to the items themselves. A value that is `null` is ignored.
  private func elements(
    _ path: JSONPath,
    in root: JSONNode
  ) throws(CatalogError) -> [JSONNode]? {
    let values = try path.values(in: root)
    let lists = values.filter { $0.kind != .null }
    if lists.count == 1, lists[0].kind == .array { return lists[0].elements }
    if !lists.isEmpty, lists.allSatisfy({ $0.kind == .array }) { return lists.flatMap(\.elements) }
    // Paths such as `$.edges[*].node` and `$..product` lead to the items themselves. It is possible that a path that
    // ends with a wildcard selected all members of an object instead, so such a path counts only if the mapping has no
    // other path.
    let picksItems = !path.isSingular && (!path.endsInMembers || mapping.items.count == 1)
    if picksItems, !lists.isEmpty, lists.allSatisfy({ $0.kind == .object }) { return lists }
    guard let parents = try path.withoutLastChoice?.values(in: root), !parents.isEmpty,
      parents.allSatisfy({ $0.kind == .array })
    else { return nil }
    return values
  }

  /// The text at the first path that leads to exactly one text, not counting repetitions, or nil if no path does.
  private func onlyText(_ paths: [JSONPath], in root: JSONNode) throws(CatalogError) -> String? {
    for path in paths {
      let texts = Set(try path.values(in: root).compactMap(\.content.text).filter { !$0.isEmpty })
      if texts.count == 1 { return texts.first }
    }
    return nil
  }

  /// Parses a body, and runs the jq program of `transform:` on it, if the catalog file has one.
  ///
  /// - Returns: The value that the mapping reads, and three values that only the original body has: the next page, the
  ///   total number of items, and a sign that there are more pages. If there is a transform, the last two are nil.
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

  /// The maximum length of a next page's URL or cursor in bytes.
  ///
  /// It is limited because it is stored for every page.
  private static let longestNextPage = 16 << 10

  /// The URL or cursor of the next page, if the body names one.
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
  /// Decodes a body that holds many sections.
  ///
  /// - Parameters:
  ///   - body: The body, as JSON in UTF-8.
  ///   - plan: The paths to the sections, their keys and their titles.
  /// - Returns: The sections. If a section cannot be used, ``DecodedListing/failed`` has the reason.
  /// - Throws: ``CatalogError`` if the body as a whole cannot be used, or if none of its sections can.
  public func sections(
    _ body: [UInt8],
    plan: CombinedSections
  ) throws(CatalogError) -> DecodedListing {
    do throws(CatalogError) {
      var listing = try listing(body, plan: plan, SectionsBefore())
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
      throw quoting(body, error)
    }
  }

  /// Decodes one window of a body that holds many sections.
  ///
  /// A window is a smaller body that has everything around the sections, and some of the sections or items.
  ///
  /// - Parameters:
  ///   - window: The window.
  ///   - plan: The paths to the sections, their keys and their titles.
  ///   - earlier: The joined results of the windows before this one. Its items are not used.
  ///   - elements: If the window continues a section, the number of elements that earlier windows have of this section.
  /// - Returns: The sections, or parts of sections, of the window. If a section cannot be used,
  ///   ``DecodedListing/failed`` has the reason. Call ``DecodedListing/settleAbsence()`` after all windows are joined.
  /// - Throws: ``CatalogError`` if the window cannot be decoded alone.
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
        open: hasFailed ? nil : last,
        elements: window.isContinuation ? elements : 0
      )
    )
  }

  /// The sections of a body that come before the ones to decode, because earlier windows had them.
  private struct SectionsBefore {
    /// The number of earlier sections.
    var count = 0
    /// The keys of the earlier sections.
    var keys: Set<String> = []
    /// Whether the window contains whole sections or a part of one section.
    var extent = ListingWindow.Extent.whole
    /// The key of the section that the window continues, or nil if this section cannot be used.
    var open: String?
    /// The number of elements in earlier windows of the section that the window continues.
    var elements = 0
  }

  /// The maximum number of sections in one response.
  private static let mostSections = 10_000

  private func listing(
    _ body: [UInt8],
    plan: CombinedSections,
    _ before: SectionsBefore
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
    let count = before.count + nodes.count
    guard count <= Self.mostSections else {
      throw CatalogError(
        .unexpectedShape,
        subject: "sections",
        expected: "at most \(Self.mostSections) sections",
        reason:
          "the response has \(count) sections, and larder reads \(Self.mostSections) at most",
        remedy: "correct \"each\" under sections, or request fewer sections"
      )
    }
    var listing = DecodedListing(sections: [], elementCount: 0, nextPage: nextPage)
    var before = before
    for node in nodes {
      try decodeSection(node, plan, &before, into: &listing)
      before.count += 1
    }
    return listing
  }

  /// Decodes one section and adds it to the listing.
  ///
  /// If the section cannot be used, the reason is added instead, and decoding continues with the next section.
  private func decodeSection(
    _ node: JSONNode,
    _ plan: CombinedSections,
    _ before: inout SectionsBefore,
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
      firstIndex: before.elements,
      isWhole: before.extent == .whole
    )
    if let reason = sharedID(of: section.items) {
      // Later windows of the section can have items with other ids, so only the whole body can show the fault.
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
  /// Names that shops use for the total number of items.
  ///
  /// They are in the form of ``NameWords/plain(_:)``: `totalCount` is "total count".
  static let totalNames: Set<String> = [
    "total", "total count", "total results", "total items", "total elements", "count",
  ]
  /// Names of objects that have the total number in shops that do not put it beside the items.
  private static let totalPlaces = ["meta", "pagination", "paging", "page", "data"]

  /// The total number of items according to the body, such as `{"total": 40}`, or nil if the body has no such number.
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

  /// A sign in the body that there are more pages, for example "has_more is true", or nil if there is none.
  ///
  /// Only the objects around the items are searched, not the items.
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
  /// Checks whether a listing seems to have more pages, if the catalog file describes no paging.
  ///
  /// - Parameter hasNextLink: Whether the response has a `Link` header that names a next page.
  /// - Returns: A message with the sign of more pages and a remedy, or nil if there is no sign.
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
