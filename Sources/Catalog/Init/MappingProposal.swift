/// A mapping for an unknown response: where its items are, and which fields they have.
///
/// The mapping is deduced from names and values alone, and every choice has a confidence. ``ProposedFile`` writes it as
/// YAML.
package struct MappingProposal {
  /// The place of the items in the response.
  let place: ItemPlace
  /// The confidence in ``place``, 0 to 1.
  let confidence: Double
  /// The program that rewrites the response first, because its items refer to other parts by id; nil for none.
  let program: JoiningProgram?
  /// The fields, each with its candidates.
  let fields: ItemFields
  /// The thumbnail and the gallery of an item.
  let thumbnail: PictureProposal?
  let gallery: PictureProposal?
  /// The currency of prices.
  let currency: CurrencyProposal
  /// The price to pay.
  let salePrice: PriceProposal?
  /// The price before a reduction.
  let normalPrice: PriceProposal?
  /// The path to the section's title outside the items; nil for none.
  let envelopeTitle: String?
  /// The fields of a section that are its key and its title, if one response has many sections.
  let sectionKey: FieldScore?
  let sectionTitle: FieldScore?
  /// The pagings that the listing may have, the likeliest first.
  ///
  /// After a successful trial, only the paging that works is left.
  var pagings: [PagingProposal]
  /// The paging of the listing.
  var paging: PagingProposal? { pagings.first }
  /// The lines for the response's notation in the catalog file; none for JSON.
  let notation: [String]

  /// Whether a text is an ISO 4217 code.
  package static func isCurrency(_ text: String) -> Bool { Currency.codes.contains(text) }

  /// How many items the response has.
  var itemCount: Int { place.items.count }

  /// Makes a mapping for responses that have their items at the same place.
  ///
  /// - Parameters:
  ///   - looks: The responses; at least one.
  ///   - source: Where the first response came from.
  ///   - currency: The ISO 4217 code that the user gave; nil to deduce it.
  ///   - hasNextLink: Whether the first response's `Link` header names a next page.
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
    fields = chosen
    let all = chosen.evidence
    let prices = [chosen.salePrice, chosen.normalPrice].compactMap(\.first?.evidence)
    let currency = CurrencyProposal(
      given: currency,
      items: all,
      prices: prices,
      root: first.response
    )
    self.currency = currency
    salePrice = PriceProposal(chosen.salePrice, among: all, currency: currency)
    normalPrice = PriceProposal(
      chosen.normalPrice,
      among: all,
      currency: currency,
      like: salePrice?.unit
    )
    thumbnail = PictureProposal(chosen.thumbnail, isMany: false, among: all, root: first.response)
    gallery = PictureProposal(chosen.gallery, isMany: true, among: all, root: first.response)
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
      id: chosen.rankings[.id]?.first?.evidence.place.first,
      request: source.body
    )
  }

  /// How likely it is that a place has the items.
  ///
  /// An array inside an item is seldom a list of items.
  static func weight(of place: ItemPlace) -> Double {
    let names =
      switch place.shape {
      case .sections(_, let member): member.steps.map(\.name)
      case .sectionsByName(_, let member?): [member]
      case .list(let path), .sectionsByName(let path, nil), .itemsByID(let path):
        Array(path.suffix(1))
      }
    let size = place.items.count == 1 ? 0.95 : place.sections.isEmpty ? 1 : 1.02
    let isInside = names.contains { name in
      let plain = NameWords.plain(name)
      // Artists and brands are parts of items, unless the response lists nothing else.
      let isOfOthers = ["person", "other"].contains {
        FieldRules.has($0, in: plain.hasSuffix("s") ? String(plain.dropLast()) : plain)
      }
      return insideNames.contains(plain) || !place.sections.isEmpty && isOfOthers
    }
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

  /// A field that can be the key of a section: its values differ in all sections and are valid file names.
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
        remedy: "give a URL whose list is not empty"
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
      remedy: "give a URL that lists items, or write items and item by hand"
    )
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

  /// The line with the currency, in the catalog file.
  var currencyLine: String {
    noted("currency: \(currency.code)", currency.confidence, currency.reason)
  }

  /// The lines of a source beside its URL when it holds many sections; none when it is one section.
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

  /// Whether a transform makes the sections; if so, the catalog can have no other sections.
  var makesSections: Bool { if case .sectionsByName = place.shape { true } else { false } }

  /// The lines for reading the response: the place of items, the paging, and the fields of items.
  func readingLines(isLocal: Bool) -> [String] {
    var lines = notation + valueLines + items
    if let envelopeTitle { lines.append("envelope: {title: \(YAMLText.scalar(envelopeTitle))}") }
    lines += pagingLines(isLocal: isLocal)
    lines.append("item:")
    lines += fieldLines
    return lines
  }

  /// The lines `text:` and `none:`, if values are HTML or some of them mean "none".
  private var valueLines: [String] {
    let pictures = [thumbnail, gallery].compactMap(\.self).flatMap(\.scores).map(\.evidence)
    let titles = fields.alternatives(.title).map(\.evidence)
    let isHTML = (titles + pictures).contains { $0.samples.contains(where: Self.hasEntity) }
    let none = Set(pictures.flatMap(\.placeholders)).sorted()
    return (isHTML ? [noted("text: html", 0.9, "titles or addresses have entities")] : [])
      + (none.isEmpty ? [] : ["none: [\(none.map(YAMLText.quoted).joined(separator: ", "))]"])
  }

  /// Whether a text has a character reference, such as `&amp;`. (HTML, section 13.5)
  private static func hasEntity(_ text: String) -> Bool {
    text.contains("&amp;")
      || text.split(separator: "&", omittingEmptySubsequences: false).dropFirst().contains {
        rest in
        let name = rest.prefix { $0 != ";" }
        return name.count < rest.count && (2...8).contains(name.count) && !name.contains(" ")
          && (name.first == "#" || name.allSatisfy { $0.isASCII && $0.isLetter })
      }
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

  /// The lines of the transform, and the line with the path to the items in its output.
  private func made(_ items: String) -> [String] {
    ["transform: |"] + YAMLText.block(transform ?? "", indent: "  ") + [items]
  }

  /// The program of `transform:`; nil when the response is read as it is.
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
      let ownID = fields.rankings[.id]?.first.map(\.isSure) ?? false
      return "{items: [\(jqEntries) | .value\(ownID ? "" : " + {id: .key}")]}"
    }
  }

  /// The path to an item's id.
  var idPath: String? {
    guard let best = fields.rankings[.id]?.first else { return hasNames ? "$.id" : nil }
    return hasNames && !best.isSure ? "$.id" : best.evidence.place.first
  }

  /// The paths of a field; none if the field is commented out.
  func paths(_ field: FieldRules.Field) -> [String] {
    let scores = fields.alternatives(field)
    guard let best = scores.first, best.isSure || field == .title else { return [] }
    let takesAll = field == .badges || field == .deliveryTypes
    return scores.map { takesAll ? $0.evidence.place.all : $0.evidence.place.first }
  }

  /// The names of the keys that are in doubt.
  var unsure: [String] {
    let texts = [FieldRules.Field.id, .title].filter { field in
      !(field == .id && hasNames) && fields.rankings[field]?.first.map { !$0.isSure } ?? true
    }
    let prices = [("normalPrice", normalPrice), ("salePrice", salePrice)].filter {
      $1.map { !$0.isSure } ?? false
    }
    let pictures = [("thumbnail", thumbnail), ("gallery", gallery)].filter {
      $1.map { !$0.isSure } ?? false
    }
    let money = salePrice != nil && currency.confidence < FieldScore.sure ? ["currency"] : []
    return texts.map(\.rawValue) + money + (prices.map(\.0) + pictures.map(\.0))
  }

  /// Whether the items are members of an object, by id.
  private var hasNames: Bool { if case .itemsByID = place.shape { true } else { false } }

  /// The jq expression for the members of the object that holds the items or sections.
  private var jqEntries: String {
    let path = place.path.map { name in
      name == FieldPlace.everyElement ? "[]" : "[\(JQText.string(name))]"
    }.joined()
    return path.isEmpty ? "to_entries[]" : ".\(path) | to_entries[]"
  }

  /// The lines for the paging; for a local file, which has one page, they are a comment.
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
    if hasNames, fields.rankings[.id]?.first.map({ !$0.isSure }) ?? true {
      lines.append(noted("  id: $.id", 0.8, "the name that each has in the response"))
    } else {
      lines += line(.id)
    }
    for field in [FieldRules.Field.title, .description, .badges, .deliveryTypes] {
      lines += line(field)
    }
    lines += priceLines(.normalPrice, normalPrice) + priceLines(.salePrice, salePrice)
    if salePrice == nil {
      lines.append("  # salePrice: nothing looks like a price; write its path here")
    }
    lines += line(.latitude) + line(.longitude) + line(.address)
    let pictures = pictureLines(.thumbnail, thumbnail) + pictureLines(.gallery, gallery)
    if pictures.isEmpty {
      return lines + ["  # images: {thumbnail: nothing looks like a picture; write its path here}"]
    }
    let isSaid = pictures.contains { !$0.trimmed.hasPrefix("#") }
    return lines + [isSaid ? "  images:" : "  # images:"] + pictures
  }

  /// The lines of a field: its path with the evidence, then the alternatives.
  ///
  /// A doubtful field is commented out, unless it is the id or the title, which every item needs.
  private func line(_ field: FieldRules.Field) -> [String] {
    let scores = fields.alternatives(field)
    guard let best = scores.first else { return [] }
    let takesAll = field == .badges || field == .deliveryTypes
    func text(_ scores: [FieldScore]) -> String {
      let paths = scores.map { takesAll ? $0.evidence.place.all : $0.evidence.place.first }
      let value =
        paths.count == 1
        ? YAMLText.scalar(paths[0]) : "[\(paths.map(YAMLText.scalar).joined(separator: ", "))]"
      return "\(field.rawValue): \(value)"
    }
    let isSaid = best.isSure || field == .id || field == .title
    let reason =
      field == .id && !best.isSure
      ? "no field is called an id, and this one differs in all items: " : ""
    return [noted("  \(isSaid ? "" : "# ")\(text(scores))", best, because: reason)]
      + rivals(fields.rankings[field] ?? [], of: scores).map { noted("  # \(text([$0]))", $0) }
  }

  private func pictureLines(
    _ field: FieldRules.Field,
    _ pictures: PictureProposal?
  ) -> [String] {
    guard let pictures, let best = pictures.scores.first else { return [] }
    var values = pictures.values
    // An alternative for items without a thumbnail may be the first picture of the gallery.
    if field == .thumbnail, let first = headOfGallery(behind: best), !values.contains(first) {
      values.append(first)
    }
    let value = values.count == 1 ? values[0] : "[\(values.joined(separator: ", "))]"
    return [noted("    \(pictures.isSure ? "" : "# ")\(field.rawValue): \(value)", best)]
      + rivals(fields.rankings[field] ?? [], of: pictures.scores).map { other in
        let path = field == .gallery ? other.evidence.place.all : other.evidence.place.first
        return noted("    # \(field.rawValue): \(YAMLText.scalar(path))", other)
      }
  }

  /// The first picture of the gallery, for items without a thumbnail.
  private func headOfGallery(behind best: FieldScore) -> String? {
    guard let head = gallery?.first, gallery?.isSure == true,
      best.evidence.share < 1 || best.evidence.samples.contains(where: PictureText.isData)
    else { return nil }
    return head
  }

  /// The other candidates for a key, for comments: one if the choice is sure, otherwise up to three.
  private func rivals(_ ranking: [FieldScore], of taken: [FieldScore]) -> some Sequence<FieldScore>
  {
    let best = taken.first?.confidence ?? 1
    return ranking.filter { score in
      score.confidence > max(FieldScore.floor, best - (best >= FieldScore.sure ? 0.12 : 0.3))
        && !taken.contains { $0.evidence.place == score.evidence.place }
    }.prefix(best >= FieldScore.sure ? 1 : 3)
  }

  private func priceLines(_ field: FieldRules.Field, _ price: PriceProposal?) -> [String] {
    guard let price, let best = price.scores.first else { return [] }
    let name = field.rawValue
    let rules = price.scores.map { price.rule($0) }
    let value = rules.count == 1 ? rules[0] : "[\(rules.joined(separator: ", "))]"
    var lines = [noted("  \(price.isSure ? "" : "# ")\(name): \(value)", best)]
    if price.unit == .doubtful {
      let example = best.evidence.samples.first ?? "1999"
      lines.append(
        "  # \(name): \(price.rule(best, as: .minor))   "
          + YAMLText.comment("if \(example.prefix(15)) counts cents")
      )
    }
    return lines
      + rivals(fields.rankings[field] ?? [], of: price.scores).map {
        noted("  # \(name): \(price.rule($0))", $0)
      }
  }

  private func noted(
    _ line: String,
    _ score: FieldScore,
    _ noun: String = "item",
    because reason: String = ""
  ) -> String {
    let evidence = score.evidence
    return noted(
      line,
      score.confidence,
      reason + "\(evidence.phrase) in \(evidence.held) of \(count(evidence.total, noun))"
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
