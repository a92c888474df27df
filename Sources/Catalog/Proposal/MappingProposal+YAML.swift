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
    var lines = items
    if let envelopeTitle { lines.append("envelope: {title: \(YAMLText.scalar(envelopeTitle))}") }
    lines += pagingLines(isLocal: isLocal)
    lines.append("item:")
    lines += fieldLines
    if !formats.isEmpty {
      lines.append(
        "# In place of items and item, "
          + formats.map { "format: \($0)" }.joined(separator: " or ") + " reads all of it too."
      )
    }
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
