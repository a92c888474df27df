import Base

/// The `detail:` of a proposed catalog file: its URL and fields, deduced from the detail of one item.
struct DetailProposal {
  /// An item of the listing to which the detail may belong.
  struct Candidate {
    /// The item's id, as the catalog file reads it.
    let id: String
    /// The item's JSON; nil when it is not known.
    let node: JSONNode?
  }

  /// The lines of `detail:` in the proposed catalog file.
  let lines: [String]
  /// The id of the item that the detail belongs to; nil when one document holds the details of all items.
  let itemID: String?
  /// The detail as the catalog file reads it.
  var read: ItemDetail?

  /// The part of the detail's URL that identifies the item.
  private struct Place {
    let id: String
    /// The URL with a placeholder in that part.
    let template: String
    /// The placeholder's name, and the path to its value in an item; nil if the value is the id.
    var field: (name: String, path: String)?
  }

  /// Deduces the proposal from a detail.
  ///
  /// - Parameters:
  ///   - page: The detail, and where it came from.
  ///   - items: The items of the listings.
  ///   - base: The catalog file's base for relative URLs; nil when it has none.
  ///   - currency: The catalog's currency.
  /// - Throws: ``CatalogError`` when the response is not JSON, its URL contains no value of an item, or the response
  ///   has no field of a detail.
  init(
    _ page: ProposedPage,
    of items: [Candidate],
    base: String?,
    currency: String
  ) throws(CatalogError) {
    let root = try JSONDocument(parsing: page.body, of: "the detail").root
    let url = Self.url(of: page.source, base: base)
    let place = Self.place(in: url, of: items)
    let shared = place == nil ? Self.shared(root, items) : nil
    guard place != nil || shared != nil else {
      throw CatalogError(
        .unexpectedShape,
        subject: "the detail",
        reason: "no item that is listed has its id, or another of its fields, in this address",
        remedy: "name the detail of an item of the listing"
      )
    }
    itemID = place?.id
    guard let best = Self.root(in: shared ?? root) else {
      throw CatalogError(
        .unexpectedShape,
        subject: "the detail",
        reason: "nothing in it is a description, a list of pictures or a price",
        remedy: "name the URL from which a product's page gets its JSON"
      )
    }
    var own = ["url: \(YAMLText.quoted(place?.template ?? url))"]
    if let field = place?.field, field.path != "$\(FieldPlace.segment(field.name))" {
      own.append("values: {\(YAMLText.scalar(field.name)): \(YAMLText.scalar(field.path))}")
    }
    if shared != nil { own.append("entries: \(YAMLText.scalar(Self.entriesPath(root)))") }
    own += Self.identity(in: shared ?? root, place?.id, isShared: shared != nil, items)
    if !best.path.isEmpty { own.append("root: \(YAMLText.scalar(best.path))") }
    lines =
      [
        YAMLText.comment("Proposed from the detail of \"\(place?.id ?? "several items")\""),
        "detail:",
      ]
      + (own + best.fields(items.first { $0.id == place?.id }?.node, currency)).map { "  \($0)" }
  }

  /// The URL of the detail, as it is written in the catalog file.
  private static func url(of source: ProposedSource, base: String?) -> String {
    guard let own = source.base else {
      return base == nil || source.url.hasPrefix("file:") ? source.url : "file:\(source.url)"
    }
    let whole = own + (source.url == "./" ? "" : source.url)
    guard let base, whole.hasPrefix(base) else { return whole }
    return String(whole.dropFirst(base.count))
  }

  // MARK: - Which item

  /// Finds the part of a URL that is a value of an item.
  ///
  /// A whole segment is preferred to a part of a segment, and the id to other fields.
  private static func place(in url: String, of items: [Candidate]) -> Place? {
    for isWhole in [true, false] {
      for item in items {
        guard let template = template(url, for: item.id, name: "id", isWhole: isWhole) else {
          continue
        }
        return Place(id: item.id, template: template)
      }
      for item in items.prefix(fieldLimit) {
        if let place = field(of: item, in: url, among: items, isWhole: isWhole) { return place }
      }
    }
    return nil
  }

  /// The URL is compared with the ids of all items, and with the other fields of at most this many.
  private static let fieldLimit = 1000

  private static func field(
    of item: Candidate,
    in url: String,
    among items: [Candidate],
    isWhole: Bool
  ) -> Place? {
    for evidence in item.node.map({ EvidenceCollection([$0]).all }) ?? [] {
      let place = evidence.place
      guard place.steps.count < 4, !place.isMany, place.steps.allSatisfy({ $0.choice == nil }),
        let value = evidence.samples.first, value.utf8.count > 2
      else { continue }
      let name = fieldName(place)
      guard let template = template(url, for: value, name: name, isWhole: isWhole),
        items.prefix(fieldLimit).count(where: { $0.node.flatMap { plain(place, in: $0) } == value }
        ) == 1
      else { continue }
      return Place(id: item.id, template: template, field: (name, place.first))
    }
    return nil
  }

  private static func plain(_ place: FieldPlace, in node: JSONNode) -> String? {
    place.nodes(in: node).first.flatMap(FieldReader.plainText)
  }

  private static func fieldName(_ place: FieldPlace) -> String {
    let name = place.name.filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
    }
    return name.isEmpty || name == "id" || name == "page" || name == "size" ? "field" : name
  }

  /// The URL with a placeholder instead of the value; nil when the URL does not contain the value between delimiters.
  private static func template(
    _ url: String,
    for value: String,
    name: String,
    isWhole: Bool
  ) -> String? {
    guard !value.isEmpty else { return nil }
    func isMark(_ character: Character?) -> Bool {
      guard let character else { return true }
      return isWhole
        ? "/?&=.#('\")".contains(character)
        : !(character.isLetter || character.isNumber || character == "%")
    }
    for written in [PercentEncoding.escaped(value), value] {
      // The host never identifies an item.
      let host = url.firstRange(of: "://").map { url[$0.upperBound...] }
      let path = host.map { $0.drop { $0 != "/" } } ?? url[...]
      for range in path.ranges(of: written).reversed() {
        let before =
          range.lowerBound == path.startIndex ? nil : path[path.index(before: range.lowerBound)]
        let after = range.upperBound == path.endIndex ? nil : path[range.upperBound]
        guard isMark(before), isMark(after) else { continue }
        return url[..<range.lowerBound] + "{\(name)}" + url[range.upperBound...]
      }
    }
    return nil
  }

  /// An element of a document that holds the details of many items; nil for any other document.
  private static func shared(_ root: JSONNode, _ items: [Candidate]) -> JSONNode? {
    guard let list = list(in: root)?.elements, list.count > 1 else { return nil }
    let ids = Set(items.map(\.id))
    // The document may also have details of items in other listings.
    return list.prefix(fieldLimit).first { entry in
      entry.members.contains { FieldReader.plainText($0.value).map(ids.contains) ?? false }
    }
  }

  private static func list(in root: JSONNode) -> JSONNode? {
    root.kind == .array ? root : root.members.first { $0.value.kind == .array }?.value
  }

  private static func entriesPath(_ root: JSONNode) -> String {
    let name = root.members.first { $0.value.kind == .array }?.name
    return "$\(name.map(FieldPlace.segment) ?? "")[*]"
  }

  /// The line with the path to the item's id in an entry, so that details of other items are excluded.
  private static func identity(
    in entry: JSONNode,
    _ id: String?,
    isShared: Bool,
    _ items: [Candidate]
  ) -> [String] {
    let ids = isShared ? Set(items.map(\.id)) : Set([id].compactMap(\.self))
    let found = EvidenceCollection([entry]).all.filter { evidence in
      !evidence.place.isMany && evidence.samples.first.map(ids.contains) ?? false
        && FieldRules.isID(evidence.place.name)
    }
    let nearest = found.min { $0.place.steps.count < $1.place.steps.count }
    return nearest.map { ["id: \(YAMLText.scalar($0.place.first))"] } ?? []
  }

  // MARK: - Which fields

  /// The object with the most fields of a detail.
  private static func root(in node: JSONNode) -> DetailFields? {
    var best: DetailFields?
    func visit(_ node: JSONNode, _ path: String, _ depth: Int) {
      guard node.kind == .object, depth < 4 else { return }
      let found = DetailFields(node, path: path)
      if found.score > best?.score ?? 0 { best = found }
      for (name, value) in node.members.prefix(60) {
        visit(value, (path.isEmpty ? "$" : path) + FieldPlace.segment(name), depth + 1)
        // A list with a single product.
        if value.kind == .array, value.elements.count == 1 {
          visit(
            value.elements[0],
            (path.isEmpty ? "$" : path) + FieldPlace.segment(name) + "[0]",
            depth + 1
          )
        }
      }
    }
    visit(node, "", 0)
    if node.kind == .array, node.elements.count == 1 { visit(node.elements[0], "$[0]", 1) }
    return best
  }
}

/// The fields of a detail that one object has, recognized by names and values.
struct DetailFields {
  /// The path to the object; empty for the whole detail.
  let path: String
  /// How similar the object is to a detail; fields in nested objects count less.
  let score: Double

  private let node: JSONNode
  private let all: [FieldEvidence]
  private let description: FieldScore?
  private let prices: FieldScore?
  private let pictures: [(role: ImageReference.Role, evidence: FieldEvidence)]

  /// Looks for the fields of a detail in an object.
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
    // A text in the object itself is more likely the field than a text in a nested object.
    func weight(_ place: FieldPlace?) -> Double {
      place.map { 1 - 0.1 * Double($0.steps.count - 1) } ?? 0
    }
    let texts =
      (description?.confidence ?? 0) * weight(description?.evidence.place) + 0.4
      * weight(prices?.evidence.place)
    let seen = pictures.prefix(3).map { 0.5 * weight($0.evidence.place) }.reduce(0, +)
    score = (texts + seen) * (1 - 0.02 * Double(depth))
  }

  /// The paths of the pictures, each with its role.
  ///
  /// A single picture is `top`, pictures in the description are `section`, and all others are `gallery`.
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
      guard isNamed || hasEndings, isBrief
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

  /// The lines of `detail:` for the fields.
  ///
  /// - Parameters:
  ///   - item: The item in the listing; a field that the listing has too is not proposed as a note of the detail.
  ///   - currency: The catalog's currency.
  /// - Returns: The lines, without indentation.
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
    let path = YAMLText.scalar(score.evidence.place.all)
    guard let price = PriceProposal([score], among: all, currency: unit) else { return path }
    switch price.unit {
    case .major, .doubtful: return path
    case .minor: return "{path: \(path), minorUnits: true}"
    case .divided(let divisor): return "{path: \(path), divisor: \(divisor)}"
    case .scaled(let scale): return "{path: \(path), scale: \(YAMLText.scalar(scale))}"
    case .split(let nanos): return "{units: \(path), nanos: \(YAMLText.scalar(nanos))}"
    }
  }

  /// Short texts that are not in the listing, in the order in which the detail has them.
  private func notes(_ item: JSONNode?) -> [(name: String, path: String)] {
    let taken = [description?.evidence.place, prices?.evidence.place].compactMap(\.self)
    let notes = all.filter { evidence in
      guard evidence.isText, !evidence.place.isMany, evidence.place.steps.count == 1,
        let text = evidence.samples.first
      else { return false }
      let name = evidence.place.name
      let isNew = item?[name] == nil && !taken.contains(evidence.place)
      let isAName =
        FieldRules.isText(name) || FieldRules.isID(name)
      return isNew && !isAName && !PictureText.isLink(text) && text.utf8.count <= 400
        && !name.isEmpty && name.utf8.count <= 60 && !text.contains("<")
    }
    return notes.prefix(8).map { ($0.place.name, $0.place.first) }
  }
}
