import Base

/// The `detail:` of a proposed catalog file, deduced from the detail of one item.
///
/// A detail is a document about one item alone, which has more fields than the item has in a listing. For example, the
/// URL `https://cups.example/detail/c7` becomes the template `detail/{id}`, because `c7` is the id of an item.
struct DetailProposal {
  /// An item of a listing that the detail possibly belongs to.
  struct Candidate {
    /// The item's id, as the catalog file reads it.
    let id: String
    /// The item's JSON, or nil if it is not known.
    let node: JSONNode?
  }

  /// The lines of `detail:` in the proposed catalog file.
  let lines: [String]
  /// The id of the item that the detail belongs to.
  let itemID: String

  /// The part of the detail's URL that identifies the item.
  private struct Place {
    let id: String
    /// The URL with a placeholder instead of that part.
    let template: String
    /// The placeholder's name, and the path to its value in an item; nil if the value is the id.
    var field: (name: String, path: String)?
  }

  /// Deduces the proposal from a detail.
  ///
  /// - Parameters:
  ///   - page: The detail, with its URL.
  ///   - items: The items of the listings.
  ///   - base: The base of relative URLs in the catalog file, or nil if the file has none.
  ///   - currency: The catalog's currency.
  /// - Throws: ``CatalogError`` when the response is not JSON or has no field of a detail, or when its URL contains no
  ///   value of an item.
  init(
    _ page: ProposedPage,
    of items: [Candidate],
    base: String?,
    currency: String
  ) throws(CatalogError) {
    let root = try JSONDocument(parsing: page.body, of: "the detail").root
    let url = page.source.url(relativeTo: base)
    guard let place = Self.place(in: url, of: items) else {
      throw .shape(
        "the detail",
        "no item that is listed has its id, or another of its fields, in this address",
        remedy:
          "name the detail of an item of the listing; if the document has the details of several items, write "
          + "detail with entries by hand"
      )
    }
    itemID = place.id
    guard let best = Self.root(in: root) else {
      throw .shape(
        "the detail",
        "nothing in it is a description, a list of pictures or a price",
        remedy: "name the URL from which a product's page gets its JSON"
      )
    }
    var own = ["url: \(YAMLText.quoted(place.template))"]
    if let field = place.field, field.path != "$\(FieldPlace.segment(field.name))" {
      own.append("values: {\(YAMLText.scalar(field.name)): \(YAMLText.scalar(field.path))}")
    }
    // A sync recognizes the right detail by this id.
    if let id = Self.path(to: place.id, in: root) {
      own.append("id: \(YAMLText.scalar(id.first))")
    }
    if !best.path.isEmpty { own.append("root: \(YAMLText.scalar(best.path))") }
    own += best.fields(items.first { $0.id == place.id }?.node, currency)
    let subject = "Proposed from the detail of \"\(place.id)\""
    lines = [YAMLText.comment(subject), "detail:"] + own.map { "  \($0)" }
  }

  // MARK: - Which item

  /// Finds the part of a URL that is the id or another value of an item.
  ///
  /// Whole segments of the URL are compared first, and then parts of segments. The id is compared before other values.
  private static func place(in url: String, of items: [Candidate]) -> Place? {
    for isWhole in [true, false] {
      for item in items {
        if let template = template(url, for: item.id, name: "id", isWhole: isWhole) {
          return Place(id: item.id, template: template)
        }
      }
      for item in items.prefix(fieldLimit) {
        if let place = field(of: item, in: url, among: items, isWhole: isWhole) { return place }
      }
    }
    return nil
  }

  /// The URL is compared with the ids of all items, but with other values of only this many items.
  private static let fieldLimit = 1000

  /// The place of a value that is in the URL and belongs to this item alone.
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
      func hasValue(_ other: Candidate) -> Bool {
        other.node.flatMap { place.nodes(in: $0).first.flatMap(FieldReader.plainText) } == value
      }
      let name = fieldName(place)
      guard let template = template(url, for: value, name: name, isWhole: isWhole),
        items.prefix(fieldLimit).count(where: hasValue) == 1
      else { continue }
      return Place(id: item.id, template: template, field: (name, place.first))
    }
    return nil
  }

  /// A name for the placeholder of a value: the value's name in the item, unless larder uses that name itself.
  private static func fieldName(_ place: FieldPlace) -> String {
    let name = place.name.filter {
      $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
    }
    return ["", "id", "page", "size"].contains(name) ? "field" : name
  }

  /// Replaces a value in a URL by a placeholder; nil if the URL does not contain the value between delimiters.
  ///
  /// - Parameters:
  ///   - url: The URL.
  ///   - value: The value.
  ///   - name: The name of the placeholder.
  ///   - isWhole: Whether the value must be a whole segment of the URL or a whole value of its query.
  /// - Returns: The template.
  private static func template(
    _ url: String,
    for value: String,
    name: String,
    isWhole: Bool
  ) -> String? {
    guard !value.isEmpty else { return nil }
    func isMark(_ character: Character) -> Bool {
      isWhole
        ? "/?&=.#('\")".contains(character)
        : !(character.isLetter || character.isNumber || character == "%")
    }
    // Only the part of the URL after the host can identify an item.
    let host = url.firstRange(of: "://").map { url[$0.upperBound...] }
    let path = host.map { $0.drop { $0 != "/" } } ?? url[...]
    for written in [PercentEncoding.escaped(value), value] {
      for range in path.ranges(of: written).reversed() {
        let before = path[..<range.lowerBound].last
        let after = path[range.upperBound...].first
        guard before.map(isMark) ?? true, after.map(isMark) ?? true else { continue }
        return url[..<range.lowerBound] + "{\(name)}" + url[range.upperBound...]
      }
    }
    return nil
  }

  /// The place in a detail that has the id of its item.
  private static func path(to id: String, in detail: JSONNode) -> FieldPlace? {
    let found = EvidenceCollection([detail]).all.filter { evidence in
      !evidence.place.isMany && evidence.samples.first == id
        && FieldRules.isID(evidence.place.name)
    }
    return found.map(\.place).min { $0.steps.count < $1.steps.count }
  }

  // MARK: - Which fields

  /// The object in a document that looks most like a detail, at most three members deep.
  private static func root(in node: JSONNode) -> DetailFields? {
    var best: DetailFields?
    func visit(_ node: JSONNode, _ path: String, _ depth: Int) {
      let start = path.isEmpty ? "$" : path
      // A list that consists of one product can be the detail too.
      let elements = node.kind == .array ? node.elements : []
      if elements.count == 1 { return visit(elements[0], "\(start)[0]", depth) }
      guard node.kind == .object, depth < 4 else { return }
      let found = DetailFields(node, path: path)
      if found.score > best?.score ?? 0 { best = found }
      for (name, value) in node.members.prefix(60) {
        visit(value, start + FieldPlace.segment(name), depth + 1)
      }
    }
    visit(node, "", node.kind == .array ? 1 : 0)
    return best
  }
}

/// The fields of a detail that were found in one object: the description, the prices and the pictures.
struct DetailFields {
  /// The path from the document to the object; empty if the object is the whole document.
  let path: String
  /// The likelihood that the object is a detail; it is only compared with the scores of other objects.
  let score: Double

  private let node: JSONNode
  private let all: [FieldEvidence]
  private let description: FieldEvidence?
  private let prices: FieldEvidence?
  private let pictures: [(role: ImageReference.Role, evidence: FieldEvidence)]

  /// Looks for the fields of a detail in the object at a path.
  init(_ node: JSONNode, path: String) {
    self.node = node
    self.path = path
    all = EvidenceCollection([node]).all
    description = all.ranking(.description).first { !$0.place.isMany && $0.place.steps.count <= 2 }
    prices =
      all.first {
        $0.place.plainName == "prices" && $0.share(PriceText.isPrice) == 1
      }.map { $0.rated(0.9) } ?? all.ranking(.salePrice).first
    pictures = Self.pictures(all)
    let depth = path.split(whereSeparator: { ".[".contains($0) }).count
    // A field inside another object counts less than a field of the object itself.
    func weight(_ evidence: FieldEvidence?) -> Double {
      evidence.map { 1 - 0.1 * Double($0.place.steps.count - 1) } ?? 0
    }
    let texts = (description?.confidence ?? 0) * weight(description)
    let seen = pictures.prefix(3).map { 0.5 * weight($0.evidence) }.reduce(0, +)
    score = (texts + 0.4 * weight(prices) + seen) * (1 - 0.02 * Double(depth))
  }

  /// The pictures of a detail, each path with its role.
  ///
  /// A single picture has the role `top`. Several pictures have the role `section` if their name mentions a
  /// description, otherwise the role `gallery`.
  private static func pictures(
    _ all: [FieldEvidence]
  ) -> [(role: ImageReference.Role, evidence: FieldEvidence)] {
    all.compactMap { evidence in
      let words = evidence.place.names.flatMap(NameWords.words)
      func has(_ meaning: String) -> Bool { words.contains { FieldRules.isNamed(meaning, $0) } }
      let isNamed = [FieldRules.Field.gallery, .thumbnail].contains {
        evidence.judged(as: $0).confidence >= Confidence.floor
      }
      guard evidence.isText, evidence.share(PictureText.isLink) == 1,
        evidence.share(PictureText.isOther) == 0, evidence.place.steps.count <= 4,
        isNamed || evidence.share(PictureText.hasEnding) == 1,
        !has("other"), !has("person")
      else { return nil }
      return (!evidence.place.isMany ? .top : has("prose") ? .section : .gallery, evidence)
    }
  }

  /// The lines below `detail:` that have the paths to the fields.
  ///
  /// - Parameters:
  ///   - item: The item in the listing. Texts that the listing has too do not become notes of the detail.
  ///   - currency: The catalog's currency.
  /// - Returns: The lines, without indentation.
  func fields(_ item: JSONNode?, _ currency: String) -> [String] {
    var lines: [String] = []
    if let description {
      lines.append("description: \(YAMLText.scalar(description.place.first))")
    }
    if let prices { lines.append("prices: \(priceRule(prices, currency))") }
    if !pictures.isEmpty { lines.append("images:") }
    for role in ImageReference.Role.allCases {
      let places = pictures.filter { $0.role == role }.map(\.evidence.place)
      if places.isEmpty { continue }
      lines.append("  \(role.rawValue): \(PictureProposal.yaml(places, isMany: true))")
    }
    let notes = notes(item).map {
      "  \(YAMLText.scalar($0.name)): \(YAMLText.scalar($0.first))"
    }
    return lines + (notes.isEmpty ? [] : ["notes:"] + notes)
  }

  private func priceRule(_ score: FieldEvidence, _ currency: String) -> String {
    let money = CurrencyProposal(given: currency, items: all, prices: [score], root: node)
    let unit = PriceProposal([score], among: all, currency: money)?.unit ?? .major
    return YAMLText.rule(unit.members(score.place.all))
  }

  /// The places of up to eight short texts that the listing does not have, in the order of the detail.
  private func notes(_ item: JSONNode?) -> [FieldPlace] {
    let taken = [description?.place, prices?.place].compactMap(\.self)
    let notes = all.filter { evidence in
      guard evidence.isText, !evidence.place.isMany, evidence.place.steps.count == 1,
        let text = evidence.samples.first
      else { return false }
      let name = evidence.place.name
      let isNew = item?[name] == nil && !taken.contains(evidence.place)
      let isAName = FieldRules.isText(name) || FieldRules.isID(name)
      return isNew && !isAName && !PictureText.isLink(text) && text.utf8.count <= 400
        && !name.isEmpty && name.utf8.count <= 60 && !text.contains("<")
    }
    return notes.prefix(8).map(\.place)
  }
}
