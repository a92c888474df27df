/// A response for which a catalog file is proposed.
package struct ProposedPage: Sendable {
  /// The body, in any notation that larder reads.
  package let body: [UInt8]
  /// The source of the response.
  package let source: ProposedSource
  /// Whether the response's `Link` header names a next page.
  package let hasNextLink: Bool

  /// Makes a response.
  package init(body: [UInt8], source: ProposedSource, hasNextLink: Bool = false) {
    self.body = body
    self.source = source
    self.hasNextLink = hasNextLink
  }
}

/// A catalog file that is proposed for responses; used by `larder catalog init`.
package struct ProposedFile {
  /// Sources that are read in the same way.
  struct Part {
    /// The sources; at least one.
    var sources: [ProposedSource]
    /// How the sources are read.
    var reading: ProposedReading
  }

  /// The catalog file as YAML.
  package var text: String { lines.joined(separator: "\n") + "\n" }
  /// The listing of each source, in order, as the proposed file reads it.
  package internal(set) var listings: [DecodedListing] = []
  /// The keys that are in doubt: they are commented out, or have alternatives in comments.
  package var unsure: [String] {
    var keys: [String] = []
    for part in parts {
      guard case .mapping(let mapping) = part.reading else { continue }
      keys += mapping.unsure.filter { !keys.contains($0) }
    }
    return keys
  }
  /// The detail as the file reads it; nil when no detail was given.
  package var readDetail: ItemDetail? { detail?.read }

  let headers: [HeaderTemplate]
  var parts: [Part]
  var detail: DetailProposal?

  /// Proposes a catalog file.
  ///
  /// - Parameters:
  ///   - pages: The responses, each with a URL of its own; at least one.
  ///   - detail: The detail of an item; nil when there is none.
  ///   - headers: The headers of the requests.
  ///   - currency: The ISO 4217 code that the user gave; nil to deduce it.
  ///   - name: The name of the file, for messages.
  ///   - ask: Fetches the next page of the response at an index, given the page's URL and request body. It is called to
  ///     try pagings; nil tries none.
  /// - Throws: ``CatalogError`` when nothing in a response looks like items, or the detail belongs to no item. The
  ///   subject of the error is the response's address.
  package init(
    of pages: [ProposedPage],
    detail: ProposedPage? = nil,
    headers: [HeaderTemplate] = [],
    currency: String? = nil,
    name: String,
    asking ask: ((_ position: Int, _ url: String, _ body: String?) -> [UInt8]?)? = nil
  ) throws(CatalogError) {
    self.headers = headers
    var pages = pages
    var readings: [ProposedReading] = []
    var looks: [ResponseLook?] = []
    for page in pages {
      do throws(CatalogError) {
        let (reading, look) = try Self.reading(of: page, currency)
        readings.append(reading)
        looks.append(look)
      } catch {
        var error = error.quoting(page.body)
        error.subject = page.source.label
        throw error
      }
    }
    let sources = ProposedSource.joined(pages.map(\.source))
    pages = zip(pages, sources).map {
      ProposedPage(body: $0.body, source: $1, hasNextLink: $0.hasNextLink)
    }
    parts = []
    for (position, source) in sources.enumerated() {
      if let place = parts.firstIndex(where: { $0.reading.isLike(readings[position]) }) {
        parts[place].sources.append(source)
      } else {
        parts.append(Part(sources: [source], reading: readings[position]))
      }
    }
    try uniteLooks(looks, readings, pages, currency)
    if sources.count > 1, let first = parts.first(where: \.reading.makesSections) {
      throw CatalogError(
        .unexpectedShape,
        subject: first.sources[0].label,
        reason:
          "a transform names its sections, so no other sections can be added",
        remedy: "propose a catalog file for this URL only"
      )
    }
    if let ask { try tryPagings(pages, name, ask) }
    try decode(pages, name)
    if noteAbsentFields() { try decode(pages, name) }
    try demandItems()
    guard let detail else { return }
    try propose(detail, pages, name)
    _ = try readBack(name)
  }

  /// How a response is read: by a built-in format if one fits, otherwise by a mapping.
  ///
  /// If a mapping reads the response, the items that were found are returned too.
  private static func reading(
    of page: ProposedPage,
    _ currency: String?
  ) throws(CatalogError) -> (ProposedReading, ResponseLook?) {
    if let format = try FormatProposal(of: page, currency: currency) {
      return (.format(format), nil)
    }
    let look = try ResponseLook(page.body)
    let mapping = MappingProposal(
      of: [look],
      source: page.source,
      currency: currency,
      hasNextLink: page.hasNextLink
    )
    return (.mapping(mapping), look)
  }

  /// For sources that share one reading, deduces the fields again from the items of all these sources.
  private mutating func uniteLooks(
    _ looks: [ResponseLook?],
    _ readings: [ProposedReading],
    _ pages: [ProposedPage],
    _ currency: String?
  ) throws(CatalogError) {
    for place in parts.indices where parts[place].sources.count > 1 {
      let own = readings.indices.filter { readings[$0].isLike(parts[place].reading) }
      let found = own.compactMap { looks[$0] }
      guard found.count > 1, let first = own.first else { continue }
      parts[place].reading = .mapping(
        MappingProposal(
          of: found,
          source: pages[first].source,
          currency: currency,
          hasNextLink: own.contains { pages[$0].hasNextLink }
        )
      )
    }
  }

  /// The source at an index in the order of the file, and the index of its part.
  private func source(at position: Int) -> (part: Int, source: ProposedSource) {
    var rest = position
    for (place, part) in parts.enumerated() {
      if rest < part.sources.count { return (place, part.sources[rest]) }
      rest -= part.sources.count
    }
    return (0, parts[0].sources[0])
  }

  private func page(of source: ProposedSource, _ pages: [ProposedPage]) -> (
    position: Int, page: ProposedPage
  ) {
    let position = pages.firstIndex { $0.source.url == source.url } ?? 0
    return (position, pages[position])
  }

  private mutating func decode(_ pages: [ProposedPage], _ name: String) throws(CatalogError) {
    let file = try readBack(name)
    listings = []
    for position in 0..<pages.count {
      let (_, source) = source(at: position)
      let (_, page) = page(of: source, pages)
      do throws(CatalogError) {
        listings.append(try decodeSource(page.body, at: position, using: file))
      } catch {
        var error = error
        error.subject = source.label
        throw error
      }
    }
  }

  /// Refuses a file with which no item can be read.
  private func demandItems() throws(CatalogError) {
    guard listings.allSatisfy({ $0.sections.allSatisfy(\.items.isEmpty) }) else { return }
    let reason = listings.lazy.flatMap(\.skipped).first?.reason
    throw CatalogError(
      .unexpectedShape,
      subject: parts[0].sources[0].label,
      expected: "items",
      reason: "it has a list that looks like items, and none of them can be read"
        + (reason.map { ": \($0)" } ?? ""),
      remedy: "give a URL that lists items, or write items and item by hand"
    )
  }

  /// Records the fields that all items of one listing lack and other listings have.
  ///
  /// If the file mapped a field that no item of a listing has, every run would end as partial. A listing with further
  /// pages is not judged.
  ///
  /// - Returns: Whether there are such fields.
  private mutating func noteAbsentFields() -> Bool {
    var position = 0
    var isNew = false
    for part in parts.indices {
      for place in parts[part].sources.indices {
        defer { position += 1 }
        guard parts[part].sources.count > 1, case .mapping(let mapping) = parts[part].reading,
          mapping.paging.map({ $0.confidence < 0.5 }) ?? true, mapping.partLines.isEmpty
        else { continue }
        let absent = listings[position].absent.values.flatMap(\.self)
        parts[part].sources[place].absent = ItemField.allCases.filter(absent.contains)
        isNew = isNew || !absent.isEmpty
      }
    }
    return isNew
  }

  /// Requests a second page with each possible paging, until one returns other items.
  private mutating func tryPagings(
    _ pages: [ProposedPage],
    _ name: String,
    _ ask: (_ position: Int, _ url: String, _ body: String?) -> [UInt8]?
  ) throws(CatalogError) {
    var first = 0
    for place in parts.indices {
      defer { first += parts[place].sources.count }
      guard case .mapping(var mapping) = parts[place].reading else { continue }
      let (asked, page) = page(of: parts[place].sources[0], pages)
      let isAlone = parts[place].sources.count == 1
      let doubtful = mapping.pagings.filter { isAlone || $0.url == nil }
      guard page.source.base != nil, !page.source.isUnknown,
        let best = doubtful.first, !best.isSure
      else { continue }
      for paging in doubtful.prefix(PagingProposal.mostTried) {
        mapping.pagings = [paging.believed]
        parts[place].reading = .mapping(mapping)
        let file = try readBack(name)
        let url = paging.url ?? page.source.url
        if Self.bringsMore(file, first, page.body, url, { ask(asked, $0, $1) }) { break }
        mapping.pagings = doubtful.map(\.refuted)
        parts[place].reading = .mapping(mapping)
      }
    }
  }

  /// Whether more than half of the items on a source's second page are not on its first page.
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

  private mutating func propose(
    _ page: ProposedPage,
    _ pages: [ProposedPage],
    _ name: String
  ) throws(CatalogError) {
    do throws(CatalogError) {
      var candidates: [DetailProposal.Candidate] = []
      for (position, listing) in listings.enumerated() {
        let (part, _) = source(at: position)
        var nodes: [JSONNode] = []
        if case .mapping(let mapping) = parts[part].reading, parts[part].sources.count == 1 {
          nodes = mapping.place.items
        }
        let items = listing.sections.flatMap(\.items)
        candidates += items.enumerated().map { index, item in
          DetailProposal.Candidate(
            id: item.id,
            node: nodes.count == items.count ? nodes[index] : nil
          )
        }
      }
      let base = parts[0].sources[0].base
      detail = try DetailProposal(
        page,
        of: candidates,
        base: base,
        currency: parts[0].reading.currency
      )
    } catch {
      var error = error.quoting(page.body)
      error.subject = page.source.label
      throw error
    }
    guard let id = detail?.itemID else { return }
    let file = try readBack(name)
    detail?.read = try decodeDetail(page.body, id: id, using: file)
  }
}

extension ProposedFile {
  /// Reads the file as a sync reads it, and checks that its content equals the proposal.
  ///
  /// The file contains names and texts from the response. If a text were quoted wrongly, it could add a key such as
  /// `token:` with a command to run.
  ///
  /// - Parameter name: The file's name, for messages.
  /// - Returns: The file.
  /// - Throws: ``CatalogError`` when the file cannot be read, or differs from the proposal.
  func readBack(_ name: String) throws(CatalogError) -> CatalogFile {
    guard lines.allSatisfy(YAMLText.isOneLine) else { throw Self.misread("its lines", name) }
    let bytes = Array(text.utf8)
    let root = try YAMLFile(name: name, subject: "the proposed file").mapping(of: bytes)
    guard root.members.map(\.name) == rootKeys else { throw Self.misread("its keys", name) }
    let file = try CatalogFile(parsing: bytes, file: name)
    if let fault = difference(of: file) { throw Self.misread(fault, name) }
    return file
  }

  /// The keys of the root, in the order in which the file writes them.
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

  /// The first difference between a file and the proposal; nil when there is none.
  private func difference(of file: CatalogFile) -> String? {
    let sources = parts.flatMap(\.sources)
    if file.name != sources[0].name { return "its name" }
    if file.currency != parts[0].reading.currency { return "its currency" }
    if file.base != sources[0].base { return "its base" }
    let sent = file.headers.map { [$0.name, $0.rawValue] }
    if sent != headers.map({ [$0.name, $0.rawValue] }) || file.token != nil {
      return "its headers"
    }
    var position = 0
    for part in parts {
      for source in part.sources {
        let isAlone = part.sources.count == 1
        let urls = [source.url, isAlone ? part.reading.paging?.url : nil].compactMap(\.self)
        guard let found = Self.address(of: position, in: file), urls.contains(found.url),
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
        position += 1
      }
    }
    return Self.address(of: position, in: file) == nil ? nil : "its sections"
  }

  /// The URL and key of a source in a file; a source of many sections has no key of its own.
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

  private static func misread(_ thing: String, _ name: String) -> CatalogError {
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
  /// The first difference between a mapping and this proposal; nil when there is none.
  ///
  /// - Parameters:
  ///   - read: The mapping as it was read back.
  ///   - absent: The fields that the source lacks.
  /// - Returns: The difference, in words for a message.
  fileprivate func difference(of read: Mapping, without absent: [ItemField]) -> String? {
    if read.transform?.program.trimmed != transform?.trimmed { return "its transform" }
    // After a transform, fields without paths in the proposal have the paths of ``OwnShape``.
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
      // A section sets fields of the catalog to `null` if its items lack them.
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
