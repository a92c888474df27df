/// A built-in format that fits a response, such as `shopify`.
struct FormatProposal: ProposedReading {
  /// The format's name.
  let format: String
  /// The number of items that the format can read.
  private let count: Int
  let currency: CurrencyProposal
  let unsure: [String]
  /// The format's summary in one line.
  private let about: String
  /// The lines of `paging:`; empty if the format's own paging fits.
  private let pagingLines: [String]
  /// Comments about the prices and the pictures.
  private let notes: [String]
  /// Whether the format has paths to prices, but no item has a price there.
  private let lacksPrices: Bool
  /// Whether the format has no paths to prices.
  private let readsNoPrices: Bool
  /// Whether the format has paths to pictures, but no item has a picture there.
  private let lacksPictures: Bool

  /// Looks for a format that fits a response.
  ///
  /// - Returns: Nil if no format's signature fits, if no format with a fitting signature can read at least half of the
  ///   items, if another reading finds more in them, or if the request had a body.
  /// - Throws: ``CatalogError`` when the response is an HTML page without products or a feed without items. No mapping
  ///   could read such a response either.
  init?(of page: ProposedPage, currency: String?) throws(CatalogError) {
    let fitting = page.source.body == nil ? FormatSignature.formats(fitting: page.body) : []
    for format in fitting {
      if let proposal = try? Self(format, reading: page, currency), !proposal.misses(page.body) {
        self = proposal
        return
      }
    }
    try Self.refuse(page.body)
    return nil
  }

  /// Reads the items of a response with a format.
  ///
  /// - Returns: Nil if no item, or less than half of the items, can be read.
  private init?(
    _ format: Format,
    reading page: ProposedPage,
    _ given: String?
  ) throws(CatalogError) {
    let decoder = ListingDecoder(mapping: try format.mapping(), currency: "USD")
    let root = try decoder.read(page.body, of: "the response").root
    let elements = try decoder.elements(of: root, subject: "the response")
    let listing = try decoder.listing(page.body)
    let lost = listing.skipped.count { $0.lost == .item }
    guard lost * 2 <= elements.count, lost < elements.count else { return nil }
    let rules = decoder.mapping.item.salePrice + decoder.mapping.item.normalPrice
    let read = elements.count - lost
    self.format = format.name
    about = format.about
    count = read
    pagingLines = Self.pagingLines(format, page)
    let items = listing.sections.flatMap(\.items)
    // A price in another currency than the decoder's is a price too.
    let priced = elements.count { element in
      rules.contains { (try? $0.path.firstValue(in: element))?.isEmpty == false }
    }
    lacksPrices = !rules.isEmpty && priced == 0
    readsNoPrices = rules.isEmpty
    let pictures = items.compactMap(\.images.first).map(\.url)
    let odd = pictures.filter { !PictureText.isLink($0) }
    let areOdd = odd.count * 2 > pictures.count
    let images = decoder.mapping.item.images
    lacksPictures =
      ImageReference.Role.allCases.contains { !images[$0].isEmpty }
      && items.allSatisfy(\.images.isEmpty)
    let evidence = EvidenceCollection(elements).all
    let paths = rules.map(\.path.segments)
    let prices = evidence.filter { one in
      (try? JSONPath(parsing: one.place.first)).map { paths.contains($0.segments) } == true
    }
    currency = CurrencyProposal(given: given, items: evidence, prices: prices, root: root)
    let hasCurrency = rules.isEmpty || currency.confidence >= Confidence.sure
    func withPrice(_ items: [StoreItem]) -> Int {
      items.count { $0.salePrice != nil || $0.normalPrice != nil }
    }
    var readPrices = withPrice(items)
    if readPrices * 10 < priced * 9 {
      let own = ListingDecoder(mapping: decoder.mapping, currency: currency.code)
      readPrices = withPrice(try own.listing(page.body).sections.flatMap(\.items))
    }
    let areUnread = readPrices * 10 < priced * 9
    // The reader of products in pages says that a price is the lowest of several offers.
    let ranges = elements.count { $0["highPrice"] != nil }
    let isRange = ranges * 2 > elements.count && decoder.mapping.notation.kind == .html
    var unsure = hasCurrency ? [] : ["currency"]
    var notes: [String] = []
    func doubt(_ key: String, _ comment: String) {
      unsure.append(key)
      notes.append(YAMLText.comment(comment))
    }
    if areUnread {
      let some = "\(priced - readPrices) of \(priced) prices"
      doubt("salePrice", "\(some) cannot be read; sync or check says why")
    }
    if areOdd {
      let one = PlainText.line(String(odd[0].prefix(80)))
      doubt("thumbnail", "most pictures have no address that can be fetched: \(one)")
    }
    if isRange {
      let some = "\(ranges) of \(elements.count) items"
      doubt(
        "salePrice",
        "salePrice is the lowest of several offers in \(some); is each one thing?"
      )
    }
    (self.unsure, self.notes) = (unsure.unique(by: \.self), notes)
  }

  /// Whether the format finds no price or no picture in any item, although the response has them at other paths.
  private func misses(_ body: [UInt8]) -> Bool {
    guard lacksPrices || lacksPictures || readsNoPrices, let look = try? ResponseLook(body),
      look.place.items.count >= count
    else { return false }
    // A table with prices and addresses is no list of pictures, even if it is unsure what the prices count.
    let price = look.fields.rankings[.salePrice]?.first
    if readsNoPrices { return price.map { $0.confidence >= Confidence.doubt } ?? false }
    guard look.confidence >= Confidence.sure else { return false }
    let hasPrices = price?.isSure == true
    let hasPictures = look.fields.thumbnail.first?.isSure == true
    return (hasPrices || lacksPrices) && (hasPictures || lacksPictures)
      && (hasPrices && lacksPrices || hasPictures && lacksPictures)
  }

  /// Refuses a page that has data for search engines but no products, and a feed without items.
  private static func refuse(_ body: [UInt8]) throws(CatalogError) {
    guard BodyFormat.isMarkup(body) else { return }
    if LinkedData.appears(in: body) { return try LinkedData.demandProducts(in: body) }
    let isEmptyFeed = Set(FormatSignature.all.map(\.notation)).contains { notation in
      guard notation.xml?.roots.isEmpty == false,
        let json = try? notation.json(of: body, "the response")
      else { return false }
      return (try? JSONDocument(parsing: json).root)?["items"]?.count == 0
    }
    let look = isEmptyFeed ? try? ResponseLook(body) : nil
    guard isEmptyFeed, look.map({ $0.confidence < Confidence.doubt && !$0.fields.mayShow }) ?? true
    else { return }
    let remedy = "give a URL that lists items"
    throw .shape("the response", "it is a feed without items", remedy: remedy)
  }

  /// The lines of `paging:` if the format's own paging does not fit.
  ///
  /// It does not fit if the response's `Link` header names a next page, or if the URL already sets the page size. In
  /// the second case, the format's paging is copied into the file, because a format's paging is not used for such a
  /// URL.
  private static func pagingLines(_ format: Format, _ page: ProposedPage) -> [String] {
    if page.hasNextLink { return ["paging: {link: true}"] }
    guard let rule = try? format.paging(), rule.hasParameter(in: page.source.url) else {
      return []
    }
    var unsized = rule
    unsized.size = nil
    guard !unsized.hasParameter(in: page.source.url) else { return [] }
    let lines = format.text.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = lines.drop { !$0.hasPrefix("paging:") }.map(String.init)
    return rest.prefix(1) + rest.dropFirst().prefix { $0.hasPrefix(" ") }
  }

  var preface: [String] {
    [
      "# Proposed by larder catalog init from \(count) \(count == 1 ? "item" : "items"): \(about).",
      "# The format's file, to copy and change: larder catalog show \(format)",
    ]
  }

  func readingLines(isLocal: Bool) -> [String] {
    ["format: \(format)"] + notes + pagingLines
  }
}

/// Recognizes the shop system that sent a response by the signatures of the built-in formats.
///
/// A signature is a list of alternatives, and an alternative is a list of paths such as `[$.products, $.skip]`. An
/// alternative fits if each of its paths leads to something in the response.
struct FormatSignature: Sendable {
  /// The name of the format.
  let format: String
  /// The notation of the format's responses.
  let notation: BodyFormat
  /// The alternatives; empty if the format's file has no signature.
  let alternatives: [[JSONPath]]

  /// The signatures of all built-in formats, which are parsed once: parsing them takes longer than a proposal.
  static let all = FormatFiles.names.compactMap { try? FormatSignature(of: Format(named: $0)) }

  private init(of format: Format) throws(CatalogError) {
    self.format = format.name
    notation = try format.notation()
    let alternatives = try format.root["signature"]?.list() ?? []
    self.alternatives = try alternatives.map { node throws(CatalogError) in try node.paths() }
  }

  /// The built-in formats whose signature fits a body.
  ///
  /// The format whose fitting alternative has the most paths is first.
  static func formats(fitting body: [UInt8]) -> [Format] {
    let look = look(of: body)
    var roots: [BodyFormat: JSONNode] = [:]
    var fitting: [(format: Format, evidence: Int)] = []
    for signature in all
    where !signature.alternatives.isEmpty && suits(signature.notation, look, body) {
      let notation = signature.notation
      if roots[notation] == nil {
        let json = try? notation.json(of: body, "the response")
        roots[notation] = json.flatMap { try? JSONDocument(parsing: $0, of: "the response").root }
      }
      guard let root = roots[notation], let evidence = try? signature.evidence(in: root),
        evidence > 0, let format = try? Format(named: signature.format)
      else { continue }
      fitting.append((format, evidence))
    }
    return fitting.ranked(by: \.evidence).map(\.format)
  }

  /// The number of paths in the longest alternative that fits, or 0 if none fits.
  private func evidence(in root: JSONNode) throws -> Int {
    try alternatives.filter { try Self.fits($0, root) }.map(\.count).max() ?? 0
  }

  /// Whether each of the paths leads to something in a response.
  static func fits(_ paths: [JSONPath], _ root: JSONNode) throws -> Bool {
    try paths.allSatisfy { path in try path.values(in: root).contains { $0.kind != .null } }
  }

  /// The notation that a body seems to have, in which JSON Lines are JSON.
  static func look(of body: [UInt8]) -> BodyFormat.Kind {
    if BodyFormat.isMarkup(body) { return isPage(body) ? .html : .xml }
    let first = JSONText(body).first
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .json }
    guard TableRecords.isTable(body) else { return .lines }
    return TableRecords.separator(of: body[...]) == UInt8(ascii: "\t") ? .tsv : .csv
  }

  /// Whether a body is an HTML page rather than XML.
  private static func isPage(_ body: [UInt8]) -> Bool {
    let beginning = String(decoding: JSONText(body).bytes.prefix(2000), as: UTF8.self).lowercased()
    let isFeed = ["<rss", "<feed", "<rdf:rdf", "<channel"].contains { beginning.contains($0) }
    return beginning.contains("<html") || beginning.contains("<!doctype html")
      || !isFeed && !beginning.trimmed.hasPrefix("<?xml")
        && (beginning.contains(/<(?:head|body|script)[\s>\/]/)
          || BodyFormat.isPartOfPage(beginning))
  }

  /// Whether a format with the given notation can be the format of a body.
  private static func suits(
    _ notation: BodyFormat,
    _ look: BodyFormat.Kind,
    _ body: [UInt8]
  ) -> Bool {
    switch look {
    case .json, .jsonl: notation.isJSON || notation.kind == .html && LinkedData.appears(in: body)
    case .html: notation.kind == .html
    case .xml: notation.kind == .xml || notation.kind == nil && notation.xml != nil
    case .csv, .tsv:
      notation.kind == .csv || notation.kind == .tsv
        || notation.kind == nil && notation.table != nil
    case .lines:
      notation.kind == nil && notation.table != nil && TextLines.haveURLs(body)
        && !TableRecords.lacksNames(body)
    }
  }
}

/// Finds the notation of a response that no built-in format fits.
enum ProposedNotation {
  /// Converts a response to JSON.
  ///
  /// - Returns: The lines that describe the response's notation in the catalog file, such as `read: csv`, and the JSON.
  /// - Throws: ``CatalogError`` when the response is a table or XML that cannot be read.
  static func lines(for body: [UInt8]) throws(CatalogError) -> ([String], [UInt8]) {
    let look = FormatSignature.look(of: body)
    switch look {
    case .json, .jsonl: return ([], try BodyFormat.json.json(of: body, "the response"))
    case .csv, .tsv:
      let json = try BodyFormat(kind: look).json(of: body, "the response")
      return (["read: \(look.rawValue)"], json)
    case .xml:
      let tree = try BodyFormat(kind: .xml).json(of: body, "the response")
      let root = try JSONDocument(parsing: tree, of: "the response").root
      guard let record = record(in: root, 0) else { return (["read: xml"], tree) }
      let notation = BodyFormat(kind: .xml, xml: XMLRecords.Rule(records: [record.name]))
      let lines = ["read: xml", "xml: {record: \(YAMLText.quoted(record.name))}"]
      return (lines, try notation.json(of: body, "the response"))
    case .html, .lines:
      if look == .html, LinkedData.appears(in: body) {
        return (["read: html"], try BodyFormat(kind: .html).json(of: body, "the response"))
      }
      try ForeignData.check(body, "the response")
      if look == .lines, let fault = TableRecords.fault(in: body) {
        throw .shape("the response", fault.reason, remedy: fault.remedy)
      }
      return ([], body)
    }
  }

  /// The name of the XML elements that are the items: the name with the most elements side by side.
  ///
  /// Each of these elements must have members of its own.
  private static func record(in node: JSONNode, _ depth: Int) -> (name: String, count: Int)? {
    guard depth < 8 else { return nil }
    let found = node.members.filter { !$0.name.hasPrefix("@") }.compactMap { name, value in
      let isList = value.kind == .array && value.elements.allSatisfy { $0.kind == .object }
      return isList ? (name, value.count) : record(in: value, depth + 1)
    }
    return found.filter { $0.count > 0 }.max { $0.count < $1.count }
  }
}
