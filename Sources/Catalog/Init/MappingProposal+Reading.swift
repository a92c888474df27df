extension MappingProposal: ProposedReading {
  var preface: [String] {
    [
      "# Proposed by larder catalog init from \(count(itemCount, "item")); "
        + "each choice says how sure it is, from 0 to 1.",
      "# Editors complete and check it once this is run: "
        + "larder catalog schema > larder.schema.json",
    ]
  }

  /// The lines of a section of the catalog file that say how its response is divided into many sections.
  ///
  /// There are none if the response is a single section.
  var partLines: [String] {
    guard place.kind == .sections, let key = sectionKey else { return [] }
    let each = YAMLText.scalar(place.jsonPath + place.eachSection)
    func line(_ name: String, _ score: FieldEvidence) -> String {
      noted("\(name): \(YAMLText.scalar(score.place.first))", score, "section")
    }
    return ["each: \(each)", line("key", key)] + (sectionTitle.map { [line("title", $0)] } ?? [])
  }

  /// Whether the sections are made by a transform, which is a jq program in the catalog file.
  ///
  /// The catalog can then have no other sections.
  var makesSections: Bool { place.kind == .sectionsByName }

  func readingLines(isLocal: Bool) -> [String] {
    var lines = look.notation + valueLines + items
    if let envelopeTitle { lines.append("envelope: {title: \(YAMLText.scalar(envelopeTitle))}") }
    lines += pagingLines(isLocal: isLocal)
    lines.append("item:")
    lines += fieldLines
    return lines
  }

  /// The line `text:` if some values are HTML, and the line `none:` if some values such as `N/A` mean "none".
  private var valueLines: [String] {
    let pictures = [thumbnail, gallery].compactMap(\.self).flatMap(\.scores)
    let titles = fields.alternatives(.title)
    // A character reference, such as `&amp;` or `&#8217;`. (HTML, section 13.5)
    let reference = /&(?:#[^&; ]{1,7}|[A-Za-z]{2,8});/
    let isEscaped = (titles + pictures).contains { $0.samples.contains { $0.contains(reference) } }
    // A tag of a text, such as `<p>` or `<br />`. Few texts can be about tags.
    let tag =
      /<\/?(?:p|br|div|span|ul|ol|li|b|i|u|em|strong|h[1-6]|a|table|img)(?:\s[^<>]*|\s?\/)?>/
    let isTagged = fields.alternatives(.description).contains {
      $0.share { $0.contains(tag.ignoresCase()) } > 0.2
    }
    let html: (confidence: Double, reason: String)? =
      isEscaped
      ? (0.9, "titles or addresses have entities")
      : isTagged ? (0.8, "descriptions have tags") : nil
    let none = Set(pictures.flatMap(\.placeholders)).sorted()
    return (html.map { [noted("text: html", $0.confidence, $0.reason)] } ?? [])
      + (none.isEmpty ? [] : ["none: \(YAMLText.list(none.map(YAMLText.quoted)))"])
  }

  /// The lines with the path to the items, and with the transform that makes the items if there is one.
  private var items: [String] {
    let path = place.jsonPath
    let repeats = itemCount - place.examined.count
    let reason =
      "an array of \(count(itemCount, "object"))"
      + (repeats > 0 && itemCount <= EvidenceCollection.itemLimit
        ? ", \(repeats) of them equal to another" : "")
      + (place.condition.isEmpty ? "" : "; the entries without a title are left out")
    if let program = look.program {
      return [program.comment] + made(noted("items: $.items", confidence, reason))
    }
    let member = place.member?.all.dropFirst() ?? ""
    switch place.kind {
    case .list:
      return [noted("items: \(YAMLText.scalar(path))", confidence, reason)] + otherLists
    case .sections:
      let from = YAMLText.scalar(
        (sectionKey == nil ? path + place.eachSection : "$") + member + place.condition
      )
      let sections = count(place.sections.count, "section")
      let others = place.eachSection == "[*]" ? "" : "; entries without such a list are left out"
      return [noted("items: \(from)", confidence, "\(reason) in \(sections)\(others)")]
        + otherLists
    case .sectionsByName:
      let sections = count(place.sections.count, place.member == nil ? "array" : "section")
      return [noted("# Sections by name", confidence, "\(sections) in an object")]
        + otherLists + made()
    case .itemsByID:
      let objects = count(itemCount, "object")
      return [noted("# Items by id", confidence, "\(objects) in an object")] + otherLists + made()
    }
  }

  /// Comments with the other lists: those that look like items, and those beside the items that are left out.
  private var otherLists: [String] {
    func line(_ path: String, _ confidence: Double, _ noun: String, _ number: Int) -> String {
      let objects = "\(noun) \(count(number, "object"))"
      return noted("# items: \(YAMLText.scalar(path))", confidence, objects)
    }
    let offered = look.rivals.map(\.path)
    let leftOut = place.leftOut.filter { !offered.contains($0.path) }
    let namesakes = look.namesakes.map { name, objects in
      "# \(count(objects, "object")) more in other lists called \(YAMLText.scalar(name))"
    }
    return [namesakes].compactMap(\.self)
      + look.rivals.prefix(12).map { line($0.allItems, 0.6, "an array of", $0.items.count) }
      + look.others.prefix(12).map {
        line($0.place.allItems, $0.confidence, "another list, of", $0.place.items.count)
      }
      + leftOut.prefix(12).map {
        let path = FieldPlace.path($0.path)
        return line(path, 0.1, "left out, seems to hold no items:", $0.entries.count)
      }
  }

  /// The lines of the transform, followed by the line with the path to the items in its output.
  private func made(_ items: String = "items: $.items") -> [String] {
    ["transform: |"] + YAMLText.block(transform ?? "", indent: "  ") + [items]
  }

  /// The jq program of `transform:`, or nil if the response needs no transform.
  var transform: String? {
    if let program = look.program { return program.program }
    switch place.kind {
    case .list, .sections: return nil
    case .sectionsByName:
      func value(_ name: String) -> String { ".value[\(JQText.string(name))]" }
      let member = place.member?.name
      let named = member == nil ? nil : sectionTitle?.place.steps[0].name
      let title = named.map { "(\(value($0)) // .key)" } ?? ".key"
      let filled = place.hasEmpty ? " | select(.value != {})" : ""
      let entries =
        isIDMemberName
        ? ".value | to_entries[]\(filled) | .value + {id: .key}"
        : ".value[]\(place.hasEmpty ? " | select(. != {})" : "")"
      let items =
        member.map(value) ?? (place.areKeyed || place.hasEmpty ? "[\(entries)]" : ".value")
      var conditions = place.leftOut.compactMap { other in
        other.path.last.map { ".key != \(JQText.string($0))" }
      }
      if place.hasOthers {
        let areAll = "(.value | try all(.[]; type == \"object\") catch false)"
        conditions.insert(place.areKeyed ? areAll : "(.value | type == \"array\")", at: 0)
      }
      let kept = conditions.isEmpty ? "" : " | select(\(conditions.joined(separator: " and ")))"
      return "{sections: [\(jqEntries)\(kept) | {key, title: \(title), items: \(items)}]}"
    case .itemsByID:
      let filled = place.hasEmpty ? " | select(.value != {})" : ""
      let own = [isIDMemberName ? "id: .key" : nil, isTitleMemberName ? "name: .key" : nil]
      let added = own.compactMap(\.self).joined(separator: ", ")
      return "{items: [\(jqEntries)\(filled) | .value\(added.isEmpty ? "" : " + {\(added)}")]}"
    }
  }

  private func path(_ score: FieldEvidence, _ field: FieldRules.Field) -> String {
    let takesAll = [.badges, .deliveryTypes, .gallery].contains(field)
    return takesAll ? score.place.all : score.place.first
  }

  var unsure: [String] {
    let ids = fields.alternatives(.id)
    let hasID = isIDMemberName || ids.first?.isSure == true && lost(by: ids) == 0
    let hasSections = place.kind != .sections || sectionKey?.isSure ?? true
    // A list that is left out has more entries than there are items, or pictures and a name that does not say why.
    let isShort = place.leftOut.contains { other in
      let name = NameWords.plain(other.path.last ?? "")
      return other.entries.count > itemCount
        || !FieldRules.has("beside", "inside", in: name) && !FieldRules.isOfOthers(name)
          && other.entries.contains { fields.shows(fields.thumbnail + fields.gallery, $0) }
    }
    // If another list can have the items, or a list in each of them, the titles can be those of other things.
    let isOnly =
      look.rivals.isEmpty && look.others.isEmpty && !isShort && place.condition.isEmpty
      && !fields.prices.contains { price in
        price.place.steps.dropLast().contains { step in
          let name = NameWords.plain(step.name)
          return step.isList && !FieldRules.isNamed("inside", name)
            && !FieldRules.has("variant", in: name) && !PriceMeaning.isPriceMember(step.name)
        }
      }
    let isTitle = fields.rankings[.title]?.first?.isSure == true && !isTitleMemberName
    return [
      ("sections", hasSections), ("items", confidence >= Confidence.sure && !isShort),
      ("id", hasID), ("title", isTitle && (isOnly || confidence >= Confidence.sure)),
      ("currency", currency.confidence >= Confidence.sure),
      ("normalPrice", normalPrice?.isCertain ?? (fields.unread(.normalPrice) == nil)),
      (
        "salePrice",
        salePrice?.isCertain ?? !fields.evidence.contains {
          $0.isCalledPrice && $0.amountShare < 1
        }
      ),
      ("thumbnail", thumbnail?.isSure ?? true),
      ("gallery", gallery?.isSure ?? true),
    ].filter { !$1 }.map(\.0)
  }

  /// Whether the id of an item is its member name in the object that contains the items: `{"c1": {…}, "c2": {…}}`.
  private var isIDMemberName: Bool {
    (place.kind == .itemsByID || place.areKeyed) && place.areNamedApart
      && fields.rankings[.id]?.first?.isSure != true
  }

  /// Whether the title of an item is its member name too.
  private var isTitleMemberName: Bool {
    !place.keys.isEmpty && fields.rankings[.title]?.first?.place == ItemPlace.keyPlace
      && place.items[0]["name"] == nil
  }

  /// The jq expression for the members of the object that contains the items or sections.
  private var jqEntries: String {
    let path = place.path.map { name in
      name == FieldPlace.everyElement ? "[]" : "[\(JQText.string(name))]"
    }.joined()
    return path.isEmpty ? "to_entries[]" : ".\(path) | to_entries[]"
  }

  /// The line `paging:`, which is a comment if the paging is in doubt or the response is a local file.
  private func pagingLines(isLocal: Bool) -> [String] {
    guard let paging else { return [] }
    let isUnsure = paging.confidence < 0.5
    if isLocal, paging.confidence < 0.3 { return [] }
    let mark = isLocal ? "# With a URL: " : isUnsure ? "# " : ""
    return [noted("\(mark)paging: \(paging.yaml)", paging.confidence, paging.reason)]
  }

  /// The lines below `item:`.
  private var fieldLines: [String] {
    var lines =
      isIDMemberName
      ? [noted("  id: $.id", 0.8, "the name that each has in the response")] : line(.id)
    lines += [FieldRules.Field.title, .description, .badges, .deliveryTypes].flatMap(line)
    lines += priceLines(.normalPrice, normalPrice) + priceLines(.salePrice, salePrice)
    if salePrice == nil, fields.unread(.salePrice) == nil {
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

  /// A comment with the path to texts that have a price's name and are no amounts.
  private func unreadLines(_ field: FieldRules.Field) -> [String] {
    guard let evidence = fields.unread(field) else { return [] }
    let example = evidence.samples.first { !PriceText.isPrice($0) } ?? ""
    return [
      "  # \(field.rawValue): \(YAMLText.scalar(evidence.place.first))   "
        + YAMLText.comment("\(YAMLText.quoted(example)) is no amount; records: can make one of it")
    ]
  }

  /// The line of a field, followed by comments with other paths that it possibly has.
  ///
  /// - Parameters:
  ///   - field: The field.
  ///   - value: The value in YAML, or nil if it consists of the paths.
  ///   - scores: The paths in the value, the best first.
  ///   - isSaid: Whether the line is a key; if false, it is a comment.
  ///   - reason: The beginning of the comment at the end of the line.
  ///   - written: A path as a value in YAML.
  /// - Returns: The lines below `item:`, with their indentation.
  private func lines(
    _ field: FieldRules.Field,
    _ value: String? = nil,
    of scores: [FieldEvidence],
    isSaid: Bool,
    because reason: String = "",
    _ written: (FieldEvidence) -> String
  ) -> [String] {
    let indent = field == .thumbnail || field == .gallery ? "    " : "  "
    let value = value ?? YAMLText.alternatives(scores.map(written))
    let line = "\(indent)\(isSaid ? "" : "# ")\(field.rawValue): \(value)"
    return [noted(line, scores[0], because: reason)]
      + rivals(fields.rankings[field] ?? [], of: scores).map { rival in
        // A rival is no surer than the field that is chosen before it.
        let rank = rival.atMost(scores[0].confidence)
        return noted("\(indent)# \(field.rawValue): \(written(rival))", rank)
      }
  }

  /// The lines of a field that has a path.
  ///
  /// A doubtful field is commented out. The id and the title are never commented out, because every item needs them.
  private func line(_ field: FieldRules.Field) -> [String] {
    let scores = fields.alternatives(field)
    guard let best = scores.first else { return [] }
    let reason = field == .id ? idReason(scores) : ""
    let isSaid = best.isSure || field == .id || field == .title
    return lines(field, of: scores, isSaid: isSaid, because: reason) {
      YAMLText.scalar(path($0, field))
    }
  }

  /// The beginning of the comment about the id: why it is in doubt, and how many items a sync skips.
  private func idReason(_ scores: [FieldEvidence]) -> String {
    let evidence = scores[0]
    let lost = lost(by: scores)
    let skipped =
      lost == 0
      ? ""
      : "a sync skips \(lost) of \(evidence.total), without an id of their own"
        + (lost * 20 > evidence.total
          ? " (records: .id = tojson with id: $.id gives each record one): " : ": ")
    if scores[0].isSure { return skipped }
    if scores.count > 1 { return "the second path is for items without a value at the first: " }
    if !evidence.isNearlyUnique { return "several items have the same: \(skipped)" }
    let all = evidence.distinct.count == evidence.total ? "all" : "nearly all"
    let hasRival = fields.rankings[.id]?.dropFirst().first?.confidence == scores[0].confidence
    let isCalled = fields.evidence.contains { FieldRules.isID($0.place.name) }
    let reason =
      hasRival
      ? "several fields can be the id" : "no field is \(isCalled ? "a sure id" : "called an id")"
    return "\(reason), and this one differs in \(all) items: \(skipped)"
  }

  /// The number of examined items that a sync skips, because they have no id or that of another item.
  private func lost(by ids: [FieldEvidence]) -> Int {
    guard let evidence = ids.first else { return 0 }
    let repeated = place.sections.isEmpty ? evidence.held - evidence.distinct.count : 0
    return repeated + (ids.count > 1 ? 0 : evidence.total - evidence.leads)
  }

  /// The lines of a role of pictures.
  private func pictureLines(_ field: FieldRules.Field, _ pictures: PictureProposal?) -> [String] {
    guard let pictures, let best = pictures.scores.first else { return [] }
    var values = pictures.values
    let areSomeWithout =
      best.share < 1 || best.samples.contains(where: PictureText.isData)
    // For items without a thumbnail, the first picture of the gallery is the thumbnail.
    if field == .thumbnail, areSomeWithout, let gallery, gallery.isSure {
      values = (values + gallery.firsts).unique(by: \.self)
    }
    let value = YAMLText.alternatives(values)
    return lines(field, value, of: pictures.scores, isSaid: pictures.isSaid) {
      YAMLText.scalar(path($0, field))
    }
  }

  /// The lines of a price, among them a comment with another unit.
  private func priceLines(_ field: FieldRules.Field, _ price: PriceProposal?) -> [String] {
    guard let price else { return unreadLines(field) }
    let reason =
      price.unknownCurrency.map { "\($0) is no ISO 4217 currency: " }
      ?? price.guess.map {
        "\(YAMLText.quoted($0.text)) is read as \($0.price.formatted()), which is a guess: "
      }
      ?? (price.readable == 1
        ? "" : "\(price.readable > 0 ? "not all are amounts" : "no amount") of \(currency.code): ")
    var lines = lines(field, of: price.scores, isSaid: price.isSure, because: reason) {
      price.rule($0)
    }
    if price.unit == .doubtful {
      let best = price.scores[0]
      let example = best.samples.first { $0 != "0" }?.prefix(15) ?? "1999"
      func line(_ unit: PriceProposal.Unit, _ words: String) -> String {
        "  # \(field.rawValue): \(price.rule(best, as: unit))   \(YAMLText.comment(words))"
      }
      lines.insert(line(.minor, "if \(example) counts cents"), at: 1)
      if best.share({ $0.hasSuffix("00000") || $0.utf8.count > 7 || $0 == "0" }) == 1 {
        lines.insert(line(.divided(by: 100_000), "if \(example) counts even smaller parts"), at: 2)
      }
    }
    return lines
  }

  /// The candidates for a field that were not chosen but are nearly as likely.
  ///
  /// There is at most one if the choice is sure, otherwise there are up to four.
  private func rivals(
    _ ranking: [FieldEvidence],
    of taken: [FieldEvidence]
  ) -> some Sequence<FieldEvidence> {
    let best = taken.first?.confidence ?? 1
    let isSure = best >= Confidence.sure
    return ranking.unique(by: \.place).filter { score in
      (isSure ? score.confidence > best - 0.12 : score.confidence >= Confidence.floor)
        && !taken.prefix(isSure ? taken.count : 1).contains { $0.place == score.place }
    }.prefix(isSure ? 1 : 4)
  }

  /// A line with a comment such as `# 0.9: text in 3 of 4 items`.
  private func noted(
    _ line: String,
    _ score: FieldEvidence,
    _ noun: String = "item",
    because reason: String = ""
  ) -> String {
    let evidence = "\(score.phrase) in \(score.held) of \(count(score.total, noun))"
    return noted(line, score.confidence, reason + evidence)
  }

  private func count(_ number: Int, _ noun: String) -> String {
    number == 1 ? "1 \(noun)" : "\(number) \(noun)s"
  }
}
