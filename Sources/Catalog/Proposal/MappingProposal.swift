/// A mapping for a response that nobody has described: where its items are, and which field is what.
///
/// Judged by names and values alone; every choice says how sure it is. (``catalogFile(for:)`` writes it down.)
package struct MappingProposal {
  /// Where the items are.
  let place: ItemPlace
  /// How sure that is, 0 to 1.
  let confidence: Double
  /// The ranking for each field, the chosen place first.
  let fields: [FieldVocabulary.Field: [FieldScore]]
  /// What prices are in.
  let currency: CurrencyProposal
  /// The price to pay.
  let salePrice: PriceProposal?
  /// The price before a reduction.
  let normalPrice: PriceProposal?
  /// Where the name of the section stands beside the items.
  let envelopeTitle: String?
  /// Where sections of one response have their key and title.
  let sectionKey: FieldScore?
  let sectionTitle: FieldScore?
  /// The paging of the listing.
  let paging: PagingProposal?
  /// The built-in formats that read every item as well.
  let formats: [String]

  /// Whether a text is an ISO 4217 code.
  package static func isCurrency(_ text: String) -> Bool { Currency.codes.contains(text) }

  /// How many items the response has.
  package var itemCount: Int { place.items.count }

  /// Looks at a response.
  ///
  /// - Parameters:
  ///   - body: JSON in UTF-8.
  ///   - source: Where it came from.
  ///   - currency: The ISO 4217 code that the user gave; nil to judge.
  ///   - hasNextLink: Whether its `Link` header names a next page.
  /// - Throws: ``CatalogError`` when it is no JSON, or nothing in it looks like items.
  package init(
    of body: [UInt8],
    from source: ProposedSource,
    currency: String? = nil,
    hasNextLink: Bool = false
  ) throws(CatalogError) {
    let root = try JSONDocument(parsing: body, of: "the response").root
    var best: (place: ItemPlace, confidence: Double, fields: Fields)?
    for place in ItemPlace.all(in: root) {
      let fields = Fields(EvidenceCollection(place.items).all)
      let confidence = fields.confidence * Self.weight(of: place)
      if fields.isUsable(in: place), confidence > (best?.confidence ?? 0) {
        best = (place, confidence, fields)
      }
    }
    guard let best else { throw Self.nothingFound(in: root) }
    place = best.place
    confidence = min(1, best.confidence)
    fields = best.fields.rankings
    let all = best.fields.evidence
    let prices = [FieldVocabulary.Field.salePrice, .normalPrice].compactMap { [fields] in
      fields[$0]
    }
    let currency = CurrencyProposal(
      given: currency,
      items: all,
      prices: prices.compactMap(\.first?.evidence),
      root: root
    )
    self.currency = currency
    salePrice = best.fields.salePrice.map { PriceProposal($0, among: all, currency: currency) }
    normalPrice = best.fields.normalPrice.map { PriceProposal($0, among: all, currency: currency) }
    envelopeTitle = Self.envelopeTitle(of: root, place)
    let sections = EvidenceCollection(place.sections).all.filter {
      $0.place.steps.count == 1 && !$0.place.isMany
    }
    sectionTitle = FieldScore.ranking(.title, sections).first ?? Self.header(of: sections)
    sectionKey = Self.key(of: sections) ?? sectionTitle
    let known = Self.formats(reading: body, items: place, currency: currency.code)
    paging = PagingProposal(
      root: root,
      place: place,
      formats: known,
      query: source.query,
      hasNextLink: hasNextLink
    )
    formats = known
  }

  /// How much a place counts: what is inside an item is seldom a list of items.
  private static func weight(of place: ItemPlace) -> Double {
    let name =
      switch place.shape {
      case .sections(_, let member): member
      case .list(let path), .sectionsByName(let path), .itemsByID(let path): path.last ?? ""
      }
    let size = place.items.count == 1 ? 0.95 : place.sections.isEmpty ? 1 : 1.02
    return insideNames.contains(NameWords.plain(name)) ? 0.6 * size : size
  }

  private static let insideNames: Set<String> = [
    "variants", "variations", "options", "skus", "reviews", "images", "media", "categories",
    "tags",
    "attributes", "facets", "filters", "related", "recommendations", "banners", "links", "brands",
  ]

  private static func envelopeTitle(of root: JSONNode, _ place: ItemPlace) -> String? {
    guard case .list(let path) = place.shape, path.count == 1 else { return nil }
    return ["title", "name"].first { root[$0]?.text?.isEmpty == false }.map {
      "$" + FieldPlace.segment($0)
    }
  }

  private static func header(of sections: [FieldEvidence]) -> FieldScore? {
    sections.first { evidence in
      let words = NameWords.words(of: evidence.place.name)
      return evidence.isText && evidence.share == 1
        && words.contains { ["header", "title", "name", "heading"].contains($0) }
    }.map { FieldScore(evidence: $0, confidence: 0.7) }
  }

  /// What tells sections apart: each has one of its own, and it could be a file name.
  private static func key(of sections: [FieldEvidence]) -> FieldScore? {
    let fit = sections.filter { $0.share == 1 && $0.variety == 1 && $0.share(isFileName) == 1 }
    let named = fit.map { evidence in
      let words = NameWords.words(of: evidence.place.name)
      let score =
        words.contains("key") || words.contains("slug")
        ? 0.95
        : words.contains("id") || words.contains("code") ? 0.9 : words == ["section"] ? 0.9 : 0.3
      return FieldScore(evidence: evidence, confidence: score)
    }
    return named.max { $0.confidence < $1.confidence }
  }

  /// The formats with which every item has what the proposal finds too.
  private static func formats(
    reading body: [UInt8],
    items: ItemPlace,
    currency: String
  ) -> [String] {
    guard case .list = items.shape else { return [] }
    return BuiltInFormat.allCases.filter { format in
      guard let mapping = try? format.mapping(),
        let listing = try? ListingDecoder(mapping: mapping, currency: currency)
          .section(body, source: SectionSource(key: "main", url: "main")),
        let read = listing.sections.first?.items
      else { return false }
      return read.count == items.items.count && !listing.skipped.contains { $0.lost == .item }
        && read.allSatisfy { $0.salePrice != nil && !$0.images.isEmpty }
    }.map(\.rawValue)
  }

  private static func nothingFound(in root: JSONNode) -> CatalogError {
    let names = root.members.prefix(8).map { PlainText.line(String($0.name.prefix(40))) }
    let found =
      names.isEmpty
      ? "\(root.kind.phrase) of \(root.count) values"
      : "an object with \(names.joined(separator: ", "))"
    return CatalogError(
      .unexpectedShape,
      subject: "the response",
      expected: "an array of items",
      reason: "nothing in it looks like items: looked for an array of objects with an id and a "
        + "title, best with a price and a picture, at any depth, in sections and by name; "
        + "found \(found)",
      remedy: "name a URL that lists items, or write items and item by hand"
    )
  }
}

extension MappingProposal {
  /// The fields of items at one place.
  fileprivate struct Fields {
    let evidence: [FieldEvidence]
    var rankings: [FieldVocabulary.Field: [FieldScore]] = [:]
    var salePrice: [FieldScore]?
    var normalPrice: [FieldScore]?

    init(_ evidence: [FieldEvidence]) {
      self.evidence = evidence
      var taken: Set<FieldPlace> = []
      for field in [
        FieldVocabulary.Field.title, .id, .salePrice, .normalPrice, .description, .badges,
        .deliveryTypes, .latitude, .longitude,
      ] {
        let ranking = FieldScore.ranking(field, evidence).filter {
          !taken.contains($0.evidence.place)
        }
        guard let first = ranking.first else { continue }
        taken.insert(first.evidence.place)
        rankings[field] = ranking
      }
      for field in [FieldVocabulary.Field.thumbnail, .gallery] {
        let ranking = FieldScore.ranking(field, evidence)
        if !ranking.isEmpty { rankings[field] = ranking }
      }
      if rankings[.latitude] == nil || rankings[.longitude] == nil {
        rankings[.latitude] = nil
        rankings[.longitude] = nil
      }
      choosePrices()
    }

    /// What a shop asks where it names one price alone is the price to pay; one that some items lack has another
    /// behind it.
    private mutating func choosePrices() {
      let sale = rankings[.salePrice]?.first
      let normal = rankings[.normalPrice]?.first
      guard let sale else {
        salePrice = normal.map { [$0] }
        return
      }
      normalPrice = normal.map { [$0] }
      let other = normal.flatMap { $0.evidence.share > sale.evidence.share ? $0 : nil }
      salePrice = [sale] + (sale.evidence.share < 1 ? [other].compactMap(\.self) : [])
    }

    /// Whether items could be read at all.
    func isUsable(in place: ItemPlace) -> Bool {
      guard rankings[.title] != nil else { return false }
      if case .itemsByID = place.shape { return true }
      return rankings[.id] != nil
    }

    /// How much like items it all looks.
    var confidence: Double {
      func part(_ field: FieldVocabulary.Field) -> Double {
        guard let score = rankings[field]?.first else { return 0 }
        return score.confidence * (score.evidence.place.isBorrowed ? 0.5 : 1)
      }
      return 0.25 * part(.id) + 0.3 * part(.title)
        + 0.25 * max(part(.salePrice), part(.normalPrice))
        + 0.2 * max(part(.thumbnail), part(.gallery))
    }
  }
}
