/// A place in a response that possibly has the items, such as an array of objects.
struct ItemPlace {
  /// The path to the place, and the structure that the items have there.
  enum Shape: Hashable {
    /// An array at a path, given by member names: `["data", "products"]`.
    case list(path: [String])
    /// An array of sections at a path. Each section has its items in `member`: `{"groups": [{"dishes": […]}]}`.
    case sections(path: [String], member: FieldPlace)
    /// An object at a path. Each of its members is a section: `{"Cards": […], "Prints": […]}`.
    ///
    /// If `member` is not nil, each section is an object that has its items in this member.
    case sectionsByName(path: [String], member: String?)
    /// An object at a path. Each of its members is an item: `{"c1": {…}, "c2": {…}}`.
    case itemsByID(path: [String])
  }

  let shape: Shape
  /// The items, in the order of the response.
  let items: [JSONNode]
  /// The sections, if the response has several; otherwise empty.
  let sections: [JSONNode]

  /// The member names on the path to the place, the outermost first.
  var path: [String] {
    switch shape {
    case .list(let path), .itemsByID(let path), .sections(let path, _),
      .sectionsByName(let path, _):
      path
    }
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
      if node.kind == .array {
        let elements = node.elements
        guard Search.areObjects(elements) else { return }
        found.append(ItemPlace(shape: .list(path: path), items: elements, sections: []))
        addSections(elements, at: path)
        return
      }
      guard node.kind == .object else { return }
      let members = node.members
      addByName(members.map(\.value), at: path)
      for (name, value) in members {
        visit(value, at: path + [name])
      }
    }

    /// Adds an array if its elements are possibly sections: each element has an array of objects at the same path.
    ///
    /// Such paths are, for example, `products`, `products.nodes` and `groups[*].dishes`.
    private mutating func addSections(_ elements: [JSONNode], at path: [String]) {
      var places: [FieldPlace] = []
      for element in elements.prefix(50) {
        Self.lists(in: element, at: FieldPlace(steps: []), into: &places)
      }
      for place in places.prefix(20) {
        let lists = elements.map { place.nodes(in: $0) }
        guard lists.contains(where: { !$0.isEmpty }),
          lists.allSatisfy({ $0.isEmpty || Search.areObjects($0) })
        else { continue }
        let isWhole = zip(elements, lists).allSatisfy { element, list in
          !list.isEmpty || place.steps.first.flatMap { element[$0.name] } != nil
        }
        guard isWhole else { continue }
        addDeeper(elements, at: path, by: place)
        found.append(
          ItemPlace(
            shape: .sections(path: path, member: place),
            items: lists.flatMap(\.self),
            sections: elements
          )
        )
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
      var way = path + [FieldPlace.everyElement]
      for (position, step) in outer.steps.enumerated() {
        way.append(step.name)
        if step.isList, position < last { way.append(FieldPlace.everyElement) }
      }
      found.append(
        ItemPlace(
          shape: .sections(path: way, member: member),
          items: sections.flatMap { member.nodes(in: $0) },
          sections: sections
        )
      )
    }

    /// Finds the paths to arrays of objects inside an element, at most three steps deep.
    private static func lists(
      in node: JSONNode,
      at place: FieldPlace,
      into places: inout [FieldPlace]
    ) {
      guard place.steps.count < 3 else { return }
      for (name, value) in node.members {
        var next = place
        switch value.kind {
        case .array:
          guard areObjects(value.elements) else { continue }
          next.steps.append(FieldPlace.Step(name: name, isList: true))
          if !places.contains(next) { places.append(next) }
          if let first = value.elements.first { lists(in: first, at: next, into: &places) }
        case .object:
          next.steps.append(FieldPlace.Step(name: name))
          lists(in: value, at: next, into: &places)
        default: continue
        }
      }
    }

    /// Adds an object if its members are possibly sections (arrays of items) or items.
    private mutating func addByName(_ values: [JSONNode], at path: [String]) {
      if values.count > 1,
        values.allSatisfy({ $0.kind == .array && Search.areObjects($0.elements) })
      {
        found.append(
          ItemPlace(
            shape: .sectionsByName(path: path, member: nil),
            items: values.flatMap(\.elements),
            sections: values
          )
        )
      }
      if values.count > 1, Search.areObjects(values) {
        let members = values[0].members.filter { Search.areObjects($0.value.elements) }.map(\.name)
        for member in members.prefix(10) where values.allSatisfy({ $0[member]?.kind == .array }) {
          let lists = values.flatMap { $0[member]?.elements ?? [] }
          guard Search.areObjects(lists) else { continue }
          found.append(
            ItemPlace(
              shape: .sectionsByName(path: path, member: member),
              items: lists,
              sections: values
            )
          )
        }
      }
      if values.count > 1, Search.areObjects(values), Search.areAlike(values) {
        found.append(ItemPlace(shape: .itemsByID(path: path), items: values, sections: []))
        // For example `{"sites": {"a": {"goods": {"1": …}}, "b": {"goods": {"2": …}}}}`.
        for (name, first) in values[0].members.prefix(10) where first.kind == .object {
          let inner = values.flatMap { $0[name]?.members.map(\.value) ?? [] }
          guard inner.count > 1, Search.areObjects(inner), Search.areAlike(inner) else { continue }
          let way = path + [FieldPlace.everyElement, name]
          found.append(ItemPlace(shape: .itemsByID(path: way), items: inner, sections: []))
        }
      }
    }

    private static func areObjects(_ nodes: [JSONNode]) -> Bool {
      !nodes.isEmpty && nodes.allSatisfy { $0.kind == .object }
    }

    /// Whether each object has most of its member names in common with the first object.
    private static func areAlike(_ nodes: [JSONNode]) -> Bool {
      let first = Set(nodes[0].members.map(\.name))
      guard first.count > 1 else { return false }
      return nodes.prefix(20).allSatisfy { node in
        let names = Set(node.members.map(\.name))
        return names.intersection(first).count * 2 > max(first.count, names.count)
      }
    }
  }
}

/// A response that no built-in format fits, with the items that were found in it.
struct ResponseLook {
  /// The lines that describe the response's notation in a catalog file, such as `read: csv`; empty for JSON.
  let notation: [String]
  /// The response, converted to JSON.
  let response: JSONNode
  /// The root of the paths to the items: the response, or the output of ``program``.
  let root: JSONNode
  /// The program that makes items of the response, or nil if the response already has items.
  let program: JoiningProgram?
  /// The place in ``root`` where the items are.
  let place: ItemPlace
  /// The confidence that the items are at ``place``, from 0 to slightly above 1.
  let confidence: Double
  let fields: ItemFields

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
    let found = joined.flatMap(Self.best)
    guard let best = found ?? Self.best(in: response) else {
      throw MappingProposal.nothingFound(in: response)
    }
    self.notation = notation
    self.response = response
    root = found == nil ? response : joined ?? response
    self.program = found == nil ? nil : program
    place = best.place
    confidence = best.confidence
    fields = best.fields
  }

  private typealias Found = (place: ItemPlace, confidence: Double, fields: ItemFields)

  /// The place whose objects look most like items.
  private static func best(in root: JSONNode) -> Found? {
    var best: Found?
    for place in ItemPlace.all(in: root) {
      let fields = ItemFields(EvidenceCollection(place.items).all)
      let confidence = fields.confidence * MappingProposal.weight(of: place)
      if fields.isUsable(in: place), confidence > (best?.confidence ?? 0) {
        best = (place, confidence, fields)
      }
    }
    return best
  }
}
