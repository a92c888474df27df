/// A response that the proposed catalog file reads.
package struct ProposedPage: Sendable {
  /// The body, in any notation that larder reads.
  package let body: [UInt8]
  /// The source of the response.
  package internal(set) var source: ProposedSource
  /// Whether the response's `Link` header names a next page.
  package let hasNextLink: Bool

  /// Makes a response.
  package init(body: [UInt8], source: ProposedSource, hasNextLink: Bool = false) {
    self.body = body
    self.source = source
    self.hasNextLink = hasNextLink
  }

  /// An error with this response as its subject.
  ///
  /// If the body is an error message of the shop, the error quotes it.
  fileprivate func located(_ error: CatalogError) -> CatalogError {
    var error = error.quoting(body)
    error.subject = source.label
    return error
  }
}

/// The catalog file that `larder catalog init` proposes for one or more responses.
package struct ProposedFile {
  /// Responses that are read in the same way.
  struct Part {
    /// The indices of the responses in ``pages``; at least one.
    var pages: [Int]
    /// How the responses are read.
    var reading: ProposedReading
  }

  /// The catalog file as YAML.
  package var text: String { lines.joined(separator: "\n") + "\n" }
  /// The decoded listing of each response, in the order of the sections in the catalog file.
  package internal(set) var listings: [DecodedListing] = []
  /// The keys that are in doubt: they are commented out, or comments below them show other values.
  package var unsure: [String] {
    let keys = parts.flatMap { part -> [String] in
      if case .mapping(let mapping) = part.reading { mapping.unsure } else { [] }
    }
    return keys.unique(by: \.self)
  }
  /// The detail as the catalog file reads it, or nil if no detail was given.
  package private(set) var readDetail: ItemDetail?

  /// The name of the file, for messages.
  private let name: String
  let headers: [HeaderTemplate]
  private(set) var pages: [ProposedPage]
  /// The responses in the order of the catalog file, grouped by their reading.
  var parts: [Part] = []
  private(set) var detail: DetailProposal?

  /// The sources in the order of the catalog file.
  var sources: [ProposedSource] { parts.flatMap(\.pages).map { pages[$0].source } }

  /// Proposes a catalog file.
  ///
  /// - Parameters:
  ///   - pages: The responses, at least one. No two of them have the same URL.
  ///   - detail: The detail of an item: a document about this item alone. Nil if there is none.
  ///   - headers: The headers of the requests.
  ///   - currency: The ISO 4217 code that the user gave, or nil to deduce the currency.
  ///   - name: The name of the file, for messages.
  ///   - ask: Requests a further page of the response at an index, given the page's URL and request body. It is called
  ///     to try pagings. If it is nil, no paging is tried.
  /// - Throws: ``CatalogError`` when nothing in a response looks like items, or when the detail belongs to none of the
  ///   items. The subject of the error is the address of the response.
  package init(
    of pages: [ProposedPage],
    detail: ProposedPage? = nil,
    headers: [HeaderTemplate] = [],
    currency: String? = nil,
    name: String,
    asking ask: ((_ position: Int, _ url: String, _ body: String?) -> [UInt8]?)? = nil
  ) throws(CatalogError) {
    self.name = name
    self.headers = headers
    self.pages = pages
    var readings: [ProposedReading] = []
    for page in pages {
      do throws(CatalogError) {
        readings.append(try Self.reading(of: page, currency))
      } catch {
        throw page.located(error)
      }
    }
    for (place, source) in ProposedSource.joined(pages.map(\.source)).enumerated() {
      self.pages[place].source = source
    }
    for (place, reading) in readings.enumerated() {
      if let part = parts.firstIndex(where: { $0.reading.isLike(reading) }) {
        parts[part].pages.append(place)
      } else {
        parts.append(Part(pages: [place], reading: reading))
      }
    }
    uniteReadings(readings, currency)
    if pages.count > 1, let first = parts.first(where: \.reading.makesSections) {
      throw CatalogError(
        .unexpectedShape,
        subject: self.pages[first.pages[0]].source.label,
        reason:
          "a transform names its sections, so no other sections can be added",
        remedy: "propose a catalog file for this URL only"
      )
    }
    if let ask { try tryPagings(ask) }
    try decode()
    if noteAbsentFields() { try decode() }
    try demandItems()
    if let detail { try propose(detail) }
  }

  /// Decides how a response is read: by a built-in format if one fits, otherwise by a mapping.
  private static func reading(
    of page: ProposedPage,
    _ currency: String?
  ) throws(CatalogError) -> ProposedReading {
    if let format = try FormatProposal(of: page, currency: currency) { return .format(format) }
    return .mapping(
      MappingProposal(
        of: [try ResponseLook(page.body)],
        source: page.source,
        currency: currency,
        hasNextLink: page.hasNextLink
      )
    )
  }

  /// Makes one mapping for the responses of each part, because a field can be missing in the first of them.
  private mutating func uniteReadings(_ readings: [ProposedReading], _ currency: String?) {
    for part in parts.indices where parts[part].pages.count > 1 {
      let own = parts[part].pages
      let looks = own.compactMap { page in
        if case .mapping(let mapping) = readings[page] { mapping.look } else { nil }
      }
      guard !looks.isEmpty else { continue }
      parts[part].reading = .mapping(
        MappingProposal(
          of: looks,
          source: pages[own[0]].source,
          currency: currency,
          hasNextLink: own.contains { pages[$0].hasNextLink }
        )
      )
    }
  }

  /// Decodes all responses with the proposed file.
  private mutating func decode() throws(CatalogError) {
    let file = try readBack()
    listings = []
    for (position, place) in parts.flatMap(\.pages).enumerated() {
      do throws(CatalogError) {
        listings.append(try decodeSource(pages[place].body, at: position, using: file))
      } catch {
        var error = error
        error.subject = pages[place].source.label
        throw error
      }
    }
  }

  /// Refuses a proposal that cannot read any item.
  private func demandItems() throws(CatalogError) {
    guard listings.allSatisfy({ $0.sections.allSatisfy(\.items.isEmpty) }) else { return }
    let reason = listings.lazy.flatMap(\.skipped).first?.reason
    throw CatalogError(
      .unexpectedShape,
      subject: sources[0].label,
      expected: "items",
      reason: "it has a list that looks like items, and none of them can be read"
        + (reason.map { ": \($0)" } ?? ""),
      remedy: "give a URL that lists items, or write items and item by hand"
    )
  }

  /// Records for each listing (the list of items in one response) the mapped fields that none of its items has.
  ///
  /// Such fields are `null` in the section of the listing. Otherwise every sync would report that their paths lead to
  /// nothing. A listing with further pages is left out, because items on those pages can have the fields.
  ///
  /// - Returns: Whether there are such fields.
  private mutating func noteAbsentFields() -> Bool {
    var position = 0
    var isNew = false
    for part in parts {
      for page in part.pages {
        defer { position += 1 }
        guard part.pages.count > 1, case .mapping(let mapping) = part.reading,
          part.reading.paging == nil, mapping.partLines.isEmpty
        else { continue }
        let absent = listings[position].absent.values.flatMap(\.self)
        pages[page].source.absent = ItemField.allCases.filter(absent.contains)
        isNew = isNew || !absent.isEmpty
      }
    }
    return isNew
  }

  /// Requests a second page with each possible paging, until one returns other items.
  private mutating func tryPagings(
    _ ask: (_ position: Int, _ url: String, _ body: String?) -> [UInt8]?
  ) throws(CatalogError) {
    var first = 0
    for part in parts.indices {
      defer { first += parts[part].pages.count }
      guard case .mapping(var mapping) = parts[part].reading else { continue }
      let asked = parts[part].pages[0]
      let source = pages[asked].source
      let isAlone = parts[part].pages.count == 1
      let doubtful = mapping.pagings.filter { isAlone || $0.url == nil }
      guard source.base != nil, !source.isUnknown, let best = doubtful.first, !best.isSure
      else { continue }
      for paging in doubtful.prefix(PagingProposal.mostTried) {
        mapping.pagings = [paging.believed]
        parts[part].reading = .mapping(mapping)
        let file = try readBack()
        let url = paging.url ?? source.url
        if Self.bringsMore(file, first, pages[asked].body, url, { ask(asked, $0, $1) }) { break }
        mapping.pagings = doubtful.map(\.refuted)
        parts[part].reading = .mapping(mapping)
      }
    }
  }

  /// Requests the second page of a listing with the paging of a catalog file.
  ///
  /// - Returns: Whether more than half of the items on the second page are not on the first page.
  private static func bringsMore(
    _ file: CatalogFile,
    _ position: Int,
    _ body: [UInt8],
    _ url: String,
    _ ask: (_ url: String, _ body: String?) -> [UInt8]?
  ) -> Bool {
    guard let rule = file.paging(ofSource: position),
      let listing = try? decodeSource(body, at: position, using: file)
    else { return false }
    let request = file.request(ofSource: position)
    var next: String?
    var values = rule.size.map { [Placeholder.size: String($0.value)] } ?? [:]
    let start = rule.firstPage(of: url, request)
    if let place = rule.place, rule.usesPlace(in: url, request) {
      values[place] = rule.nextValue(
        afterReading: 1,
        last: rule.firstValue,
        listing: listing
      )
      next = values[place].map { _ in Placeholder.fill(url: start, with: values) }
    } else {
      next = rule.nextPage(afterReading: 1, of: start, last: start, listing: listing)
    }
    let asking = request.body.isEmpty ? nil : request.body(filling: values)
    guard let next, let answer = ask(next, asking.map { String(decoding: $0, as: UTF8.self) }),
      let second = try? decodeSource(answer, at: position, using: file)
    else { return false }
    let known = Set(listing.sections.flatMap(\.items).map(\.id))
    let found = second.sections.flatMap(\.items).map(\.id)
    return found.count { !known.contains($0) } * 2 > found.count
  }

  /// Adds `detail:` to the file, deduced from the detail of one item, and decodes this detail with the file.
  private mutating func propose(_ page: ProposedPage) throws(CatalogError) {
    let readers = parts.flatMap { part in part.pages.map { _ in part } }
    let candidates = zip(readers, listings).flatMap {
      part,
      listing -> [DetailProposal.Candidate] in
      var nodes: [JSONNode] = []
      if part.pages.count == 1, case .mapping(let mapping) = part.reading {
        nodes = mapping.place.items
      }
      let items = listing.sections.flatMap(\.items)
      return items.enumerated().map { index, item in
        DetailProposal.Candidate(
          id: item.id,
          node: nodes.count == items.count ? nodes[index] : nil
        )
      }
    }
    do throws(CatalogError) {
      detail = try DetailProposal(
        page,
        of: candidates,
        base: sources[0].base,
        currency: parts[0].reading.currency
      )
    } catch {
      throw page.located(error)
    }
    let file = try readBack()
    if let id = detail?.itemID { readDetail = try decodeDetail(page.body, id: id, using: file) }
  }
}

extension ProposedFile {
  /// Parses the proposed file as a sync does, and checks that the result is what was proposed.
  ///
  /// The file contains names and texts from the response. If a text were quoted wrongly, it could add a key such as
  /// `token:` with a command to run.
  ///
  /// - Throws: ``CatalogError`` when the file cannot be parsed, or when the result differs from the proposal.
  func readBack() throws(CatalogError) -> CatalogFile {
    guard lines.allSatisfy(YAMLText.isOneLine) else { throw misread("its lines") }
    let bytes = Array(text.utf8)
    let root = try YAMLFile(name: name, subject: "the proposed file").mapping(of: bytes)
    guard root.members.map(\.name) == rootKeys else { throw misread("its keys") }
    let file = try CatalogFile(parsing: bytes, file: name)
    if let fault = difference(of: file) { throw misread(fault) }
    return file
  }

  /// The keys at the top level of the file, in the order of the file.
  private var rootKeys: [String] {
    let known: Set = [
      "name", "currency", "base", "headers", "sections", "request", "read", "xml", "transform",
      "text", "none", "items",
      "envelope",
      "paging", "item", "format", "detail",
    ]
    return lines.compactMap { line in
      guard line.first.map({ $0 != " " && $0 != "#" }) ?? false else { return nil }
      let key = String(line.prefix { $0 != ":" })
      return known.contains(key) ? key : "no key"
    }
  }

  /// The first difference between a parsed file and the proposal, such as "its name"; nil if they are equal.
  private func difference(of file: CatalogFile) -> String? {
    let sources = sources
    if file.name != sources[0].name { return "its name" }
    if file.currency != parts[0].reading.currency { return "its currency" }
    if file.base != sources[0].base { return "its base" }
    let sent = file.headers.map { [$0.name, $0.rawValue] }
    if sent != headers.map({ [$0.name, $0.rawValue] }) || file.token != nil {
      return "its headers"
    }
    let readers = parts.flatMap { part in part.pages.map { _ in part } }
    for (position, (part, source)) in zip(readers, sources).enumerated() {
      let paged = part.pages.count == 1 ? part.reading.paging?.url : nil
      guard let found = Self.address(of: position, in: file),
        found.url == source.url || found.url == paged,
        found.key == nil || found.key == source.key
      else { return "its sections" }
      if case .mapping(let mapping) = part.reading,
        let fault = mapping.difference(
          of: file.mapping(ofSource: position),
          without: source.absent
        )
      {
        return fault
      }
    }
    return Self.address(of: sources.count, in: file) == nil ? nil : "its sections"
  }

  /// The URL and the key of the section at an index in a file, or nil if there is no such section.
  ///
  /// The key is nil if one response has many sections, because the response has their keys.
  private static func address(
    of position: Int,
    in file: CatalogFile
  ) -> (url: String, key: String?)? {
    switch file.sections {
    case .combined(let plan): position == 0 ? (plan.url, nil) : nil
    case .listed(let sources):
      sources.indices.contains(position)
        ? (sources[position].url, sources[position].parts == nil ? sources[position].key : nil)
        : nil
    }
  }

  private func misread(_ thing: String) -> CatalogError {
    CatalogError(
      .unexpectedShape,
      subject: "the response",
      file: name,
      reason: "a name or a text in it would change the meaning of the catalog file (\(thing))",
      remedy: "write the catalog file by hand"
    )
  }
}

extension MappingProposal {
  /// The first difference between a parsed mapping and this proposal, such as "its item"; nil if they are equal.
  ///
  /// - Parameters:
  ///   - read: The mapping that was parsed.
  ///   - absent: The mapped fields that are `null` in this section.
  /// - Returns: The difference in words for a message.
  fileprivate func difference(of read: Mapping, without absent: [ItemField]) -> String? {
    if read.transform?.program.trimmed != transform?.trimmed { return "its transform" }
    // If there is a transform, fields that the proposal leaves out have the paths of ``OwnShape``.
    let made = transform == nil ? nil : (try? OwnShape.mapping())?.item
    let texts: [(FieldRules.Field, ItemField?, KeyPath<Mapping.Item, [JSONPath]>)] = [
      (.title, nil, \.title), (.description, .description, \.description),
      (.badges, .badges, \.badges), (.deliveryTypes, .deliveryTypes, \.deliveryTypes),
      (.latitude, .latitude, \.latitude), (.longitude, .longitude, \.longitude),
      (.address, .address, \.address),
    ]
    for (field, key, way) in texts where !(key.map(absent.contains) ?? false) {
      let own = paths(field)
      let meant = own.isEmpty ? nil : own
      let others = made?[keyPath: way].map(\.description) ?? []
      let found = read.item[keyPath: way].map(\.description)
      // A section sets a field of the catalog to `null` if its items lack the field.
      if found != meant ?? others, meant != nil || !found.isEmpty { return "its item" }
    }
    let ids = idPath.map { [$0] } ?? made?.id.map(\.description) ?? []
    if read.item.id.map(\.description) != ids { return "its item" }
    let prices: [(PriceProposal?, KeyPath<Mapping.Item, [Mapping.PriceRule]>)] = [
      (normalPrice, \.normalPrice), (salePrice, \.salePrice),
    ]
    for (price, rules) in prices {
      let meant = price.flatMap { $0.isSure ? $0.scores.map(\.evidence.place.first) : nil }
      let others = made?[keyPath: rules].map(\.path.description) ?? []
      let found = read.item[keyPath: rules].map(\.path.description)
      if found != meant ?? others, !found.isEmpty { return "its prices" }
    }
    return nil
  }
}
