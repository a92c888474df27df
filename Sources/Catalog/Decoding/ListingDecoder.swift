/// Decodes the responses of one source of a catalog into sections.
///
/// A source is a URL that the catalog file gives. A section is a list of items.
///
/// An item that cannot be read is skipped, and the result says why. A body that is wrong as a whole is an error.
package struct ListingDecoder: Sendable {
  /// The paths to the items and their fields.
  var mapping: Mapping
  /// The catalog's currency, for example "KRW".
  let currency: String
  /// The source.
  ///
  /// It is one section, unless it has ``SectionSource/parts``.
  var source = SectionSource(key: "main", url: "main")
  /// The source's paging, or nil if it has only one page.
  var paging: PagingRule?
  var limits = DecodingLimits()
  /// The number of lines before the body, if the body is a part of a larger one.
  var linesBefore = 0

  /// The maximum number of sections in one response.
  static let mostSections = 10_000
  /// The maximum length of an id in bytes.
  ///
  /// Ids are limited because they appear in every list of items and in messages.
  private static let longestID = 2048
  /// The maximum length of a next page's URL or cursor in bytes.
  ///
  /// It is limited because it is stored for every page.
  private static let longestNextPage = 16 << 10

  /// The sections that were decoded in earlier windows of a response.
  struct EarlierSections {
    /// The number of the sections.
    var count = 0
    /// The keys of the sections.
    var keys: Set<String> = []
    /// The key of the last section, or nil if this section cannot be used.
    var last: String?
    /// The number of elements of the last section.
    var elements = 0
  }

  /// Decodes a whole body.
  ///
  /// - Parameter body: The body, in a notation that the mapping allows.
  /// - Returns: The sections. If one of many sections cannot be used, ``DecodedListing/failed`` has the reason.
  /// - Throws: ``CatalogError`` if the body cannot be parsed or reports a failure, if it has no list where the mapping
  ///   expects one, or if none of its sections can be used. An empty list is no error.
  package func listing(_ body: [UInt8]) throws(CatalogError) -> DecodedListing {
    var decoder = self
    decoder.mapping.notation.kind = mapping.notation.kind(of: body)
    do throws(CatalogError) {
      var earlier = EarlierSections()
      var listing = try decoder.listing(body, after: &earlier, isWhole: true)
      listing.settleAbsence()
      guard listing.sections.isEmpty, let first = listing.failed.first else { return listing }
      let name = first.key.map { ", section \($0)," } ?? ""
      throw CatalogError.shape(
        "sections",
        "none of \(listing.failed.count) can be used, the first\(name) because \(first.reason)"
      )
    } catch {
      // For other notations than JSON, the error of the decoder says more than the body.
      throw decoder.mapping.notation.isJSON ? error.quoting(body) : error
    }
  }

  /// Decodes a whole body, or a window of a larger body.
  ///
  /// - Parameters:
  ///   - body: The body or the window.
  ///   - earlier: The sections of the windows before this one. The sections of this window are added.
  ///   - isWhole: Whether this is a whole body.
  ///   - isContinuation: Whether the window only has further items of the last section of a response with many sections.
  /// - Returns: The sections, or parts of sections.
  /// - Throws: ``CatalogError``. If it is about a window, decode the whole body, which either succeeds or gives an error
  ///   with the right position.
  func listing(
    _ body: [UInt8],
    after earlier: inout EarlierSections,
    isWhole: Bool = false,
    isContinuation: Bool = false
  ) throws(CatalogError) -> DecodedListing {
    let subject = source.parts == nil ? "section \(source.key)" : "sections"
    var (root, listing) = try read(body, of: subject)
    let envelope = mapping.envelope
    try envelope.checkStatus(of: root, subject: subject)
    guard let plan = source.parts else {
      let title = source.title == nil ? try onlyText(envelope.title, in: root) : nil
      let subtitle = source.subtitle == nil ? try onlyText(envelope.subtitle, in: root) : nil
      let section = Section(
        key: source.key,
        title: source.title ?? title ?? source.key,
        subtitle: source.subtitle ?? subtitle
      )
      try add(section, in: root, to: &listing, after: earlier.elements)
      earlier.elements += listing.elementCount
      // A transform that makes nothing of the response's list has left out its elements.
      if mapping.transform != nil, listing.elementCount == 0 { listing.isNested = false }
      return listing
    }
    if isContinuation { earlier.count -= 1 }
    let nodes = try sections(plan, in: root, after: earlier.count)
    let keys = try nodes.map { node throws(CatalogError) in
      try plan.key.firstContent(in: node).flatMap(FieldReader.plainText)
    }
    let counts = Dictionary(keys.map { ($0, 1) }, uniquingKeysWith: +)
    for (node, key) in zip(nodes, keys) {
      let index = earlier.count
      earlier.count += 1
      func fail(_ key: String?, _ reason: String, _ remedy: String?) {
        let reason = reason + (remedy.map { "; \($0)" } ?? "")
        listing.failed.append(FailedSection(index: index, key: key, reason: reason))
      }
      // If the first items of a section could not be used, neither can its further items.
      if isContinuation, key == nil || key != earlier.last { continue }
      if !isContinuation { (earlier.last, earlier.elements) = (nil, 0) }
      let remedy = "correct \"key\" under sections, or the feed"
      guard let key, !key.isEmpty else {
        fail(nil, "it has no key at \(plan.key)", remedy)
        continue
      }
      guard isFileName(key) else {
        let shown = PlainText.line(String(key.prefix(80)))
        fail(nil, "its key \"\(shown)\" at \(plan.key) cannot be used as a file name", remedy)
        continue
      }
      let isNew = earlier.keys.insert(key).inserted || isContinuation
      do throws(CatalogError) {
        guard isNew, counts[key] == 1 else {
          let reason = "another section has the same key at \(plan.key)"
          throw CatalogError.shape(subject, reason, remedy: remedy)
        }
        let part = try part(
          key,
          plan,
          in: node,
          at: index,
          after: earlier.elements,
          isContinuation
        )
        earlier.last = key
        earlier.elements += part.elementCount
        listing.append(part)
      } catch {
        // A window does not show whether other windows have the fault too, such as the same key or id.
        guard error.code != .stopped, isWhole || [.absentItems, .otherItems].contains(error.code)
        else { throw error }
        fail(key, error.reason, error.remedy)
      }
    }
    return listing
  }

  /// Finds the sections of a response that has many.
  private func sections(
    _ plan: CombinedSections,
    in root: JSONNode,
    after earlier: Int
  ) throws(CatalogError) -> [JSONNode] {
    let nodes = try chosen(by: plan.each, in: root)
    if nodes.isEmpty, try plan.each.withoutLastChoice?.firstValue(in: root)?.kind != .array {
      throw CatalogError(
        .absentItems,
        subject: "sections",
        reason: "\(plan.each) leads to nothing in \(root.kind.phrase)",
        remedy: mapping.transform == nil
          ? "correct \"each\" under sections"
          : "let the transform make {\"sections\": […]}, or correct \"each\" under sections"
      )
    }
    let count = earlier + nodes.count
    guard count <= Self.mostSections else {
      throw CatalogError(
        .unexpectedShape,
        subject: "sections",
        reason:
          "the response has \(count) sections, and larder reads \(Self.mostSections) at most",
        remedy: "correct \"each\" under sections, or request fewer sections"
      )
    }
    return nodes
  }

  /// Decodes one of many sections, or a part of it.
  private func part(
    _ key: String,
    _ plan: CombinedSections,
    in node: JSONNode,
    at index: Int,
    after earlier: Int,
    _ isContinuation: Bool
  ) throws(CatalogError) -> DecodedListing {
    var part = DecodedListing()
    var reader = FieldReader(node: node, currency: currency)
    let section = Section(
      key: key,
      title: plan.title.flatMap { reader.identifier([$0]) } ?? key,
      subtitle: plan.subtitle.flatMap { reader.identifier([$0]) }
    )
    for fault in reader.faults where !isContinuation {
      let reason = "section \(key): \(fault.reason)"
      part.note(
        SkippedItem(section: key, index: index, field: fault.field, lost: .field, reason: reason)
      )
    }
    try add(section, in: node, to: &part, after: earlier)
    return part
  }

  /// Reads the items of a section, and adds the section to a listing.
  ///
  /// - Parameters:
  ///   - section: The section without its items.
  ///   - node: The value that contains the items.
  ///   - listing: The listing. The elements and fields that cannot be read are recorded in it.
  ///   - earlier: The number of elements of the section in earlier windows.
  /// - Throws: ``CatalogError`` if the section cannot be used, or if decoding was stopped, for example at a deadline.
  private func add(
    _ section: Section,
    in node: JSONNode,
    to listing: inout DecodedListing,
    after earlier: Int
  ) throws(CatalogError) {
    let subject = "section \(section.key)"
    let (elements, path) = try chosen(of: node, subject: subject)
    var section = section
    /// The elements that are items.
    var read: [JSONNode] = []
    for (position, element) in elements.enumerated() {
      if position % 1024 == 1023 { try limits.demandTime(subject) }
      var reader = FieldReader(node: element, currency: currency, values: mapping.values)
      let (id, item) = item(&reader)
      if let item {
        section.items.append(item)
        read.append(element)
      }
      for fault in item == nil ? reader.faults.prefix(1) : reader.faults[...] {
        listing.note(
          SkippedItem(
            section: section.key,
            index: earlier + position,
            field: fault.field,
            id: id,
            lost: item == nil ? .item : .field,
            reason: fault.reason
          )
        )
      }
    }
    // If all items have the same id although their titles differ, the path to the id must be wrong.
    if let first = section.items.first, section.items.count > 2,
      section.items.allSatisfy({ $0.id == first.id }),
      section.items.contains(where: { $0.title != first.title })
    {
      let paths = mapping.item.id.map(\.description).joined(separator: ", ")
      throw CatalogError.shape(
        subject,
        "all \(section.items.count) items have the same id \"\(first.id.prefix(40))\" at \(paths)",
        remedy: "correct item.id in the catalog file, or the feed"
      )
    }
    listing.absent[section.key] = try absentFields(of: section.items, in: read)
    listing.elementCount += elements.count
    // The list of a transform is that of the response, which ``read(_:of:)`` counts.
    if mapping.transform == nil, let (lists, isNested) = try path?.firstLists(in: node) {
      listing.listCount += lists.reduce(0) { $0 + $1.count }
      listing.isNested = listing.isNested || isNested
    }
    listing.sections.append(section)
  }

  /// Reads an item.
  ///
  /// An element without an id or a title is not an item, and the first fault of the reader is the reason. If another
  /// field cannot be read, the item lacks that field.
  private func item(_ reader: inout FieldReader) -> (id: String?, item: StoreItem?) {
    let (node, fields) = (reader.node, mapping.item)
    guard node.kind == .object else {
      // If a block of linked data or a line of a table cannot be read, its reader puts the reason into the array as a
      // text.
      let isReason =
        mapping.transform == nil && mapping.notation.hasReasons
        || mapping.records != nil && node.text?.hasPrefix("records: ") == true
      let reason = isReason ? node.text.map { PlainText.line(String($0.prefix(300))) } : nil
      reader.note(nil, reason ?? "expected an object, found \(node.kind.phrase)")
      return (nil, nil)
    }
    guard let id = reader.identifier(fields.id) else {
      reader.note(fields.id.first, "the item has no id")
      return (nil, nil)
    }
    guard id.utf8.count <= Self.longestID else {
      let reason = "the id has \(id.utf8.count) bytes; at most \(Self.longestID) are read"
      reader.note(fields.id.first, reason)
      return (nil, nil)
    }
    guard let title = reader.title(fields.title) else {
      reader.note(fields.title.first, "the item has no title")
      return (id, nil)
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
      placeValues: fields.placeValues.isEmpty ? nil : reader.notes(fields.placeValues)
    )
    return (id, item)
  }

  /// Finds the elements that represent items, by the first path of the mapping that leads to any.
  ///
  /// If the mapping has a program for records, the elements are the output of the program.
  func elements(of root: JSONNode, subject: String) throws(CatalogError) -> [JSONNode] {
    try chosen(of: root, subject: subject).elements
  }

  /// The elements that represent items, and the path that leads to them; nil if the lists of all paths are empty.
  private func chosen(
    of root: JSONNode,
    subject: String
  ) throws(CatalogError) -> (elements: [JSONNode], path: JSONPath?) {
    var isFound = false
    for path in mapping.items {
      guard let elements = try elements(path, in: root) else { continue }
      isFound = true
      // An empty list ends a listing of several pages. A filter that leaves nothing makes no list empty.
      if elements.isEmpty, paging == nil,
        try path.firstLists(in: root).lists.allSatisfy({ $0.count == 0 })
      {
        continue
      }
      guard let records = mapping.records else { return (elements, path) }
      // The reasons of a reader are no records.
      let reasons = mapping.notation.hasReasons ? elements.filter { $0.kind == .string } : []
      let rows = reasons.isEmpty ? elements : elements.filter { $0.kind != .string }
      return (try records.apply(to: rows, of: subject, within: limits) + reasons, path)
    }
    if isFound { return ([], nil) }
    let paths = mapping.items.map(\.description).joined(separator: ", ")
    // A shop can leave out an empty list. It does not write a text or a number there, unless something is wrong.
    var places = [root]
    for path in mapping.items where path.isSingular {
      if let place = try path.firstValue(in: root) { places.append(place) }
    }
    // GraphQL reports a failure as a list of errors, under status 200. If an earlier page names this one, it must exist.
    let isFailure =
      root["errors"]?.elements.first?.kind == .object
      || paging?.isCounted == false && [.object, .string].contains(root["error"]?.kind)
    let isOther = isFailure || places.contains { ![.array, .object, .null].contains($0.kind) }
    throw CatalogError(
      isOther ? .otherItems : .absentItems,
      subject: subject,
      reason: "expected an array of items at \(paths), found none in \(root.kind.phrase)",
      remedy: "correct \"items\" in the catalog file"
    )
  }

  /// The values that a path selects.
  ///
  /// In XML, an element that is not repeated looks like an object, so that `$.shop.item[*]` selects the members of the only
  /// item. The values are then the item itself, unless all its members are elements.
  private func chosen(by path: JSONPath, in root: JSONNode) throws(CatalogError) -> [JSONNode] {
    let values = try path.values(in: root)
    guard mapping.notation.kind == .xml, path.endsInMembers,
      values.contains(where: { $0.kind != .object }), let parents = path.withoutLastChoice,
      // The root element is no element of a list.
      parents.segments.count > 1
    else { return values }
    let elements = try parents.values(in: root)
    return elements.allSatisfy { $0.kind == .object } ? elements : values
  }

  /// The number of elements in the only list of objects in a response; nil if it has several, or none.
  private static func onlyList(in response: JSONNode) -> Int? {
    let values = response.kind == .array ? [response] : response.envelope().map(\.value)
    let lists = values.filter { $0.kind == .array && $0.elements.contains { $0.kind == .object } }
    return lists.count == 1 ? lists[0].count : nil
  }

  /// The elements that represent items, by one path, or nil if the path leads neither to arrays nor to items.
  ///
  /// The path can lead to an array, to several arrays, or to the items themselves. A value that is `null` is ignored.
  private func elements(
    _ path: JSONPath,
    in root: JSONNode
  ) throws(CatalogError) -> [JSONNode]? {
    let values = try chosen(by: path, in: root)
    let lists = values.filter { $0.kind != .null }
    if lists.count == 1, lists[0].kind == .array { return lists[0].elements }
    // In XML, a list of one element looks like the element.
    if mapping.notation.kind == .xml, lists.count == 1, lists[0].kind == .object { return lists }
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
  /// - Returns: The value that the mapping reads, and a listing without sections. The listing has values of the original
  ///   body: the next page and, if there is no transform, the signs that there are more pages.
  func read(
    _ body: [UInt8],
    of subject: String
  ) throws(CatalogError) -> (root: JSONNode, listing: DecodedListing) {
    try mapping.transform?.checkSize(body.count, of: subject)
    let isMade = mapping.transform != nil || mapping.records != nil
    let body = try mapping.notation.json(
      of: body,
      subject,
      columns: isMade ? [] : mapping.item.id.compactMap(\.lastName),
      needsAllRows: mapping.transform != nil,
      linesBefore: linesBefore,
      within: limits
    )
    let response = try JSONDocument(parsing: body, of: subject, within: limits).root
    var listing = DecodedListing()
    try readNextPage(in: response, subject, into: &listing)
    listing.continuation = Self.continuation(in: response)
    guard let transform = mapping.transform else {
      if source.parts == nil { listing.total = Self.total(in: response) }
      return (response, listing)
    }
    (listing.listCount, listing.isNested) = (Self.onlyList(in: response) ?? 0, true)
    let made = try transform.apply(to: body, of: subject, isStopped: limits.isStopped)
    return (try JSONDocument(parsing: made, of: "\(subject), transformed").root, listing)
  }

  /// Reads the URL or cursor of the next page, if the body names one.
  private func readNextPage(
    in root: JSONNode,
    _ subject: String,
    into listing: inout DecodedListing
  ) throws(CatalogError) {
    guard let paging, let path = paging.path, let value = try path.firstContent(in: root) else {
      return
    }
    // A cursor can be a number.
    let isCursor = paging.step == .cursor
    guard let text = isCursor ? FieldReader.plainText(value) : value.text else {
      if Self.isNothing(value) { return }
      let expected = isCursor ? "the cursor" : "the URL"
      listing.invalidNext =
        "\(expected) of the next page is expected at \(path), which leads to \(value.kind.phrase); "
        + "correct the path under paging"
      return
    }
    guard !text.isEmpty else { return }
    guard text.utf8.count <= Self.longestNextPage else {
      throw CatalogError.shape(
        subject,
        "the address of its next page has \(text.utf8.count) bytes; at most \(Self.longestNextPage) are read",
        remedy: "correct the path under paging"
      )
    }
    listing.nextPage = text
  }

  /// Whether a value says that there is nothing, such as `false`, 0 or `{"href": null}`.
  private static func isNothing(_ value: JSONNode) -> Bool {
    value.isEmpty || value.boolean == false || value.integer == 0
      || value.kind == .object && value.members.allSatisfy { isNothing($0.value) }
  }
}

extension ListingDecoder {
  /// Names of objects that have the total number in shops that do not put it beside the items.
  private static let totalPlaces = ["meta", "pagination", "paging", "page", "data"]

  /// The total number of items according to the body, such as `{"total": 40}`, or nil if the body has no such number.
  static func total(in root: JSONNode) -> Int? {
    guard root.kind == .object else { return nil }
    for node in [root] + totalPlaces.compactMap({ root[$0] }) {
      for (name, value) in node.firstMembers(60)
      where FieldRules.isNamed("stated", NameWords.plain(name)) {
        if let number = FieldReader.plainText(value).flatMap({ Int($0) }) { return number }
      }
    }
    return nil
  }

  /// A sign in an object that there are more pages, for example "has_more is true", or nil if there is none.
  ///
  /// Only the objects around the items are searched, not the items.
  static func continuation(in node: JSONNode, path: String = "", depth: Int = 0) -> String? {
    guard node.kind == .object, depth < 4 else { return nil }
    var (page, pages): (Int?, Int?) = (nil, nil)
    for (name, value) in node.members.prefix(60) {
      let (words, place) = (NameWords.plain(name), path + name)
      if FieldRules.isNamed("more", words), value.boolean == true { return "\(place) is true" }
      // The HAL form is {"_links": {"next": {"href": "…"}}}.
      if FieldRules.isNamed("next", words) || FieldRules.isNamed("nextCursor", words),
        (value["href"] ?? value).text?.isEmpty == false || value.integer ?? 0 > 0
      {
        return "it has \(place)"
      }
      // Numbers such as `pageIndex` can count from 0.
      if ["page", "current page"].contains(words) { page = value.integer ?? page }
      if FieldRules.isNamed("pages", words) { pages = value.integer ?? pages }
      if let found = continuation(in: value, path: place + ".", depth: depth + 1) { return found }
    }
    guard let page, let pages, page < pages else { return nil }
    return "it is page \(page) of \(pages)"
  }
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
    if let total, mostListed > 0, total > mostListed {
      return "the shop says that there are \(total) items, and lists \(mostListed); \(advice)"
    }
    guard let continuation, listedCount > 0 else { return nil }
    return
      "the shop reports further pages (\(continuation)), which are not read; "
      + advice
  }
}
