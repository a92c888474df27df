/// A mapping for a response that no built-in format fits: the path to the items, and the paths from an item to its
/// fields.
///
/// The mapping is deduced from the names and values in the response. Each choice has a confidence from 0 to 1.
/// ``ProposedFile`` writes the mapping as YAML.
package struct MappingProposal {
  /// The first response.
  let look: ResponseLook
  /// The place of the items, with the items of all responses.
  let place: ItemPlace
  /// The confidence that the items are at ``place``, from 0 to 1.
  let confidence: Double
  let fields: ItemFields
  let thumbnail: PictureProposal?
  let gallery: PictureProposal?
  let currency: CurrencyProposal
  /// The price to pay.
  let salePrice: PriceProposal?
  /// The price before a reduction.
  let normalPrice: PriceProposal?
  /// The path to a title of the whole list.
  ///
  /// The title is beside the items in the response. The path is nil if the response has no such title.
  let envelopeTitle: String?
  /// The member of a section that is its key, if one response has many sections.
  let sectionKey: FieldEvidence?
  /// The member of a section that is its title, if one response has many sections.
  let sectionTitle: FieldEvidence?
  /// The ways to request further pages of the listing, the likeliest first.
  ///
  /// After a request for a second page has shown which paging works, only this paging is left.
  var pagings: [PagingProposal]
  /// The likeliest paging, or nil if the listing seems to have one page.
  var paging: PagingProposal? { pagings.first }

  /// Whether a text is an ISO 4217 code, such as "EUR".
  package static func isCurrency(_ text: String) -> Bool { Currency.codes.contains(text) }

  var itemCount: Int { place.items.count }

  /// Makes one mapping for one or more responses that have their items at the same path.
  ///
  /// - Parameters:
  ///   - looks: The responses; at least one.
  ///   - source: The source of the first response.
  ///   - currency: The ISO 4217 code that the user gave, or nil to deduce the currency.
  ///   - hasNextLink: Whether the `Link` header of a response names a next page.
  init(of looks: [ResponseLook], source: ProposedSource, currency: String?, hasNextLink: Bool) {
    look = looks[0]
    let root = look.response
    var best = look.place
    best.items = looks.flatMap(\.place.items)
    best.sections = looks.flatMap(\.place.sections)
    best.keys = looks.flatMap(\.place.keys)
    place = best
    let most = best.areNested ? Confidence.doubt : 1
    confidence = looks.map { min(most, $0.confidence) }.min() ?? 0
    fields =
      looks.count == 1
      ? look.fields
      : ItemFields(
        best.evidence,
        isOneList: false,
        isLenient: looks.contains(where: \.isLenient)
      )
    let all = fields.evidence
    let prices = fields.prices + [fields.unread(.salePrice)].compactMap(\.self)
    let money = CurrencyProposal(given: currency, items: all, prices: prices, root: root)
    self.currency = money
    salePrice = PriceProposal(fields.salePrice, among: all, currency: money)
    normalPrice = PriceProposal(
      fields.normalPrice,
      among: all,
      currency: money,
      like: salePrice
    )
    thumbnail = PictureProposal(fields.thumbnail, isMany: false, among: all, root: root)
    gallery = PictureProposal(fields.gallery, isMany: true, among: all, root: root)
    envelopeTitle = look.program == nil ? Self.envelopeTitle(of: root, best) : nil
    let sections = EvidenceCollection(best.sections).all.filter {
      $0.place.steps.count == 1 && !$0.place.isMany
    }
    sectionTitle = sections.ranking(.title).first
    sectionKey = Self.key(of: sections) ?? sectionTitle
    pagings = PagingProposal.ranking(
      root: root,
      place: look.program == nil
        ? look.place : ItemPlace(kind: .list, path: [], items: look.place.items),
      // The address of a local file tells nothing about further pages.
      url: source.base == nil ? "" : source.url,
      hasNextLink: hasNextLink,
      id: fields.rankings[.id]?.first?.place.first,
      request: source.body
    )
  }

  /// A factor for the confidence that the items are at a place, which depends on the name of the place.
  ///
  /// It is low for an array that is usually a part of an item, such as `variants`, and for lists inside other objects
  /// whose elements have neither an id, a price, nor a title with a picture.
  static func weight(of place: ItemPlace, _ fields: ItemFields) -> Double {
    // In `variants.edges`, the name of the list is `variants`.
    let named = place.path.last {
      $0 != FieldPlace.everyElement && !FieldRules.isNamed("listHolder", NameWords.plain($0))
    }
    // An object called `categories` whose members hold items has the sections of a shop.
    let isOfSections =
      !place.names.isEmpty && FieldRules.has("category", in: NameWords.plain(named ?? ""))
    let names =
      isOfSections ? [] : place.member.map { $0.steps.map(\.name) } ?? [named].compactMap(\.self)
    let size = place.items.count == 1 ? 0.95 : place.sections.isEmpty ? 1 : 1.02
    let isInside = names.contains { name in
      let plain = NameWords.plain(name)
      // Lists of artists or brands are parts of items, unless the whole response is such a list.
      return FieldRules.isNamed("inside", plain) || FieldRules.has("beside", in: plain)
        || !place.sections.isEmpty && !["shop", "store"].contains(plain)
          && FieldRules.isOfOthers(plain)
    }
    let isPart = isInside || place.kind == .sections && !fields.areWhole
    return isPart ? 0.6 * size : size
  }

  private static func envelopeTitle(of root: JSONNode, _ place: ItemPlace) -> String? {
    guard place.kind == .list, place.path.count == 1 else { return nil }
    return ["title", "name"].first { root[$0]?.text?.isEmpty == false }.map {
      "$" + FieldPlace.segment($0)
    }
  }

  /// The member of a section that is likeliest to be its key.
  ///
  /// Its values must differ in all sections and be valid file names.
  private static func key(of sections: [FieldEvidence]) -> FieldEvidence? {
    let fit = sections.filter { $0.share == 1 && $0.variety == 1 && $0.share(isFileName) == 1 }
    let named = fit.map { evidence in
      let words = NameWords.words(of: evidence.place.name)
      let isKey = words.contains { ["key", "slug"].contains($0) }
      let isID = words.contains { ["id", "code"].contains($0) } || words == ["section"]
      return evidence.rated(isKey ? 0.95 : isID ? 0.9 : 0.3)
    }
    return named.max { $0.confidence < $1.confidence }
  }

  /// The first names of an object's members, on one line.
  private static func memberNames(_ node: JSONNode) -> String {
    node.members.prefix(8).map { PlainText.line(String($0.name.prefix(40))) }
      .joined(separator: ", ")
  }

  /// The error for a response that has nothing that looks like items.
  static func nothingFound(in root: JSONNode) -> CatalogError {
    if let text = root.text,
      let inner = try? JSONDocument(parsing: Array(text.utf8), of: "text").root, inner.count > 0
    {
      return .shape(
        "the response",
        "it is a JSON text inside a string",
        remedy: "give a file with the text in the string, or write the catalog file by hand, with "
          + "transform: fromjson"
      )
    }
    let values = root.kind == .array ? [root] : root.members.map(\.value)
    let lists = values.filter { $0.kind == .array }
    if !lists.isEmpty, lists.allSatisfy({ $0.count == 0 }) {
      let remedy = "give a URL whose list is not empty"
      return .shape("the response", "the list in it is empty", remedy: remedy)
    }
    // Rows of a table that cannot be read are texts with the reason.
    let faults = root["items"]?.elements.compactMap(\.text).filter { $0.hasPrefix("line ") } ?? []
    if let first = faults.first {
      let reason = "\(faults.count) of its rows cannot be read, the first because \(first)"
      return .shape("the response", reason, remedy: "correct the table")
    }
    let longest = ItemPlace.all(in: root).ranked { $0.items.count }.prefix(20)
    let cause = longest.lazy.compactMap { ItemFields.missingID(in: $0.items) }.first
    var found =
      root.members.isEmpty
      ? "\(root.kind.phrase) of \(root.count) values" : "an object with \(memberNames(root))"
    if let most = longest.first {
      let path = PlainText.line(String(most.allItems.prefix(80)))
      let titles = EvidenceCollection(most.items).all.ranking(.title)
      let names = memberNames(most.items[0])
      found =
        "a list of \(most.items.count) at \(path) with \(names.isEmpty ? "no members" : names)"
        + (titles.isEmpty && !names.isEmpty ? ", and none of these looks like a title" : "")
    }
    return .shape(
      "the response",
      "nothing in it looks like items: looked for an array of objects with an id and a title, best with a "
        + "price and a picture, at any depth, in sections and by name; "
        + (cause?.reason ?? "found \(found)"),
      remedy: cause?.remedy ?? "give a URL that lists items, or write items and item by hand"
    )
  }
}
