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
  /// The member names of the items if these are the members of one object; otherwise empty.
  var keys: [String] = []
  /// Whether some of the objects in ``sections`` or beside the items are empty, and therefore left out.
  ///
  /// In a list: whether more of its elements are empty, such as `<item/>`, than a sync bears.
  var hasEmpty = false
  /// Whether each item has a name of its own in the response, if the items are the members of objects.
  ///
  /// In `{"a": {"item1": {…}}, "b": {"item1": {…}}}`, two items have the same name.
  var areNamedApart = true
  /// The lists beside the items whose entries seem to be no items, such as `users`.
  var leftOut: [(path: [String], entries: [JSONNode])] = []

  /// The items that are examined; of items of a list that are equal in everything, the first.
  ///
  /// A list that was collected from several pages can have an item several times. A sync keeps it once.
  var examined: [JSONNode] {
    let chosen = EvidenceCollection.chosen(items)
    return kind == .list ? chosen.unique(by: \.stored) : chosen
  }

  /// The values at every path in the items, and their member names if these are their only titles.
  ///
  /// In `{"Espresso": {"price": 2, "size": "S"}, …}`, the transform gives each item its member name as `name`.
  var evidence: [FieldEvidence] {
    let all = EvidenceCollection(examined).all
    guard !keys.isEmpty else { return all }
    let names = FieldEvidence(EvidenceCollection.chosen(keys), at: Self.keyPlace)
    // Keys such as `c1` are ids.
    let areWords =
      names.share { $0.contains(" ") || !$0.utf8.contains { (0x30...0x39).contains($0) } } > 0.8
    let isPriced = all.contains { $0.isCalledPrice && $0.amountShare == 1 }
    let hasTitle =
      all.contains { $0.place == Self.keyPlace } || !all.ranking(.title).isEmpty
    return areWords && isPriced && !hasTitle ? all + [names] : all
  }

  /// The place to which the transform writes the member name of an item that is its title.
  static let keyPlace = FieldPlace(steps: [.init(name: "name")])

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
    kept.leftOut += some.filter { !$0.isKept }.map { (path + [$0.name], $0.list.entries) }
    some.removeAll { !$0.isKept }
    kept.names = some.map(\.name)
    kept.sections = some.map(\.list)
    kept.items = kept.sections.flatMap(\.entries)
    return kept
  }

  /// Whether some of the items are themselves groups: each holds a list of the name that the items' own list has.
  ///
  /// Groups at unequal depths, as in `{"node": [{"node": […]}, {"price": 7}]}`, cannot all be read with one path.
  var areNested: Bool {
    guard let list = member?.steps.last?.name ?? path.last, !list.isEmpty else { return false }
    let held = Set(items.prefix(200).flatMap { $0.members.map(\.name) })
    return items.contains { item in
      item[list]?.elements.contains { $0.members.count { held.contains($0.name) } > 1 } ?? false
    }
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
    kept.condition = "[?length(@\(place.first.dropFirst())) > 0]"
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
      let isRead = (all.count - objects.count) * 10 <= all.count
      let hasEmpty = !isRead && all.allSatisfy { $0.kind == .object || $0.isEmpty }
      let elements = isRead || hasEmpty ? objects : all
      if Self.areObjects(elements) {
        var place = ItemPlace(kind: .list, path: path, items: elements)
        place.hasEmpty = hasEmpty
        found.append(place)
        addSections(elements, at: path)
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
      for (object, own) in zip(objects, names) {
        let way = path + [FieldPlace.everyElement]
        if names.count(where: { !$0.isDisjoint(with: own) }) == 1 { visit(object, at: way) }
        // The only table of a database in `[{"type": "header"}, {"type": "table", "data": […]}]`.
        let others = zip(objects, names).filter { $1 != own }.map(\.0)
        guard others.count == objects.count - 1,
          others.allSatisfy({ $0.count < 4 && $0.members.allSatisfy { $0.value.kind == .string } })
        else { continue }
        for (name, value) in object.members where value.kind == .array {
          visit(value, at: way + [name])
        }
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
        var sections = ItemPlace(kind: .sections, path: path, items: lists.flatMap(\.self))
        (sections.member, sections.sections) = (place, elements)
        if areNotices, !others.isEmpty {
          sections.eachSection = "[?@\(FieldPlace.segment(name))]"
        }
        found.append(sections)
      }
    }

    /// Whether an object has a list of objects, or a member that is called a price or a picture.
    private static func isShown(_ object: JSONNode) -> Bool {
      object.members.contains { name, value in
        areObjects(value.elements) || FieldRules.isPicture(name)
          || PriceMeaning.isPriceMember(name)
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
      let items = sections.flatMap(member.nodes)
      var inner = ItemPlace(kind: .sections, path: path + [every] + way, items: items)
      (inner.member, inner.sections) = (member, sections)
      found.append(inner)
    }

    /// The paths to arrays of objects inside an element, at most three steps deep.
    ///
    /// An object that only holds a list, as `<offers>` holds each `<offer>`, is no step.
    private static func lists(
      in node: JSONNode,
      at place: FieldPlace,
      depth: Int = 0
    ) -> [FieldPlace] {
      guard depth < 3 else { return [] }
      return node.members.flatMap { name, value -> [FieldPlace] in
        if value.kind == .object {
          let isHolder = value.count == 1 && areObjects(value.members[0].value.elements)
          let depth = isHolder ? depth : depth + 1
          return lists(in: value, at: place.adding(name), depth: depth)
        }
        guard value.kind == .array, areObjects(value.elements) else { return [] }
        let list = place.adding(name).ofElements
        return [list] + lists(in: value.elements[0], at: list, depth: depth + 1)
      }
    }

    /// Adds an object if its members are possibly sections (arrays of items) or items.
    private mutating func addByName(
      _ named: [(name: String, value: JSONNode)],
      at path: [String]
    ) {
      let filled = named.filter { $0.value.kind != .object || $0.value.count > 0 }
      let values = filled.map(\.value)
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
        place.leftOut = others.map { (path + [$0.name], $0.value.entries) }
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
        var place = ItemPlace(kind: .sectionsByName, path: path, items: items)
        (place.member, place.sections) = (FieldPlace(steps: []).adding(member), values)
        found.append(place)
      }
      if Self.areAlike(values) {
        var place = ItemPlace(kind: .itemsByID, path: path, items: values)
        place.keys = filled.map(\.name)
        place.hasEmpty = values.count < named.count
        found.append(place)
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
      return lists.allSatisfy { list in
        let own = Set(list[0].members.map(\.name))
        let common = own.intersection(names)
        if isStrict {
          return common.count * 2 > max(own.count, names.count)
            && names.filter(PriceMeaning.isPriceMember).isSubset(of: common)
        }
        let isTelling = common.contains { name in
          FieldRules.isID(name) || FieldRules.isPicture(name) || PriceMeaning.isPriceMember(name)
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
