/// A mapping for a response that nobody has described: where its items are, and which field is what.
///
/// Judged by names and values alone; every choice says how sure it is. (``ProposedFile`` writes it down.)
package struct MappingProposal {
  /// Where the items are.
  let place: ItemPlace
  /// How sure that is, 0 to 1.
  let confidence: Double
  /// What the response goes through first, because its items refer to other things by id.
  let program: JoiningProgram?
  /// The ranking for each field, the chosen place first.
  let fields: [FieldVocabulary.Field: [FieldScore]]
  /// The pictures of an item: the one that stands for it, and all.
  let thumbnail: PictureProposal?
  let gallery: PictureProposal?
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
  /// The pagings that the listing may have, the likeliest first; once one was tried, that one alone.
  var pagings: [PagingProposal]
  /// The paging of the listing.
  var paging: PagingProposal? { pagings.first }
  /// The built-in formats that read every item as well.
  let formats: [String]

  /// Whether a text is an ISO 4217 code.
  package static func isCurrency(_ text: String) -> Bool { Currency.codes.contains(text) }

  /// How many items the response has.
  var itemCount: Int { place.items.count }

  /// Makes a mapping for responses that have their items at the same place.
  ///
  /// - Parameters:
  ///   - looks: The responses, one at least.
  ///   - source: Where the first one came from.
  ///   - currency: The ISO 4217 code that the user gave; nil to judge.
  ///   - hasNextLink: Whether the first one's `Link` header names a next page.
  init(
    of looks: [ResponseLook],
    source: ProposedSource,
    currency: String?,
    hasNextLink: Bool
  ) {
    let first = looks[0]
    let root = first.root
    let best = ItemPlace.joined(looks.map(\.place)) ?? first.place
    let chosen = looks.count == 1 ? first.fields : ItemFields(EvidenceCollection(best.items).all)
    place = best
    program = first.program
    confidence = looks.map { min(1, $0.confidence) }.min() ?? 0
    fields = chosen.rankings
    let all = chosen.evidence
    let prices = [FieldVocabulary.Field.salePrice, .normalPrice].compactMap { [fields] in
      fields[$0]
    }
    let currency = CurrencyProposal(
      given: currency,
      items: all,
      prices: prices.compactMap(\.first?.evidence),
      root: first.response
    )
    self.currency = currency
    salePrice = chosen.salePrice.map { PriceProposal($0, among: all, currency: currency) }
    normalPrice = chosen.normalPrice.map { PriceProposal($0, among: all, currency: currency) }
    // A text with several addresses is no thumbnail.
    let single = (fields[.thumbnail] ?? []).filter {
      PictureText.separator(of: $0.evidence) == nil
    }
    thumbnail = PictureProposal(single, isMany: false, among: all, root: first.response)
    let others = [chosen.largest, chosen.numbered].map { $0(single.first) }
    gallery = PictureProposal(
      fields[.gallery] ?? others.first { !$0.isEmpty } ?? [],
      isMany: true,
      among: all,
      root: first.response
    )
    envelopeTitle = first.program == nil ? Self.envelopeTitle(of: root, best) : nil
    let sections = EvidenceCollection(best.sections).all.filter {
      $0.place.steps.count == 1 && !$0.place.isMany
    }
    sectionTitle = FieldScore.ranking(.title, sections).first ?? Self.header(of: sections)
    sectionKey = Self.key(of: sections) ?? sectionTitle
    formats =
      first.program == nil
      ? Self.formats(reading: first.body, items: first.place, currency: currency.code) : []
    pagings = PagingProposal.ranking(
      root: first.response,
      place: first.program == nil
        ? first.place : ItemPlace(shape: .list(path: []), items: first.place.items, sections: []),
      formats: formats,
      query: source.query,
      hasNextLink: hasNextLink,
      url: source.url,
      id: fields[.id]?.first?.evidence.place.first,
      request: source.body
    )
  }

  /// How much a place counts: what is inside an item is seldom a list of items.
  static func weight(of place: ItemPlace) -> Double {
    let names =
      switch place.shape {
      case .sections(_, let member): member.steps.map(\.name)
      case .sectionsByName(_, let member?): [member]
      case .list(let path), .sectionsByName(let path, nil), .itemsByID(let path):
        Array(path.suffix(1))
      }
    let size = place.items.count == 1 ? 0.95 : place.sections.isEmpty ? 1 : 1.02
    let isInside = names.contains { insideNames.contains(NameWords.plain($0)) }
    return isInside ? 0.6 * size : size
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

  static func nothingFound(in root: JSONNode) -> CatalogError {
    let isEmpty =
      root.kind == .array && root.count == 0
      || root.members.contains { $0.value.kind == .array }
        && root.members.allSatisfy { $0.value.kind != .array || $0.value.count == 0 }
    if isEmpty {
      return CatalogError(
        .unexpectedShape,
        subject: "the response",
        expected: "an array of items",
        reason: "the list in it is empty",
        remedy: "name a URL that lists some items"
      )
    }
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
