/// A place in a response that possibly has the items, such as an array of objects.
struct ItemPlace {
  /// The structure that the items have at the path.
  enum Kind {
    /// An array of items.
    case list
    /// An array of sections. Each section has its items in ``ItemPlace/member``: `{"groups": [{"dishes": […]}]}`.
    case sections
    /// An object whose members are sections: `{"Cards": […], "Prints": […]}`.
    ///
    /// If ``ItemPlace/member`` is not nil, each section is an object that has its items in this member.
    case sectionsByName
    /// An object whose members are items: `{"c1": {…}, "c2": {…}}`.
    case itemsByID
  }

  let kind: Kind
  /// The member names on the path to the place, the outermost first: `["data", "products"]`.
  let path: [String]
  /// The place of the items in a section.
  var member: FieldPlace?
  /// The items, in the order of the response.
  var items: [JSONNode]
  /// The filter that leaves out the entries without a title, such as `[?length(@.title) > 0]`; empty if there are none.
  var condition = ""
  /// The sections, if the response has several; otherwise empty.
  var sections: [JSONNode] = []
  /// The selector of the array's elements that are sections.
  ///
  /// It is `[*]`, or a filter such as `[?@.products]` if a few of the elements, such as a notice, have no items.
  var eachSection = "[*]"
  /// The member names of ``sections`` if these are in an object and hold the items directly; otherwise empty.
  var names: [String] = []
  /// Whether the object with the sections or items has other members too, which are no such lists.
  var hasOthers = false
  /// Whether a section is an object whose members are its items: `{"drinks": {"a1": {…}}, "food": {"b1": {…}}}`.
  var areKeyed = false
  /// Whether some of the objects in ``sections`` or beside the items are empty, and therefore left out.
  var hasEmpty = false
  /// Whether each item has a name of its own in the response, if the items are the members of objects.
  ///
  /// In `{"a": {"item1": {…}}, "b": {"item1": {…}}}`, two items have the same name.
  var areNamedApart = true
  /// The lists beside the items whose entries seem to be no items, such as `users`.
  var leftOut: [OtherList] = []

  /// A list that is not read.
  struct OtherList {
    let path: [String]
    let entries: [JSONNode]
  }

  /// The items that are examined; of items of a list that are equal in everything, the first.
  ///
  /// A list that was collected from several pages can have an item several times. A sync keeps it once.
  var examined: [JSONNode] {
    let chosen = EvidenceCollection.chosen(items)
    return kind == .list ? chosen.unique(by: \.stored) : chosen
  }

  /// The JSONPath to the place, such as `$.data.products`.
  var jsonPath: String { FieldPlace.path(path) + (kind == .list ? condition : "") }

  /// The JSONPath to all items, such as `$.groups[*].dishes`.
  var allItems: String {
    sections.isEmpty
      ? jsonPath + (kind == .itemsByID ? ".*" : "")
      : "\(jsonPath)\(eachSection)\(member?.all.dropFirst() ?? "")\(condition)"
  }

  /// The same place without the sections that do not satisfy a condition.
  ///
  /// The sections must be arrays in an object.
  func keeping(_ isSection: (_ name: String, _ list: JSONNode) -> Bool) -> ItemPlace {
    var (kept, some) = (
      self, zip(names, sections).map { (name: $0, list: $1, isKept: isSection($0, $1)) }
    )
    kept.leftOut += some.filter { !$0.isKept }.map {
      OtherList(path: path + [$0.name], entries: $0.list.entries)
    }
    some.removeAll { !$0.isKept }
    kept.names = some.map(\.name)
    kept.sections = some.map(\.list)
    kept.items = kept.sections.flatMap(\.entries)
    return kept
  }

  /// The lists of items whose entries a filter can leave out: the only one, or that of each section.
  var lists: [[JSONNode]] {
    switch kind {
    case .list: [items]
    case .sections: sections.map { section in member.map { $0.nodes(in: section) } ?? [] }
    case .sectionsByName, .itemsByID: []
    }
  }

  /// The same lists without the entries that have no value at a path.
  ///
  /// For example, a list of all entries of a service can have pages and settings beside the products.
  func keeping(itemsWith place: FieldPlace) -> ItemPlace {
    var kept = self
    kept.items.removeAll { place.nodes(in: $0).first?.text?.isEmpty ?? true }
    kept.condition = FieldPlace.filter(holding: [place.first])
    return kept
  }

  /// Every place in a response that possibly has items.
  ///
  /// An object precedes the objects inside it.
  static func all(in root: JSONNode) -> [ItemPlace] {
    var search = Search()
    search.visit(root, at: [])
    return search.found
  }

  private struct Search {
    var found: [ItemPlace] = []
    private var visited = 0

    mutating func visit(_ node: JSONNode, at path: [String]) {
      visited += 1
      guard path.count < 8, visited < 5000 else { return }
      let all = node.kind == .array ? node.elements : []
      // A sync skips a few values that are no objects, such as a row of a table that cannot be read.
      let objects = all.filter { $0.kind == .object }
      let elements = (all.count - objects.count) * 10 <= all.count ? objects : all
      if Self.areObjects(elements) {
        found.append(ItemPlace(kind: .list, path: path, items: elements))
        addSections(elements, at: path)
        addParts(elements, at: path)
        visitUnlike(elements, at: path)
      }
      let inner = all.flatMap(\.elements)
      if all.allSatisfy({ $0.kind == .array }), Self.areObjects(inner) {
        found.append(ItemPlace(kind: .list, path: path + [FieldPlace.everyElement], items: inner))
      }
      // A response to a batch of one request is an array with one element, and so is a list with an object that has the
      // items by name.
      if elements.count == 1,
        path.isEmpty || elements[0].count > 1 && Self.areObjects(elements[0].members.map(\.value))
      {
        visit(elements[0], at: path + [FieldPlace.everyElement])
      }
      guard node.kind == .object else { return }
      let members = node.members
      addByName(members, at: path)
      for (name, value) in members { visit(value, at: path + [name]) }
    }

    /// Visits the few objects of an array that have no name in common, as in `[{"shop": {…}}, {"products": […]}]`.
    private mutating func visitUnlike(_ objects: [JSONNode], at path: [String]) {
      guard (2...10).contains(objects.count) else { return }
      let names = objects.map { Set($0.members.map(\.name)) }
      for (object, own) in zip(objects, names)
      where names.count(where: { !$0.isDisjoint(with: own) }) == 1 {
        visit(object, at: path + [FieldPlace.everyElement])
      }
    }

    /// Adds an array if its elements are possibly sections: each element has an array of objects at the same path.
    ///
    /// Such paths are, for example, `products`, `products.nodes` and `groups[*].dishes`. A few elements can have no such
    /// member, if they have neither another list, nor a price, nor a picture.
    private mutating func addSections(_ elements: [JSONNode], at path: [String]) {
      let places = elements.prefix(50).flatMap { Self.lists(in: $0, at: FieldPlace(steps: [])) }
      for place in places.unique(by: \.self).prefix(20) {
        let name = place.steps[0].name
        let others = elements.filter { $0[name] == nil }
        let areNotices =
          others.count * 4 <= elements.count && !others.contains(where: Self.isShown)
        let elements = areNotices ? elements.filter { $0[name] != nil } : elements
        let lists = elements.map { place.nodes(in: $0) }
        let areSections = zip(elements, lists).allSatisfy { element, list in
          list.isEmpty ? element[name] != nil : Self.areObjects(list)
        }
        // If every element of a long list has one object there, it is a variant of the element. If most elements have
        // none, such as notes, it is a part of the others.
        let isVariant = elements.count > 3 && lists.allSatisfy { $0.count == 1 }
        let isHeld = lists.count { !$0.isEmpty } * 2 >= lists.count
        guard areSections, !isVariant, isHeld else { continue }
        addDeeper(elements, at: path, by: place)
        add(.sections, path, place, lists.flatMap(\.self), elements)
        if areNotices, !others.isEmpty {
          found[found.count - 1].eachSection = "[?@\(FieldPlace.segment(name))]"
        }
      }
    }

    /// Whether an object has a list of objects, or a member that is called a price or a picture.
    private static func isShown(_ object: JSONNode) -> Bool {
      object.members.contains { name, value in
        areObjects(value.elements) || FieldRules.isPicture(name)
          || PriceMeaning.of(FieldPlace(steps: []).adding(name)) != nil
      }
    }

    /// Adds the sections inside other sections, if each inner section has a name of its own.
    ///
    /// In `groups[*].dishes`, for example, the groups are the inner sections.
    private mutating func addDeeper(
      _ elements: [JSONNode],
      at path: [String],
      by place: FieldPlace
    ) {
      guard let last = place.steps.dropLast().lastIndex(where: \.isList) else { return }
      let outer = FieldPlace(steps: Array(place.steps[...last]))
      let member = FieldPlace(steps: Array(place.steps[(last + 1)...]))
      let sections = elements.flatMap { outer.nodes(in: $0) }
      let names = sections.compactMap { section in
        ["key", "slug", "id", "code", "name", "title"].lazy.compactMap {
          section[$0].flatMap(FieldReader.plainText)
        }.first
      }
      guard sections.count > 1, Set(names).count == sections.count else { return }
      let every = FieldPlace.everyElement
      let way = outer.steps.flatMap { $0.isList ? [$0.name, every] : [$0.name] }.dropLast()
      add(.sections, path + [every] + way, member, sections.flatMap(member.nodes), sections)
    }

    /// Adds the items of an array in which each element is a list of parts.
    ///
    /// One of the parts is the item. In `[{"hotel": [{"info": {…}}, {"rating": {…}}]}, …]`, the items are possibly the values of `info`.
    private mutating func addParts(_ elements: [JSONNode], at path: [String]) {
      guard elements.count > 1, elements[0].count == 1, let list = elements[0].members.first?.name
      else { return }
      let parts = elements.map { $0[list]?.elements ?? [] }
      guard parts.allSatisfy({ $0.count > 1 && $0.allSatisfy { $0.count == 1 } }) else { return }
      for name in parts[0].compactMap({ $0.members.first?.name }).prefix(20) {
        let items = parts.flatMap { $0.compactMap { $0[name] } }
        guard items.count == elements.count, Self.areObjects(items) else { continue }
        let way = [FieldPlace.everyElement, list, FieldPlace.everyElement, name]
        found.append(ItemPlace(kind: .list, path: path + way, items: items))
      }
    }

    private mutating func add(
      _ kind: Kind,
      _ path: [String],
      _ member: FieldPlace?,
      _ items: [JSONNode],
      _ sections: [JSONNode]
    ) {
      found.append(
        ItemPlace(kind: kind, path: path, member: member, items: items, sections: sections)
      )
    }

    /// The paths to arrays of objects inside an element, at most three steps deep.
    private static func lists(in node: JSONNode, at place: FieldPlace) -> [FieldPlace] {
      guard place.steps.count < 3 else { return [] }
      return node.members.flatMap { name, value -> [FieldPlace] in
        if value.kind == .object { return lists(in: value, at: place.adding(name)) }
        guard value.kind == .array, areObjects(value.elements) else { return [] }
        let list = place.adding(name).ofElements
        return [list] + lists(in: value.elements[0], at: list)
      }
    }

    /// Adds an object if its members are possibly sections (arrays of items) or items.
    private mutating func addByName(
      _ named: [(name: String, value: JSONNode)],
      at path: [String]
    ) {
      let values = named.map(\.value).filter { $0.kind != .object || $0.count > 0 }
      guard values.count > 1 else { return }
      var lists = named.filter { Self.isList($0.value) }
      if let longest = lists.map(\.value.entries).max(by: { $0.count < $1.count }) {
        // One object in an object, as in `{"drinks": {"d1": {…}}}`, is a list if the items beside it are like it.
        let kept = Set(lists.map(\.name))
        lists = named.filter { name, value in
          let entries = value.entries
          return kept.contains(name)
            || value.kind == .object && entries.count == 1 && Self.areObjects(entries)
              && Self.areAkin([longest, entries], isStrict: true)
        }
      }
      let sections = lists.map(\.value)
      let hasOthers = lists.count < named.count
      let entries = sections.map(\.entries)
      if lists.count > 1, Self.areAkin(entries, isStrict: hasOthers) {
        let items = entries.flatMap(\.self)
        var place = ItemPlace(kind: .sectionsByName, path: path, items: items)
        place.hasEmpty = sections.map(\.count).reduce(0, +) > items.count
        place.sections = sections
        place.names = lists.map(\.name)
        place.hasOthers = hasOthers
        let keys = sections.filter { $0.kind == .object }.flatMap { $0.members.map(\.name) }
        place.areKeyed = !keys.isEmpty
        place.areNamedApart = keys.count == place.items.count && Set(keys).count == keys.count
        let taken = Set(place.names)
        let others = named.filter { name, value in
          place.areKeyed && value.kind == .object && !taken.contains(name)
            && Self.areObjects(value.entries)
        }
        place.leftOut = others.map {
          OtherList(path: path + [$0.name], entries: $0.value.entries)
        }
        found.append(place)
      }
      guard Self.areObjects(values) else { return }
      // The sections can be in groups: `{"drinks": {"hot": {…}, "cold": {…}}, "food": {"warm": {…}}}`.
      let inner = values.flatMap(\.members)
      // Groups that have sections of the same name would give a key to two sections.
      if lists.isEmpty, path.count < 4, inner.count <= 200,
        Set(inner.map(\.name)).count == inner.count, inner.allSatisfy({ Self.isList($0.value) })
      {
        addByName(inner, at: path + [FieldPlace.everyElement])
      }
      let members = values[0].members.filter { Self.areObjects($0.value.elements) }.map(\.name)
      for member in members.prefix(10) where values.allSatisfy({ $0[member]?.kind == .array }) {
        let items = values.flatMap { $0[member]?.elements ?? [] }
        guard Self.areObjects(items) else { continue }
        add(.sectionsByName, path, FieldPlace(steps: []).adding(member), items, values)
      }
      if Self.areAlike(values) {
        found.append(ItemPlace(kind: .itemsByID, path: path, items: values))
        found[found.count - 1].hasEmpty = values.count < named.count
      }
      // For example `{"sites": {"a": {"goods": {"1": …}}, "b": {"goods": {"2": …}}}}`.
      for (name, first) in values[0].members.prefix(10) where first.kind == .object {
        let members = values.flatMap { $0[name]?.members ?? [] }
        let inner = members.map(\.value)
        guard inner.count > 1, Self.areObjects(inner), Self.areAlike(inner) else { continue }
        let way = path + [FieldPlace.everyElement, name]
        var place = ItemPlace(kind: .itemsByID, path: way, items: inner)
        place.areNamedApart = Set(members.map(\.name)).count == members.count
        found.append(place)
      }
    }

    /// Whether a value is an array of objects, or an object whose members are objects with names in common.
    private static func isList(_ value: JSONNode) -> Bool {
      let entries = value.entries
      return areObjects(entries)
        && (value.kind == .array || entries.count > 1 && areAlike(entries))
    }

    /// Whether the lists are of the same kind: each has half of the names of the longest one, or its id, price or picture.
    ///
    /// If `isStrict`, each has more than half of the names of both, among them those of prices.
    private static func areAkin(_ lists: [[JSONNode]], isStrict: Bool) -> Bool {
      guard let longest = lists.max(by: { $0.count < $1.count }) else { return false }
      let names = Set(longest[0].members.map(\.name))
      func isPrice(_ name: String) -> Bool {
        PriceMeaning.of(FieldPlace(steps: []).adding(name)) != nil
      }
      return lists.allSatisfy { list in
        let own = Set(list[0].members.map(\.name))
        let common = own.intersection(names)
        if isStrict {
          return common.count * 2 > max(own.count, names.count)
            && names.filter(isPrice).isSubset(of: common)
        }
        let isTelling = common.contains { name in
          FieldRules.isID(name) || FieldRules.isPicture(name) || isPrice(name)
        }
        return !common.isEmpty && (isTelling || common.count * 2 > min(own.count, names.count))
      }
    }

    private static func areObjects(_ nodes: [JSONNode]) -> Bool {
      !nodes.isEmpty && nodes.allSatisfy { $0.kind == .object }
    }

    /// Whether the objects have names in common: each has most of the names that most of the objects have, or has few
    /// others.
    private static func areAlike(_ nodes: [JSONNode]) -> Bool {
      let names = nodes.prefix(20).map { Set($0.members.map(\.name)) }
      let usual = Set(
        names.flatMap(\.self).filter { name in
          names.count { $0.contains(name) } * 2 > names.count
        }
      )
      return usual.count > 1
        && names.allSatisfy { $0.intersection(usual).count * 2 > min(usual.count, $0.count) }
    }
  }
}

extension JSONNode {
  /// The elements of a list, or the values of an object's members, without empty objects, which are no items.
  var entries: [JSONNode] {
    (kind == .object ? members.map(\.value) : elements).filter {
      $0.kind != .object || $0.count > 0
    }
  }

  /// The values around the items of a response, with the names that lead to them: `["meta", "total"]`.
  ///
  /// They are in at most four objects, one in the other, and not in lists. Of each object, 60 members are looked at. A
  /// list, and an object in the fourth object, is a value too.
  func envelope(_ outer: [String] = []) -> [(names: [String], value: JSONNode)] {
    members.prefix(60).flatMap { name, value in
      let names = outer + [name]
      return value.kind == .object && names.count < 4 ? value.envelope(names) : [(names, value)]
    }
  }
}

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

  /// A value that is equal for responses that the same keys of a catalog file can read.
  var likeness: [AnyHashable] {
    [place.kind, place.path, place.condition, place.member, program, notation]
  }

  /// Looks for the items in a response.
  ///
  /// - Parameter body: JSON, JSON Lines, a table or XML.
  /// - Throws: ``CatalogError`` when the body is none of these, or when nothing in it looks like items.
  init(_ body: [UInt8]) throws(CatalogError) {
    let (notation, body) = try ProposedNotation.lines(for: body)
    let response = try JSONDocument(parsing: body, of: "the response").root
    let program = JoiningProgram(for: response)
    // The output of the program is used only if it contains items.
    let joined = program?.applied(to: body)
    let found = joined.flatMap { Self.best(in: $0) }
    let strict = found ?? Self.best(in: response)
    guard let best = strict ?? Self.best(in: response, isLenient: true) else {
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
    confidence = rivals.isEmpty ? best.found.confidence : min(best.found.confidence, 0.6)
  }

  private typealias Found = (place: ItemPlace, confidence: Double, fields: ItemFields)

  /// The place whose objects look most like items, with the lists that look like them too.
  private static func best(
    in root: JSONNode,
    isLenient: Bool = false
  ) -> (found: Found, rivals: [Found], others: [Found], isLenient: Bool)? {
    var best: Found?
    var all: [Found] = []
    var unread: [ItemPlace] = []
    var leftOut: [[String]: [ItemPlace.OtherList]] = [:]
    for var place in ItemPlace.all(in: root) {
      var fields = fields(of: place, isLenient)
      var confidence = fields.confidence * MappingProposal.weight(of: place, fields)
      if !place.names.isEmpty {
        let arePriced = fields.arePriced(place.sections)
        let kept = place.keeping { fields.areItems($1, called: $0, arePriced) }
        if kept.names.count == 1 { leftOut[place.path + kept.names] = kept.leftOut }
        guard kept.names.count > 1 else { continue }
        if !kept.leftOut.isEmpty {
          (place, fields) = (kept, self.fields(of: kept, isLenient))
          // Beside lists of other things, each list of items can be the only one.
          confidence = min(
            confidence,
            fields.confidence * MappingProposal.weight(of: kept, fields)
          )
        }
      }
      if let title = fields.rareTitle(in: place.lists) {
        let others = place.items.filter { $0.count > 0 }
        place = place.keeping(itemsWith: title.place)
        fields = self.fields(of: place, isLenient)
        // An empty object is certainly no item.
        confidence = min(
          others.count > place.items.count ? FieldScore.doubt : 1,
          fields.confidence * MappingProposal.weight(of: place, fields)
        )
      }
      // The price can be in doubt only because there are several.
      let hasPrice = fields.rankings[.salePrice]?.contains(where: \.isSure) == true
      let isNamed = fields.rankings[.title]?.first?.isCalledTitle == true
      guard !isLenient || hasPrice || fields.showing > 0 || isNamed else { continue }
      guard fields.isUsable(in: place) else {
        if !isLenient, place.kind == .list { unread.append(place) }
        continue
      }
      // The same items can be in several lists of a response, for example as the featured ones.
      if place.hasOthers, fields.rankings[.id]?.first?.evidence.variety != 1 { continue }
      all.append((place, confidence, fields))
      // Of two lists that are as likely, such as the featured items and all items, the longer one is taken.
      let margin = place.items.count > (best?.place.items.count ?? 0) ? -0.02 : 0.02
      if best.map({ confidence > $0.confidence + margin }) ?? true {
        best = (place, confidence, fields)
      }
    }
    guard var best else { return nil }
    let outer = all.first { isOuter($0, of: best) || isWider($0, than: best) }
    var (rivals, others) = ([best], [Found]())
    if let outer {
      best = outer
    } else {
      // Goods that all have the same title are read leniently; beside categories, they are the items.
      let priced = best.fields.lackPrices ? unread.prefix(20).compactMap(Self.priced) : []
      let lists = (all + priced).filter { isBeside($0, best) }
      rivals = lists.filter { isRival($0, of: best) }
      others = lists.filter { !isRival($0, of: best) && $0.confidence >= FieldScore.sure }
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
    let fields = fields(of: place, true)
    guard fields.isUsable(in: place), fields.salePrice.contains(where: \.isSure) else {
      return nil
    }
    return (place, fields.confidence * MappingProposal.weight(of: place, fields), fields)
  }

  private static func fields(of place: ItemPlace, _ isLenient: Bool) -> ItemFields {
    ItemFields(
      EvidenceCollection(place.examined).all,
      isOneList: place.sections.isEmpty,
      isLenient: isLenient
    )
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
      && (wide.place.names.isEmpty || wide.place.names.contains(best.place.path.last ?? ""))
      && wide.confidence > best.confidence - 0.3
      && (areSections ? [.id, .title] : [.title]).allSatisfy {
        wide.fields.rankings[$0]?.first?.evidence.isRefused == false
      }
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
      && own.rankings[.id]?.first.map { $0.isSure && $0.evidence.variety == 1 } == true
      && !(own.thumbnail[0].evidence.place.isBorrowed)
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
  /// A longer list with prices can always be, beside a list without any, such as that of the categories.
  private static func isRival(_ other: Found, of best: Found) -> Bool {
    let isMoreShown = other.fields.showing > best.fields.showing
    let isPriced =
      best.fields.lackPrices && other.fields.salePrice.contains(where: \.isSure)
      && other.place.items.count > best.place.items.count
    return isPriced
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
    guard let id = rankings[.id]?.first?.evidence, let title = rankings[.title]?.first?.evidence
    else { return [] }
    return Set(id.pairs(with: title).map { [$0.0, $0.1] })
  }

  /// The field that is called a title and that a sync would refuse, because many objects of the list have no value there
  /// and no other title.
  ///
  /// - Returns: Nil too if these objects have another title, and most of them a price or a picture: then they are items.
  fileprivate func rareTitle(in lists: [[JSONNode]]) -> FieldEvidence? {
    let titles = alternatives(.title)
    let called = evidence.filter {
      $0.place.steps.allSatisfy { !$0.isList && $0.choice == nil } && $0.isText
        && FieldRules.confidence("title", NameWords.plain($0.place.name)) > 0.9
    }
    guard titles.count < 2, let best = called.max(by: { $0.held < $1.held }), best.held > 1,
      best.variety > 0.5
    else { return nil }
    func lacks(_ object: JSONNode) -> Bool {
      best.place.nodes(in: object).first?.text?.isEmpty ?? true
    }
    let lacking = lists.flatMap { $0.filter(lacks) }
    let shown = salePrice + normalPrice + thumbnail + gallery
    let areItems =
      titles.contains { $0.evidence.fills(best) }
      && lacking.count { shows(shown, $0) } * 2 > lacking.count
    let isRefused = lists.contains {
      SkipLimit.standard.refuses(lost: $0.count(where: lacks), of: $0.count)
    }
    return isRefused && !areItems ? best : nil
  }

  /// Whether an object has a value at one of the paths.
  func shows(_ scores: [FieldScore], _ object: JSONNode) -> Bool {
    scores.contains { score in score.evidence.place.nodes(in: object).contains { !$0.isEmpty } }
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
