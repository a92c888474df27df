/// Where the items of a response are.
struct ItemPlace {
  /// The shape around the items.
  enum Shape: Hashable {
    /// An array at a path, by the names that lead to it.
    case list(path: [String])
    /// Sections in an array at a path, each with its items in a member.
    case sections(path: [String], member: String)
    /// Arrays by the name of their section, in an object at a path.
    case sectionsByName(path: [String])
    /// Items by their id, in an object at a path.
    case itemsByID(path: [String])
  }

  /// The shape.
  let shape: Shape
  /// The items, in the order of the response.
  let items: [JSONNode]
  /// The sections, where the response has several; else empty.
  let sections: [JSONNode]

  /// The names that lead to it, outermost first.
  var path: [String] {
    switch shape {
    case .list(let path), .sections(let path, _), .sectionsByName(let path), .itemsByID(let path):
      path
    }
  }

  /// Every place that may hold items, outermost first.
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

    /// Adds arrays that the elements of an array have in a member of the same name.
    private mutating func addSections(_ elements: [JSONNode], at path: [String]) {
      var names: [String] = []
      for element in elements.prefix(50) {
        for (name, value) in element.members
        where value.kind == .array && !names.contains(name) && Search.areObjects(value.elements) {
          names.append(name)
        }
      }
      for name in names.prefix(10) {
        let lists = elements.filter { $0[name]?.kind == .array }
        guard lists.count == elements.count else { continue }
        found.append(
          ItemPlace(
            shape: .sections(path: path, member: name),
            items: lists.flatMap { $0[name]?.elements ?? [] },
            sections: elements
          )
        )
      }
    }

    /// Adds what an object holds by name: arrays of items, or items.
    private mutating func addByName(_ values: [JSONNode], at path: [String]) {
      if values.count > 1,
        values.allSatisfy({ $0.kind == .array && Search.areObjects($0.elements) })
      {
        found.append(
          ItemPlace(
            shape: .sectionsByName(path: path),
            items: values.flatMap(\.elements),
            sections: values
          )
        )
      }
      if values.count > 1, Search.areObjects(values), Search.areAlike(values) {
        found.append(ItemPlace(shape: .itemsByID(path: path), items: values, sections: []))
      }
    }

    private static func areObjects(_ nodes: [JSONNode]) -> Bool {
      !nodes.isEmpty && nodes.allSatisfy { $0.kind == .object }
    }

    /// Whether objects have most of their names in common.
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
