extension MappingProposal {
  /// The proposal as a catalog file with its grounds and alternatives in comments.
  package func catalogFile(for source: ProposedSource) -> String {
    var lines = [
      "# yaml-language-server: $schema=larder.schema.json",
      "# Proposed by larder catalog init from \(count(itemCount, "item")); "
        + "each choice says how sure it is, from 0 to 1.",
      "# Editors complete and check it once this is run: "
        + "larder catalog schema > larder.schema.json",
    ]
    if !source.variables.isEmpty {
      lines.append(
        "# Set in the environment before a run: " + source.variables.joined(separator: ", ")
      )
    }
    lines.append("name: \(YAMLText.scalar(source.name))")
    lines.append(noted("currency: \(currency.code)", currency.confidence, currency.reason))
    if let base = source.base { lines.append("base: \(YAMLText.quoted(base))") }
    lines += sections(source)
    lines += items
    if let envelopeTitle { lines.append("envelope: {title: \(YAMLText.scalar(envelopeTitle))}") }
    lines += pagingLines(source)
    lines.append("item:")
    lines += fieldLines
    if !formats.isEmpty {
      lines.append(
        "# In place of items and item, "
          + formats.map { "format: \($0)" }.joined(separator: " or ") + " reads all of it too."
      )
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func sections(_ source: ProposedSource) -> [String] {
    let url = YAMLText.quoted(source.url)
    switch place.shape {
    case .list, .itemsByID:
      return ["sections:", "  - {key: \(YAMLText.scalar(source.key)), url: \(url)}"]
    case .sections(let path, _):
      guard let key = sectionKey else {
        return ["sections:", "  - {key: \(YAMLText.scalar(source.key)), url: \(url)}"]
      }
      let each = YAMLText.scalar("$" + path.map(FieldPlace.segment).joined() + "[*]")
      var lines = ["sections:", "  url: \(url)", "  each: \(each)"]
      lines.append(noted("  key: \(YAMLText.scalar(key.evidence.place.first))", key, "section"))
      if let title = sectionTitle {
        lines.append(
          noted("  title: \(YAMLText.scalar(title.evidence.place.first))", title, "section")
        )
      }
      return lines
    case .sectionsByName: return ["sections: {url: \(url)}"]
    }
  }

  private var items: [String] {
    let path = place.path.map(FieldPlace.segment).joined()
    let reason = "an array of \(count(itemCount, "object"))"
    switch place.shape {
    case .list: return [noted("items: \(YAMLText.scalar("$" + path))", confidence, reason)]
    case .sections(_, let member):
      let own = FieldPlace.segment(member)
      let from = sectionKey == nil ? "$\(path)[*]\(own)" : "$\(own)"
      let words = "\(reason) in \(count(place.sections.count, "section"))"
      return [noted("items: \(YAMLText.scalar(from))", confidence, words)]
    case .sectionsByName:
      return [
        noted(
          "# Sections by name",
          confidence,
          "\(count(place.sections.count, "array")) in an object"
        ),
        "transform: |",
        "  {sections: [\(jqEntries) | {key, title: .key, items: .value}]}",
        "items: $.items",
      ]
    case .itemsByID:
      let ownID = fields[.id]?.first.map { $0.confidence >= 0.6 } ?? false
      return [
        noted("# Items by id", confidence, "\(count(itemCount, "object")) in an object"),
        "transform: |",
        "  {items: [\(jqEntries) | .value\(ownID ? "" : " + {id: .key}")]}",
        "items: $.items",
      ]
    }
  }

  /// The members of the object, in jq's words.
  private var jqEntries: String {
    let path = place.path.map { "[\(YAMLText.jsonQuoted($0))]" }.joined()
    return path.isEmpty ? "to_entries[]" : ".\(path) | to_entries[]"
  }

  /// The paging of the listing; a file has one page.
  private func pagingLines(_ source: ProposedSource) -> [String] {
    guard let paging else { return [] }
    if source.base == nil {
      return paging.confidence < 0.5
        ? [] : [noted("# With a URL: paging: \(paging.yaml)", paging.confidence, paging.reason)]
    }
    let line = noted("paging: \(paging.yaml)", paging.confidence, paging.reason)
    return [paging.confidence < 0.5 ? "# \(line)" : line]
  }

  private var fieldLines: [String] {
    var lines: [String] = []
    if case .itemsByID = place.shape, fields[.id]?.first.map({ $0.confidence < 0.6 }) ?? true {
      lines.append(noted("  id: $.id", 0.8, "the name that each has in the response"))
    } else {
      lines += line(.id)
    }
    for field in [FieldVocabulary.Field.title, .description, .badges, .deliveryTypes] {
      lines += line(field)
    }
    lines += priceLines("normalPrice", normalPrice, .normalPrice)
    lines += priceLines("salePrice", salePrice, .salePrice)
    lines += line(.latitude) + line(.longitude)
    let pictures = line(.thumbnail, indent: "    ") + line(.gallery, indent: "    ")
    return pictures.isEmpty ? lines : lines + ["  images:"] + pictures
  }

  /// A field with its grounds, and on the next line what else it may be.
  private func line(_ field: FieldVocabulary.Field, indent: String = "  ") -> [String] {
    guard let ranking = fields[field], let best = ranking.first else { return [] }
    let takesAll = field == .gallery || field == .badges || field == .deliveryTypes
    func text(_ score: FieldScore) -> String {
      let place = score.evidence.place
      return "\(indent)\(field.rawValue): \(YAMLText.scalar(takesAll ? place.all : place.first))"
    }
    var lines = [noted(text(best), best)]
    let other = ranking.dropFirst().first {
      $0.confidence > max(FieldScore.floor, best.confidence - 0.3)
    }
    if let other, field != .thumbnail || other.evidence.place != best.evidence.place {
      lines.append(noted("\(indent)# \(text(other).dropFirst(indent.count))", other))
    }
    return lines
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
          + "# if \(PlainText.line(String(example.prefix(15)))) counts cents"
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
    return "\(line)   # \(number): \(reason)"
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
