/// The fields that one object of a detail has, told by names and values.
struct DetailFields {
  /// The path to the object; empty for the whole detail.
  let path: String
  /// How many fields speak for it; deeper ones count less.
  let score: Double

  private let node: JSONNode
  private let all: [FieldEvidence]
  private let description: FieldScore?
  private let prices: FieldScore?
  private let pictures: [(role: ImageReference.Role, evidence: FieldEvidence)]

  /// Looks at an object.
  init(_ node: JSONNode, path: String) {
    self.node = node
    self.path = path
    all = EvidenceCollection([node]).all
    func isOwn(_ place: FieldPlace) -> Bool {
      !place.isMany && place.steps.count <= 2
    }
    description = FieldScore.ranking(.description, all).first { isOwn($0.evidence.place) }
    let named = FieldScore.ranking(.salePrice, all)
    prices =
      named.first {
        NameWords.plain($0.evidence.place.steps[0].name) == "prices" || $0.evidence.place.isMany
      }
      ?? all.first {
        NameWords.plain($0.place.name) == "prices" && $0.share(PriceText.isPrice) == 1
      }
      .map { FieldScore(evidence: $0, confidence: 0.9) } ?? named.first
    pictures = Self.pictures(all)
    let depth = path.split(whereSeparator: { ".[".contains($0) }).count
    // What stands in the object itself speaks for it more than what stands deeper.
    func weight(_ place: FieldPlace?) -> Double {
      place.map { 1 - 0.1 * Double($0.steps.count - 1) } ?? 0
    }
    let texts =
      (description?.confidence ?? 0) * weight(description?.evidence.place) + 0.4
      * weight(prices?.evidence.place)
    let seen = pictures.prefix(3).map { 0.5 * weight($0.evidence.place) }.reduce(0, +)
    score = (texts + seen) * (1 - 0.02 * Double(depth))
  }

  /// The pictures, each place with its role: what stands alone on top, description pictures in the section, the
  /// others in the gallery.
  private static func pictures(
    _ all: [FieldEvidence]
  ) -> [(role: ImageReference.Role, evidence: FieldEvidence)] {
    let galleries = FieldScore.ranking(.gallery, all).map(\.evidence)
    let singles = FieldScore.ranking(.thumbnail, all).map(\.evidence)
    var found: [(role: ImageReference.Role, evidence: FieldEvidence)] = []
    for evidence in all
    where evidence.isText && evidence.share(PictureText.isLink) == 1
      && evidence.share(PictureText.isPage) == 0
    {
      let words = Set(evidence.place.names.flatMap { NameWords.words(of: $0) })
      let isNamed =
        galleries.contains { $0.place == evidence.place }
        || singles.contains { $0.place == evidence.place }
      let hasEndings = evidence.share(PictureText.hasEnding) == 1
      let isBrief = evidence.place.steps.count <= 4
      guard isNamed || hasEndings, isBrief,
        FieldVocabulary.score(.gallery, evidence.place) >= 0.3 || hasEndings
      else { continue }
      let isOfText =
        !words.isDisjoint(with: [
          "section", "sections", "detail", "details", "desc", "description", "content", "body",
        ])
        && evidence.place.isMany
      let isOfOthers = !words.isDisjoint(with: [
        "brand", "logo", "vendor", "seller", "reviews", "related", "icon", "qr", "avatar",
      ])
      if isOfOthers { continue }
      found.append((isOfText ? .section : evidence.place.isMany ? .gallery : .top, evidence))
    }
    return found
  }

  /// The lines of the fields.
  ///
  /// - Parameters:
  ///   - item: The item as it is listed: what it says by itself is no note of the detail.
  ///   - currency: The catalog's currency.
  /// - Returns: The lines of `detail:`, without indentation.
  func fields(_ item: JSONNode?, _ currency: String) -> [String] {
    var lines: [String] = []
    if let description {
      lines.append("description: \(YAMLText.scalar(description.evidence.place.first))")
    }
    if let prices { lines.append("prices: \(priceRule(prices, currency))") }
    if !pictures.isEmpty {
      lines.append("images:")
      for role in ImageReference.Role.allCases {
        let places = pictures.filter { $0.role == role }.map(\.evidence.place)
        let paths = places.map {
          $0.steps.last?.isList == true && places.count > 1 ? $0.all + "[*]" : $0.all
        }
        if paths.isEmpty { continue }
        let value =
          paths.count == 1
          ? YAMLText.scalar(paths[0])
          : "{all: [\(paths.map(YAMLText.quoted).joined(separator: ", "))]}"
        lines.append("  \(role.rawValue): \(value)")
      }
    }
    let notes = notes(item)
    if !notes.isEmpty {
      lines.append("notes:")
      for (name, path) in notes {
        lines.append("  \(YAMLText.scalar(name)): \(YAMLText.scalar(path))")
      }
    }
    return lines
  }

  private func priceRule(_ score: FieldScore, _ currency: String) -> String {
    let unit = CurrencyProposal(given: currency, items: all, prices: [score.evidence], root: node)
    let price = PriceProposal([score], among: all, currency: unit)
    let path = YAMLText.scalar(score.evidence.place.all)
    switch price.unit {
    case .major, .doubtful: return path
    case .minor: return "{path: \(path), minorUnits: true}"
    case .divided(let divisor): return "{path: \(path), divisor: \(divisor)}"
    case .scaled(let scale): return "{path: \(path), scale: \(YAMLText.scalar(scale))}"
    }
  }

  /// Short texts that the listing has not, in the order of the detail.
  private func notes(_ item: JSONNode?) -> [(name: String, path: String)] {
    let taken = [description?.evidence.place, prices?.evidence.place].compactMap(\.self)
    let notes = all.filter { evidence in
      guard evidence.isText, !evidence.place.isMany, evidence.place.steps.count == 1,
        let text = evidence.samples.first
      else { return false }
      let name = evidence.place.name
      let isNew = item?[name] == nil && !taken.contains(evidence.place)
      let isAName =
        FieldVocabulary.score(.title, evidence.place) > 0.5
        || FieldVocabulary.score(.id, evidence.place) > 0.5
      return isNew && !isAName && !PictureText.isLink(text) && text.utf8.count <= 400
        && !name.isEmpty && name.utf8.count <= 60 && !text.contains("<")
    }
    return notes.prefix(8).map { ($0.place.name, $0.place.first) }
  }
}
