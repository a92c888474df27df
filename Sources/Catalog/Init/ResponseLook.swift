/// A response that no built-in format fits, with the items that were found in it.
struct ResponseLook {
  /// The lines that describe the response's notation in a catalog file, such as `read: csv`; empty for JSON.
  let notation: [String]
  /// The response, converted to JSON.
  let response: JSONNode
  /// The program that makes items of the response, or nil if the response already has items.
  let program: JoiningProgram?
  /// The place in ``root`` where the items are.
  let place: ItemPlace
  /// The confidence that the items are at ``place``, from 0 to slightly above 1.
  let confidence: Double
  let fields: ItemFields
  /// Whether values were accepted that do not look like a title or an id.
  let isLenient: Bool
  /// Other lists that look like the items too; none of them is a part of the list or has the same items.
  let rivals: [ItemPlace]
  /// Lists that look less like the items than the ``rivals``, each with the confidence that it has items.
  let others: [(place: ItemPlace, confidence: Double)]

  /// The lists elsewhere in the response that have the name of the items' list: the name, and how many objects are in them.
  let namesakes: (name: String, objects: Int)?

  /// A value that is equal for responses that the same keys of a catalog file can read.
  var likeness: [AnyHashable] {
    [place.kind, place.path, place.condition, place.member, program, notation]
  }

  /// Looks for the items in a response.
  ///
  /// - Parameters:
  ///   - body: JSON, JSON Lines, a table or XML.
  ///   - isPosted: Whether it answers a POST.
  /// - Throws: ``CatalogError`` when the body is none of these, or when nothing in it looks like items.
  init(_ body: [UInt8], isPosted: Bool = false) throws(CatalogError) {
    let (notation, body) = try ProposedNotation.lines(for: body)
    let response = try JSONDocument(parsing: body, of: "the response").root
    let format = isPosted ? FormatSignature.formats(fitting: body).first : nil
    let program = JoiningProgram(for: response, format: format)
    // The output of the program is used only if it contains items.
    let joined = program.map { program in
      Result { () throws(CatalogError) in try program.applied(to: body) }
    }
    let found = (try? joined?.get()).flatMap { Self.best(in: $0) }
    let strict = found ?? Self.best(in: response)
    guard let best = strict ?? Self.best(in: response, isLenient: true) else {
      // If the program failed, that is the cause.
      _ = try joined?.get()
      throw MappingProposal.nothingFound(in: response)
    }
    if let fault = TableRecords.fault(inMembersOf: best.found.place.items) {
      throw .shape("the response", fault.reason, remedy: fault.remedy)
    }
    isLenient = strict == nil || best.isLenient
    self.notation = notation
    self.response = response
    self.program = found == nil ? nil : program
    rivals = best.rivals.map(\.place)
    others = best.others.map { ($0.place, $0.confidence) }
    (place, fields) = (best.found.place, best.found.fields)
    let root = (found == nil ? nil : try? joined?.get()) ?? response
    namesakes = Self.namesakes(of: place, in: root)
    let isDoubtful = !rivals.isEmpty || namesakes != nil
    confidence = isDoubtful ? min(best.found.confidence, 0.6) : best.found.confidence
  }

  /// The lists with the name of the items' list that are not read, if they have many objects.
  ///
  /// For example, a section can have goods of its own beside sections with goods.
  private static func namesakes(
    of place: ItemPlace,
    in root: JSONNode
  ) -> (name: String, objects: Int)? {
    let name = place.member?.steps.last?.name ?? place.path.last ?? ""
    guard place.kind == .list || place.kind == .sections, place.condition.isEmpty,
      name != FieldPlace.everyElement, !name.isEmpty
    else { return nil }
    var visited = 0
    func objects(in node: JSONNode) -> Int {
      visited += 1
      guard visited < 200_000 else { return 0 }
      if node.kind == .array { return node.elements.map(objects).reduce(0, +) }
      return node.members.map { member in
        // A list inside an item is a part of it.
        member.name == name && member.value.kind == .array
          ? member.value.elements.count { $0.kind == .object } : objects(in: member.value)
      }.reduce(0, +)
    }
    let others = objects(in: root) - place.items.count
    return others * 20 > place.items.count ? (name, others) : nil
  }

  /// A place that possibly has the items, with the fields of the objects there.
  private struct Found {
    var place: ItemPlace
    let fields: ItemFields
    /// The confidence that the objects are the items.
    let confidence: Double

    init(_ place: ItemPlace, isLenient: Bool, atMost limit: Double = .infinity) {
      self.place = place
      fields = ItemFields(place.evidence, isOneList: place.sections.isEmpty, isLenient: isLenient)
      confidence = min(limit, fields.confidence * MappingProposal.weight(of: place, fields))
    }
  }

  /// The place whose objects look most like items, with the lists that look like them too.
  private static func best(
    in root: JSONNode,
    isLenient: Bool = false
  ) -> (found: Found, rivals: [Found], others: [Found], isLenient: Bool)? {
    var best: Found?
    var all: [Found] = []
    var unread: [ItemPlace] = []
    var leftOut: [[String]: [(path: [String], entries: [JSONNode])]] = [:]
    for place in ItemPlace.all(in: root) {
      var found = Found(place, isLenient: isLenient)
      if !place.names.isEmpty {
        let (fields, arePriced) = (found.fields, found.fields.arePriced(place.sections))
        let kept = place.keeping { fields.areItems($1, called: $0, arePriced) }
        if kept.names.count == 1 { leftOut[place.path + kept.names] = kept.leftOut }
        guard kept.names.count > 1 else { continue }
        if !kept.leftOut.isEmpty {
          // Beside lists of other things, each list of items can be the only one.
          found = Found(kept, isLenient: isLenient, atMost: found.confidence)
        }
      }
      if let title = found.fields.rareTitle(in: found.place.lists) {
        let kept = found.place.keeping(itemsWith: title.place)
        // An empty object is certainly no item.
        let isDoubtful = found.place.items.count { $0.count > 0 } > kept.items.count
        found = Found(kept, isLenient: isLenient, atMost: isDoubtful ? Confidence.doubt : 1)
      }
      if found.place.kind == .list, found.place.hasEmpty, found.place.condition.isEmpty,
        let title = found.fields.rankings[.title]?.first
      {
        found.place = found.place.keeping(itemsWith: title.place)
      }
      let fields = found.fields
      // The price can be in doubt, or unreadable.
      let hasPrice =
        fields.rankings[.salePrice]?.contains { $0.confidence >= Confidence.doubt } == true
        || fields.unread(.salePrice) != nil
      let isNamed = fields.rankings[.title]?.first.map { FieldRules.isText($0.place.name) } == true
      guard !isLenient || hasPrice || fields.showing > 0 || isNamed else { continue }
      guard fields.isUsable(in: found.place) else {
        if !isLenient, place.kind == .list { unread.append(found.place) }
        continue
      }
      // The same items can be in several lists of a response, for example as the featured ones.
      if place.hasOthers, fields.rankings[.id]?.first?.variety != 1 { continue }
      all.append(found)
      // Of two lists that are as likely, such as the featured items and all items, the longer one is taken.
      let margin = found.place.items.count > (best?.place.items.count ?? 0) ? -0.02 : 0.02
      if best.map({ found.confidence > $0.confidence + margin }) ?? true { best = found }
    }
    guard var best else { return nil }
    let outer = all.first {
      isOuter($0, of: best) || isWider($0, than: best) || isInner($0, of: best)
    }
    var (rivals, others) = ([best], [Found]())
    if let outer {
      best = outer
    } else {
      // Goods that all have the same title are read leniently; beside categories, they are the items.
      let priced = best.fields.lackPrices ? unread.prefix(20).compactMap(Self.priced) : []
      let lists = (all + priced).filter { isBeside($0, best) }
      rivals = lists.filter { isRival($0, of: best) }
      others = lists.filter { !isRival($0, of: best) && $0.confidence >= Confidence.sure }
      // Of several such lists, one whose items have pictures and prices is the likeliest, or else one that is longer and
      // whose items have more members.
      if let place = rivals.firstIndex(where: { isFuller($0, than: best) }) {
        swap(&best, &rivals[place])
      }
    }
    best.place.leftOut = leftOut[best.place.path] ?? best.place.leftOut
    let isStrict = all.contains {
      $0.place.path == best.place.path && $0.place.kind == best.place.kind
    }
    return (best, rivals, others, isLenient || !isStrict)
  }

  /// The items of a list that only a lenient choice of titles and ids can read, or nil if they have no price.
  private static func priced(_ place: ItemPlace) -> Found? {
    let found = Found(place, isLenient: true)
    let isPriced = found.fields.salePrice.contains(where: \.isSure)
    return isPriced && found.fields.isUsable(in: place) ? found : nil
  }

  /// Whether a place has the items of another place, and those in the objects beside it.
  ///
  /// For example, `$.groups[*].items` has the items of `$.groups.a.items` and `$.groups.b.items`, and `$.groups[*]` those
  /// of `$.groups.a` and `$.groups.b`.
  private static func isWider(_ wide: Found, than best: Found) -> Bool {
    let every = FieldPlace.everyElement
    let areSections = wide.place.kind == .sectionsByName
    let member = wide.place.member.map { [$0.name] } ?? []
    let path = wide.place.path + (areSections ? [every] + member : [])
    let isWithin =
      best.place.kind == .itemsByID ? !areSections || wide.place.areKeyed : areSections
    return isWithin && [.list, .itemsByID].contains(best.place.kind)
      && (areSections || wide.place.kind == .itemsByID)
      && path != best.place.path && path.count == best.place.path.count
      && zip(path, best.place.path).allSatisfy { $0 == $1 || $0 == every }
  }

  /// Whether the sections of a place can be the items themselves, and the items of the place parts of them.
  ///
  /// For example, a film has a title, an id and a picture, and so do the actors in it. A section has items with a price,
  /// or has no picture.
  private static func isOuter(_ outer: Found, of best: Found) -> Bool {
    let (own, inner) = (outer.fields, best.fields)
    return best.place.kind == .sections && outer.place.kind == .list
      && outer.place.path == best.place.path
      && (inner.salePrice + inner.normalPrice).isEmpty
      && own.thumbnail.first?.isSure == true && own.rankings[.title]?.first?.isSure == true
  }

  /// Whether the objects of a list are sections: a list in each has objects with prices and titles of their own.
  ///
  /// The forms of an item, such as its sizes, have the same titles in many items. Sections have no other price and no
  /// picture.
  private static func isInner(_ inner: Found, of best: Found) -> Bool {
    let (own, outer) = (inner.fields, best.fields)
    let shown = outer.salePrice + outer.normalPrice + outer.thumbnail + outer.gallery
    return best.place.kind == .list && best.place.items.count > 1
      && inner.place.kind == .sections && inner.place.path == best.place.path
      && shown.allSatisfy { $0.place.steps[0].name == inner.place.member?.steps[0].name }
      && own.salePrice.contains { $0.isSure && !$0.place.isBorrowed }
      && own.rankings[.title]?.first?.isNearlyUnique == true
  }

  /// Whether neither of two lists, or of the lists in two objects, is a part of the other, and they have other items.
  private static func isBeside(_ other: Found, _ best: Found) -> Bool {
    let items = [best, other].map(\.fields.identities)
    // `hot` and `cold` in `{"food": {"hot": […], "cold": […]}, "drinks": {"hot": […], "cold": […]}}`.
    let areMembers =
      best.place.kind == .sectionsByName && other.place.kind == .sectionsByName
      && best.place.path == other.place.path && best.place.member != other.place.member
    if areMembers { return items[0].intersection(items[1]).count * 2 < items[1].count }
    return [best, other].allSatisfy {
      [.list, .itemsByID].contains($0.place.kind) || !$0.place.names.isEmpty
    }
      && !best.place.path.starts(with: other.place.path)
      && !other.place.path.starts(with: best.place.path)
      && items[0].intersection(items[1]).count * 2 < items[1].count
  }

  /// Whether another list can be the items too.
  ///
  /// A longer list with prices can always be, beside a list without any, such as that of the categories. So can a longer
  /// list whose objects have the same members, such as the present goods beside those of former years.
  private static func isRival(_ other: Found, of best: Found) -> Bool {
    let isLonger = other.place.items.count > best.place.items.count
    let names = [best, other].map { Set($0.fields.evidence.map(\.place.plainName)) }
    let areAlike = names[0].intersection(names[1]).count * 4 >= max(names[0].count * 3, 16)
    let isMoreShown = other.fields.showing > best.fields.showing
    let isPriced =
      best.fields.lackPrices && other.fields.salePrice.contains(where: \.isSure)
    return isLonger && (isPriced || areAlike)
      || other.confidence > max(0.5, best.confidence - (isMoreShown ? 0.3 : 0.15))
  }

  private static func isFuller(_ other: Found, than best: Found) -> Bool {
    other.fields.showing == best.fields.showing
      ? other.place.items.count > best.place.items.count
        && other.fields.evidence.count > best.fields.evidence.count
      : other.fields.showing > best.fields.showing
  }
}

extension ItemFields {
  /// Whether nothing looks like a price, not even in doubt.
  fileprivate var lackPrices: Bool { salePrice.isEmpty && normalPrice.isEmpty }

  /// The id and the title of each examined item.
  fileprivate var identities: Set<[String]> {
    guard let id = rankings[.id]?.first, let title = rankings[.title]?.first
    else { return [] }
    return Set(id.pairs(with: title).map { [$0.0, $0.1] })
  }

  /// The field that is called a title and that a sync would refuse, because many objects of the list have no value there
  /// and no other title.
  fileprivate func rareTitle(in lists: [[JSONNode]]) -> FieldEvidence? {
    let titles = alternatives(.title)
    let called = evidence.filter {
      $0.place.steps.allSatisfy { !$0.isList && $0.choice == nil } && $0.isText
        && $0.named(.title) > 0.9
    }
    guard titles.count < 2, let best = called.max(by: { $0.held < $1.held }), best.held > 1,
      best.variety > 0.5
    else { return nil }
    let isRefused = lists.contains { list in
      let lost = list.count { best.place.nodes(in: $0).first?.text?.isEmpty ?? true }
      return SkipLimit.standard.refuses(lost: lost, of: list.count)
    }
    return isRefused ? best : nil
  }

  /// Whether an object has a value at one of the paths.
  func shows(_ scores: [FieldEvidence], _ object: JSONNode) -> Bool {
    scores.contains { score in score.place.nodes(in: object).contains { !$0.isEmpty } }
  }

  /// Whether nearly all objects have a price in those lists in which some have one.
  fileprivate func arePriced(_ lists: [JSONNode]) -> Bool {
    let counts = lists.map { list in
      let objects = list.entries.prefix(200)
      return (objects.count, objects.count { shows(salePrice + normalPrice, $0) })
    }.filter { $1 > 0 }
    return !counts.isEmpty && counts.allSatisfy { $1 * 10 >= $0 * 9 }
  }

  /// Whether the objects of a list are items, to judge by the fields of the items in several lists.
  ///
  /// A sync must be able to read them, and some have a price or a picture if items of the other lists have one. Objects
  /// in a list that is called `categories` must have a price, and so must any objects if nearly all others have one.
  fileprivate func areItems(_ list: JSONNode, called name: String, _ arePriced: Bool) -> Bool {
    let objects = list.entries
    let (ids, titles) = (rankings[.id] ?? [], alternatives(.title))
    let lost = objects.count { !shows(ids, $0) || !shows(titles, $0) }
    let plain = NameWords.plain(name)
    let isPaid = arePriced || FieldRules.isOfOthers(plain)
    let shown = salePrice + normalPrice + (isPaid ? [] : thumbnail + gallery)
    return !SkipLimit.standard.refuses(lost: lost, of: objects.count)
      && !FieldRules.has("beside", in: plain)
      && (shown.isEmpty || objects.contains { shows(shown, $0) })
  }
}
