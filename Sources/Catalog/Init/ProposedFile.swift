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
    // XML was read as such, so that it is no message.
    let look = FormatSignature.look(of: body)
    var error = look == .xml ? error : error.quoting(body)
    error.subject = source.label
    if look == .html, error.code == .malformedJSON {
      error.remedy =
        "it has no products as JSON-LD, microdata or Open Graph; give the URL of the data that the page loads "
        + "(the network log of a browser has it)"
    }
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
    var reading: any ProposedReading

    /// The paths to the id and the title in a mapping; nil for one that has none.
    fileprivate var identity: [FieldEvidence?] {
      [.id, .title].map { reading.mapping?.fields.alternatives($0).first }
    }
  }

  /// The catalog file as YAML.
  package var text: String { lines.joined(separator: "\n") + "\n" }
  /// The decoded listing of each response, in the order of the sections in the catalog file.
  package internal(set) var listings: [DecodedListing] = []
  /// The keys that are in doubt: they are commented out, or comments below them show other values.
  package var unsure: [String] {
    let keys = parts.flatMap(\.reading.unsure)
    let isRefused = listings.contains { $0.sections.contains(where: $0.isRefused) }
    let areShared = listings.flatMap(\.sections).contains { section in
      Set(section.items.map(\.id)).count < Set(section.items).count
    }
    return
      ((isRefused ? ["items", "title"] : []) + keys + (areShared ? ["id"] : [])
      + (lacksBase ? ["base"] : [])).unique(by: \.self)
  }
  /// Whether most pictures are relative, and the response is a local file, which has no base.
  var lacksBase: Bool {
    let pictures = listings.flatMap(\.sections).flatMap(\.items).flatMap(\.images).map(\.url)
    return sources[0].base == nil
      && pictures.count { !PictureText.isAbsolute($0) } * 2 > pictures.count
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

  /// The URL of a section, with the placeholder `{page}` if the path of the URL selects the page.
  func url(of page: Int, in part: Part) -> String {
    (part.pages.count == 1 ? part.reading.paging?.url : nil) ?? pages[page].source.url
  }

  /// The sources in the order of the catalog file.
  var sources: [ProposedSource] { read.map { pages[$0.page].source } }

  /// The index of each response in ``pages`` and the part that reads it, in the order of the catalog file.
  private var read: [(page: Int, part: Part)] {
    parts.flatMap { part in part.pages.map { ($0, part) } }
  }

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
    for (place, source) in ProposedSource.joined(pages.map(\.source)).enumerated() {
      self.pages[place].source = source
    }
    try decideReadings(of: pages, currency)
    if pages.count > 1,
      let first = parts.first(where: { $0.reading.mapping?.makesSections == true })
    {
      throw .shape(
        self.pages[first.pages[0]].source.label,
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

  /// Decides how each response is read: by a built-in format if one fits, otherwise by a mapping.
  ///
  /// Responses that are alike get one mapping, because a field can be missing in the first of them.
  private mutating func decideReadings(
    of responses: [ProposedPage],
    _ currency: String?
  ) throws(CatalogError) {
    var found: [(format: FormatProposal?, look: ResponseLook?)] = []
    for page in responses {
      do throws(CatalogError) {
        let format = try FormatProposal(of: page, currency: currency)
        let isPosted = page.source.body != nil
        found.append(
          (format, format == nil ? try ResponseLook(page.body, isPosted: isPosted) : nil)
        )
      } catch {
        throw page.located(error)
      }
    }
    let likenesses = found.map { $0.look?.likeness ?? [$0.format?.format] }
    func mapped(_ own: [Int]) -> Part {
      let mapping = MappingProposal(
        of: own.compactMap { found[$0].look },
        source: pages[own[0]].source,
        currency: currency,
        hasNextLink: own.contains { pages[$0].hasNextLink }
      )
      return Part(pages: own, reading: mapping)
    }
    parts = likenesses.unique(by: \.self).flatMap { likeness -> [Part] in
      let own = likenesses.indices.filter { likenesses[$0] == likeness }
      if let format = found[own[0]].format { return [Part(pages: own, reading: format)] }
      let joined = mapped(own)
      guard own.count > 1, joined.identity.contains(where: { $0?.isSure != true }) else {
        return [joined]
      }
      // Two tables can have different columns.
      let apart = own.map { mapped([$0]) }
      let areOthers = Set(apart.map { $0.identity.map { $0?.place } }).count > 1
      let areSure = apart.allSatisfy { $0.identity.allSatisfy { $0?.isSure == true } }
      return joined.identity.contains { $0 == nil } || areOthers && areSure ? apart : [joined]
    }
  }

  /// Decodes all responses with the proposed file.
  private mutating func decode() throws(CatalogError) {
    let file = try readBack()
    listings = []
    for (position, (page, _)) in read.enumerated() {
      do throws(CatalogError) {
        listings.append(try decodeSource(pages[page].body, at: position, using: file))
      } catch {
        var error = error
        error.subject = pages[page].source.label
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
    for (listing, (page, part)) in zip(listings, read) where part.pages.count > 1 {
      guard let mapping = part.reading.mapping, part.reading.paging == nil,
        mapping.partLines.isEmpty
      else { continue }
      let absent = listing.absent.values.flatMap(\.self)
      pages[page].source.absent = ItemField.allCases.filter(absent.contains)
    }
    return pages.contains { !$0.source.absent.isEmpty }
  }

  /// Requests a second page with each possible paging, until one returns other items.
  private mutating func tryPagings(
    _ ask: (_ position: Int, _ url: String, _ body: String?) -> [UInt8]?
  ) throws(CatalogError) {
    var first = 0
    for part in parts.indices {
      defer { first += parts[part].pages.count }
      guard var mapping = parts[part].reading.mapping else { continue }
      let asked = parts[part].pages[0]
      let source = pages[asked].source
      let isAlone = parts[part].pages.count == 1
      let doubtful = mapping.pagings.filter { isAlone || $0.url == nil }
      guard source.base != nil, !source.isUnknown, let best = doubtful.first, !best.isSure
      else { continue }
      for paging in doubtful.prefix(PagingProposal.mostTried) {
        mapping.pagings = [paging.believed]
        parts[part].reading = mapping
        let file = try readBack()
        let url = paging.url ?? source.url
        if Self.bringsMore(file, first, pages[asked].body, url, { ask(asked, $0, $1) }) { break }
        mapping.pagings = doubtful.map(\.refuted)
        parts[part].reading = mapping
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
      values[place] = rule.nextValue(afterReading: 1, last: rule.firstValue, listing: listing)
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
    let candidates = zip(read, listings).flatMap { read, listing in
      let part = read.part
      let items = listing.sections.flatMap(\.items)
      let nodes = part.pages.count == 1 ? part.reading.mapping?.place.items ?? [] : []
      return items.indices.map { index in
        let node = nodes.count == items.count ? nodes[index] : nil
        return DetailProposal.Candidate(id: items[index].id, node: node)
      }
    }
    let proposal: DetailProposal
    do throws(CatalogError) {
      proposal = try DetailProposal(
        page,
        of: candidates,
        base: sources[0].base,
        currency: parts[0].reading.currencyCode
      )
    } catch {
      throw page.located(error)
    }
    detail = proposal
    readDetail = try decodeDetail(page.body, id: proposal.itemID, using: readBack())
  }
}

extension ProposedFile {
  /// Parses the proposed file as a sync does, and checks that it has nothing that was not proposed.
  ///
  /// The file contains names and texts from the response. If a text were quoted wrongly, it could add a key such as
  /// `token:` with a command to run.
  ///
  /// - Throws: ``CatalogError`` when the file cannot be parsed, or when its lines, keys or headers differ from the
  ///   proposal.
  func readBack() throws(CatalogError) -> CatalogFile {
    let (lines, bytes) = (lines, Array(text.utf8))
    let root = try YAMLFile(name: name, subject: "the proposed file").mapping(of: bytes)
    let file = try CatalogFile(parsing: bytes, file: name)
    let keys = lines.filter { $0.first.map { !" #".contains($0) } ?? false }
      .map { String($0.prefix { $0 != ":" }) }
    guard lines.allSatisfy(YAMLText.isOneLine), root.members.map(\.name) == keys,
      file.name == sources[0].name, file.base == sources[0].base,
      file.currency == parts[0].reading.currencyCode, file.token == nil,
      file.headers.map({ [$0.name, $0.rawValue] }) == headers.map({ [$0.name, $0.rawValue] }),
      file.sections.map(\.url) == read.map({ url(of: $0.page, in: $0.part) })
    else {
      throw CatalogError(
        .unexpectedShape,
        subject: "the response",
        file: name,
        reason: "a name or a text in it would change the meaning of the catalog file",
        remedy: "write the catalog file by hand"
      )
    }
    return file
  }
}
