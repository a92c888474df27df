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
  /// The lines that say what the response is written in; none for JSON.
  let notation: [String]

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
    notation = first.notation
    pagings = PagingProposal.ranking(
      root: first.response,
      place: first.program == nil
        ? first.place : ItemPlace(shape: .list(path: []), items: first.place.items, sections: []),
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

extension MappingProposal {
  /// The fields of items at one place.
  struct ItemFields {
    let evidence: [FieldEvidence]
    var rankings: [FieldVocabulary.Field: [FieldScore]] = [:]
    var salePrice: [FieldScore]?
    var normalPrice: [FieldScore]?

    init(_ evidence: [FieldEvidence]) {
      self.evidence = evidence
      var taken: Set<FieldPlace> = []
      for field in [
        FieldVocabulary.Field.title, .id, .salePrice, .normalPrice, .description, .badges,
        .deliveryTypes, .latitude, .longitude, .address,
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
      rankings[.gallery] = rankings[.gallery].map(Self.largestFirst)
      if rankings[.latitude] == nil || rankings[.longitude] == nil {
        rankings[.latitude] = nil
        rankings[.longitude] = nil
      }
      choosePrices()
    }

    /// What a shop asks where it names one price alone is the price to pay; one that some items lack has another
    /// behind it.
    private mutating func choosePrices() {
      let ranking = rankings[.salePrice] ?? []
      let normal = rankings[.normalPrice]?.first
      guard let sale = ranking.first else {
        salePrice = normal.map { [$0] }
        return
      }
      normalPrice = normal.map { [$0] }
      // Where some items have a reduced price beside the usual one, that comes first.
      let usual = ranking.first { !Self.isReduced($0) && $0.confidence >= 0.5 }
      let reduced = ranking.first { score in
        Self.isReduced(score) && score.evidence.place.isMany == usual?.evidence.place.isMany
          // Zero says that there is none, which a list of alternatives cannot tell from a price.
          && score.evidence.share { Double($0) == 0 } == 0
      }
      if let usual, let reduced {
        salePrice = [reduced, usual]
        if normal == nil { normalPrice = [usual] }
        return
      }
      let first = reduced == nil ? usual ?? sale : sale
      let other = normal.flatMap { $0.evidence.share > first.evidence.share ? $0 : nil }
      salePrice = [first] + (first.evidence.share < 1 ? [other].compactMap(\.self) : [])
    }

    /// Whether a price is called as one that only reduced items have.
    private static func isReduced(_ score: FieldScore) -> Bool {
      FieldVocabulary.reducedNames.contains(NameWords.plain(score.evidence.place.name))
    }

    /// The same picture as one, in its largest size; none where there is but one size.
    func largest(beside thumbnail: FieldScore?) -> [FieldScore] {
      guard let place = thumbnail?.evidence.place else { return [] }
      return (rankings[.thumbnail] ?? []).filter { other in
        if let step = Self.difference(place, other.evidence.place) {
          return FieldVocabulary.largestNames.contains(
            NameWords.plain(other.evidence.place.steps[step].name)
          )
        }
        // {"thumbnailImage": …, "largeImage": …}
        return place.steps.count == 1 && other.evidence.place.steps.count == 1
          && other.evidence.place != place
          && !FieldVocabulary.largestNames.isDisjoint(
            with: NameWords.words(of: other.evidence.place.name)
          )
      }
    }

    /// The pictures of an object that numbers them, `{"1": …, "2": …}`, of which one is the thumbnail.
    func numbered(beside thumbnail: FieldScore?) -> [FieldScore] {
      guard let thumbnail else { return [] }
      let place = thumbnail.evidence.place
      for other in rankings[.thumbnail] ?? [] {
        guard let step = Self.difference(place, other.evidence.place),
          [place, other.evidence.place].allSatisfy({ Int($0.steps[step].name) != nil })
        else { continue }
        var every = place
        every.steps[step] = FieldPlace.Step(name: FieldPlace.everyElement)
        return [
          FieldScore(
            evidence: thumbnail.evidence.at(every),
            confidence: thumbnail.confidence
          )
        ]
      }
      return []
    }

    /// The one name in which two places differ, by its position below the item; nil when they are farther apart.
    private static func difference(_ one: FieldPlace, _ other: FieldPlace) -> Int? {
      guard one.steps.count == other.steps.count, one.steps.count > 1 else { return nil }
      let apart = one.steps.indices.filter { one.steps[$0] != other.steps[$0] }
      guard apart.count == 1, apart[0] > 0, !one.steps[apart[0]].isList else { return nil }
      return apart[0]
    }

    /// A ranking in which the largest of the sizes of one picture comes before the others.
    private static func largestFirst(_ ranking: [FieldScore]) -> [FieldScore] {
      guard let first = ranking.first else { return ranking }
      let place = first.evidence.place
      let sizes = ranking.filter { other in
        other.confidence == first.confidence
          && other.evidence.place.steps.count == place.steps.count
          && other.evidence.place.steps.dropLast() == place.steps.dropLast()
      }
      let largest = sizes.max {
        FieldVocabulary.pictureSize($0.evidence.place.name)
          < FieldVocabulary.pictureSize($1.evidence.place.name)
      }
      guard let largest, largest.evidence.place != place else { return ranking }
      return [largest] + ranking.filter { $0.evidence.place != largest.evidence.place }
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

extension MappingProposal {
  /// The first lines of a catalog file.
  var preface: [String] {
    [
      "# Proposed by larder catalog init from \(count(itemCount, "item")); "
        + "each choice says how sure it is, from 0 to 1.",
      "# Editors complete and check it once this is run: "
        + "larder catalog schema > larder.schema.json",
    ]
  }

  /// The line with the currency.
  var currencyLine: String {
    noted("currency: \(currency.code)", currency.confidence, currency.reason)
  }

  /// The members of a source beside its URL when it holds many sections; none when it is one section.
  var partLines: [String] {
    guard case .sections(let path, _) = place.shape, let key = sectionKey else { return [] }
    let each = YAMLText.scalar("$" + path.map(FieldPlace.segment).joined() + "[*]")
    var lines = ["each: \(each)"]
    lines.append(noted("key: \(YAMLText.scalar(key.evidence.place.first))", key, "section"))
    if let title = sectionTitle {
      lines.append(
        noted("title: \(YAMLText.scalar(title.evidence.place.first))", title, "section")
      )
    }
    return lines
  }

  /// Whether a transform makes the sections, which can be the catalog's only ones.
  var makesSections: Bool { if case .sectionsByName = place.shape { true } else { false } }

  /// How the response is read: where items are, how it goes on, and the fields of items.
  func readingLines(isLocal: Bool) -> [String] {
    var lines = notation + items
    if let envelopeTitle { lines.append("envelope: {title: \(YAMLText.scalar(envelopeTitle))}") }
    lines += pagingLines(isLocal: isLocal)
    lines.append("item:")
    lines += fieldLines
    return lines
  }

  private var items: [String] {
    let path = place.path.map(FieldPlace.segment).joined()
    let reason = "an array of \(count(itemCount, "object"))"
    if let program { return [program.comment] + made(noted("items: $.items", confidence, reason)) }
    switch place.shape {
    case .list: return [noted("items: \(YAMLText.scalar("$" + path))", confidence, reason)]
    case .sections(_, let member):
      let own = String(member.all.dropFirst())
      let from = sectionKey == nil ? "$\(path)[*]\(own)" : "$\(own)"
      let words = "\(reason) in \(count(place.sections.count, "section"))"
      return [noted("items: \(YAMLText.scalar(from))", confidence, words)]
    case .sectionsByName(_, let member):
      return [
        noted(
          "# Sections by name",
          confidence,
          "\(count(place.sections.count, member == nil ? "array" : "section")) in an object"
        )
      ] + made("items: $.items")
    case .itemsByID:
      return [
        noted("# Items by id", confidence, "\(count(itemCount, "object")) in an object")
      ] + made("items: $.items")
    }
  }

  /// The lines of the transform, and the one that reads its output.
  private func made(_ items: String) -> [String] {
    ["transform: |"] + YAMLText.block(transform ?? "", indent: "  ") + [items]
  }

  /// The program of `transform:`; nil when the response is read as it comes.
  var transform: String? {
    if let program { return program.program }
    switch place.shape {
    case .list, .sections: return nil
    case .sectionsByName(_, let member):
      let items = member.map { ".value[\(JQText.string($0))]" } ?? ".value"
      let title =
        member == nil
        ? ".key"
        : sectionTitle.map { "(.value[\(JQText.string($0.evidence.place.name))] // .key)" }
          ?? ".key"
      return "{sections: [\(jqEntries) | {key, title: \(title), items: \(items)}]}"
    case .itemsByID:
      let ownID = fields[.id]?.first.map { $0.confidence >= 0.6 } ?? false
      return "{items: [\(jqEntries) | .value\(ownID ? "" : " + {id: .key}")]}"
    }
  }

  /// The path to an item's id.
  var idPath: String? {
    guard let best = fields[.id]?.first else { return hasNames ? "$.id" : nil }
    return hasNames && best.confidence < 0.6 ? "$.id" : best.evidence.place.first
  }

  /// Whether items are called by their ids in the response.
  private var hasNames: Bool { if case .itemsByID = place.shape { true } else { false } }

  /// The members of the object, in jq's words.
  private var jqEntries: String {
    let path = place.path.map { "[\(JQText.string($0))]" }.joined()
    return path.isEmpty ? "to_entries[]" : ".\(path) | to_entries[]"
  }

  /// The paging of the listing; a file has one page.
  private func pagingLines(isLocal: Bool) -> [String] {
    guard let paging else { return [] }
    if isLocal {
      return paging.confidence < 0.5
        ? [] : [noted("# With a URL: paging: \(paging.yaml)", paging.confidence, paging.reason)]
    }
    let line = noted("paging: \(paging.yaml)", paging.confidence, paging.reason)
    return [paging.confidence < 0.5 ? "# \(line)" : line]
  }

  private var fieldLines: [String] {
    var lines: [String] = []
    if hasNames, fields[.id]?.first.map({ $0.confidence < 0.6 }) ?? true {
      lines.append(noted("  id: $.id", 0.8, "the name that each has in the response"))
    } else {
      lines += line(.id)
    }
    for field in [FieldVocabulary.Field.title, .description, .badges, .deliveryTypes] {
      lines += line(field)
    }
    lines += priceLines("normalPrice", normalPrice, .normalPrice)
    lines += priceLines("salePrice", salePrice, .salePrice)
    if salePrice == nil {
      lines.append("  # salePrice: nothing looks like a price; write its path here")
    }
    lines += line(.latitude) + line(.longitude) + line(.address)
    let pictures = pictureLines(.thumbnail, thumbnail) + pictureLines(.gallery, gallery)
    return pictures.isEmpty
      ? lines + ["  # images: {thumbnail: nothing looks like a picture; write its path here}"]
      : lines + ["  images:"] + pictures
  }

  /// A field with its grounds, and on the next line what else it may be.
  private func line(_ field: FieldVocabulary.Field) -> [String] {
    guard let ranking = fields[field], let best = ranking.first else { return [] }
    let takesAll = field == .badges || field == .deliveryTypes
    func text(_ score: FieldScore) -> String {
      let place = score.evidence.place
      return "\(field.rawValue): \(YAMLText.scalar(takesAll ? place.all : place.first))"
    }
    var lines = [noted("  " + text(best), best)]
    if let other = other(ranking, than: [best]) {
      lines.append(noted("  # " + text(other), other))
    }
    return lines
  }

  private func pictureLines(
    _ field: FieldVocabulary.Field,
    _ pictures: PictureProposal?
  ) -> [String] {
    guard let pictures, let best = pictures.scores.first else { return [] }
    var value = pictures.yaml
    // What some lack may stand at the head of the gallery.
    if field == .thumbnail, let first = headOfGallery(behind: best) {
      value = "[\(value), \(first)]"
    }
    var lines = [noted("    \(field.rawValue): \(value)", best)]
    if let other = other(fields[field] ?? [], than: pictures.scores) {
      let path = field == .gallery ? other.evidence.place.all : other.evidence.place.first
      lines.append(noted("    # \(field.rawValue): \(YAMLText.scalar(path))", other))
    }
    return lines
  }

  /// The first picture of the gallery, for items that have no address elsewhere.
  private func headOfGallery(behind best: FieldScore) -> String? {
    guard let head = gallery?.first, head != thumbnail?.yaml,
      best.evidence.share < 1 || best.evidence.samples.contains(where: PictureText.isData)
    else { return nil }
    return head
  }

  private func other(_ ranking: [FieldScore], than taken: [FieldScore]) -> FieldScore? {
    guard let best = ranking.first else { return nil }
    return ranking.first { score in
      score.confidence > max(FieldScore.floor, best.confidence - 0.3)
        && !taken.contains { $0.evidence.place == score.evidence.place }
    }
  }

  private func priceLines(
    _ name: String,
    _ price: PriceProposal?,
    _ field: FieldVocabulary.Field
  ) -> [String] {
    guard let price, let best = price.scores.first else { return [] }
    func rule(_ score: FieldScore, _ unit: PriceProposal.Unit) -> String {
      var members = ["path: \(YAMLText.scalar(score.evidence.place.first))"]
      switch unit {
      case .major, .doubtful: break
      case .minor: members.append("minorUnits: true")
      case .scaled(let path): members.append("scale: \(YAMLText.scalar(path))")
      case .divided(let divisor): members.append("divisor: \(divisor)")
      }
      if let currency = price.currency { members.append("currency: \(YAMLText.scalar(currency))") }
      return members.count == 1
        ? YAMLText.scalar(score.evidence.place.first) : "{\(members.joined(separator: ", "))}"
    }
    let rules = price.scores.map { rule($0, price.unit) }
    let value = rules.count == 1 ? rules[0] : "[\(rules.joined(separator: ", "))]"
    var lines = [noted("  \(name): \(value)", best)]
    if price.unit == .doubtful {
      let example = best.evidence.samples.first ?? "1999"
      lines.append(
        "  # \(name): \(rule(best, .minor))   "
          + YAMLText.comment("if \(example.prefix(15)) counts cents")
      )
    }
    let other = fields[field]?.dropFirst().first { score in
      score.confidence > max(FieldScore.floor, best.confidence - 0.3)
        && !price.scores.contains { $0.evidence.place == score.evidence.place }
    }
    if let other { lines.append(noted("  # \(name): \(rule(other, price.unit))", other)) }
    return lines
  }

  private func noted(_ line: String, _ score: FieldScore, _ noun: String = "item") -> String {
    let evidence = score.evidence
    return noted(
      line,
      score.confidence,
      "\(evidence.phrase) in \(evidence.held) of \(count(evidence.total, noun))"
    )
  }

  private func noted(_ line: String, _ confidence: Double, _ reason: String) -> String {
    let tenths = Int((confidence * 10).rounded())
    let number = tenths >= 10 ? "1.0" : "0.\(max(0, tenths))"
    return "\(line)   \(YAMLText.comment("\(number): \(reason)"))"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
