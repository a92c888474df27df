/// A path that selects values in a JSON document, such as `$.products[?@.price > 0].images[0]`. (RFC 9535)
///
/// A path can be applied to hostile documents, because the work for it is limited in proportion to the size of the
/// document. The regular expressions of its filters take time in proportion to the text. (RFC 9485)
public struct JSONPath: Sendable, CustomStringConvertible {
  /// The path as it was written.
  public let description: String
  /// The steps of the path, in order.
  let segments: [Segment]
  /// Whether the path selects at most one value in every document. (RFC 9535, section 2.3.5.1)
  let isSingular: Bool
  /// The error about the first invalid regular expression in the path, or nil if all are valid.
  ///
  /// According to RFC 9535, an invalid expression matches nothing. In a catalog file, it is an error instead.
  let faultyPattern: CatalogError?

  /// One step of a path, such as `.images` or `[0]`. (RFC 9535, section 2.5)
  struct Segment: Equatable, Sendable {
    /// Whether the step begins with `..`.
    ///
    /// If so, its selectors apply to a value and to all its descendants.
    let isDescendant: Bool
    let selectors: [Selector]

    /// The selector of the step, or nil if it has several or begins with `..`.
    var onlySelector: Selector? { isDescendant || selectors.count != 1 ? nil : selectors[0] }

    /// Whether the step selects at most one value when it is applied to one value.
    var isSingular: Bool {
      switch onlySelector {
      case .name, .index: true
      default: false
      }
    }
  }

  /// A part of a step that selects children of a value. (RFC 9535, section 2.3)
  enum Selector: Equatable, Sendable {
    case name(String)
    case wildcard
    case index(Int)
    case slice(start: Int?, end: Int?, step: Int)
    case filter(JSONFilter)
  }

  /// Reads a path.
  ///
  /// - Parameter text: A query such as `$.products[?@.price > 0].images[0]`.
  /// - Throws: ``CatalogError`` with code `json-path`. Its column is the position in `text`.
  public init(parsing text: String) throws(CatalogError) {
    var parser = JSONPathParser(text)
    let segments = try parser.parse()
    self.init(description: text, segments: segments, faultyPattern: parser.faultyPattern)
  }

  /// Makes a path of steps that are parsed already.
  init(description: String, segments: [Segment], faultyPattern: CatalogError? = nil) {
    self.description = description
    self.segments = segments
    self.faultyPattern = faultyPattern
    isSingular = segments.allSatisfy(\.isSingular)
  }

  /// The last member name in the path, which is the shop's name for the selected values, or nil if there is none.
  var lastName: String? {
    for segment in segments.reversed() {
      for case .name(let name) in segment.selectors { return name }
    }
    return nil
  }

  /// Whether the path ends with a wildcard, which can select the members of an object instead of an array's elements.
  var endsInMembers: Bool { segments.last?.selectors.contains(.wildcard) ?? false }

  /// The path without the wildcard, slice or filter at its end.
  ///
  /// For example, `$.products` for `$.products[?@.price]`.
  ///
  /// It is nil if the path has another end.
  var withoutLastChoice: JSONPath? {
    switch segments.last?.onlySelector {
    case .wildcard, .slice, .filter:
      JSONPath(description: description, segments: segments.dropLast())
    default: nil
    }
  }
}

extension JSONPath: Hashable {
  /// Whether both are the same part of paths that are written in the same way.
  public static func == (one: JSONPath, other: JSONPath) -> Bool {
    one.description == other.description && one.segments.count == other.segments.count
  }

  /// Hashes the text of the path.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension JSONPath {
  /// All values that the path selects, in the order of RFC 9535.
  ///
  /// - Parameter root: The value of `$`.
  /// - Returns: The values. The same value can occur more than once.
  /// - Throws: ``CatalogError`` with code `path-work` if filters and `..` take too many steps for the size of the
  ///   document.
  public func values(in root: JSONNode) throws(CatalogError) -> [JSONNode] {
    if isSingular { return try firstValue(in: root).map { [$0] } ?? [] }
    return try Self.values(of: segments[...], from: root, root: root, isCounted: false)
  }

  /// The first value that the path selects.
  ///
  /// - Parameter root: The value of `$`.
  /// - Returns: The value, or nil if there is none.
  /// - Throws: ``CatalogError`` under the same condition as ``values(in:)``.
  public func firstValue(in root: JSONNode) throws(CatalogError) -> JSONNode? {
    var value = root
    for (index, segment) in segments.enumerated() {
      let next: JSONNode?
      switch segment.onlySelector {
      case .name(let name): next = value[name]
      case .index(let position): next = value.element(at: position)
      default:
        let rest = segments[index...]
        return try Self.values(of: rest, from: value, root: root, isCounted: false).first
      }
      guard let next else { return nil }
      value = next
    }
    return value
  }

  /// The outermost arrays from which the path chooses elements, such as those of `$.products` for
  /// `$.products[*].variants[*]`, and whether it chooses again inside of them.
  ///
  /// If the path chooses none, these are the values themselves.
  func firstLists(in root: JSONNode) throws(CatalogError) -> (lists: [JSONNode], isNested: Bool) {
    for count in segments.indices {
      if case .name = segments[count].onlySelector { continue }
      let path = JSONPath(description: description, segments: Array(segments[..<count]))
      let lists = try path.values(in: root)
      guard !lists.isEmpty, lists.allSatisfy({ $0.kind == .array }) else { continue }
      return (lists, lists.count > 1 || segments[(count + 1)...].contains { !$0.isSingular })
    }
    let lists = try values(in: root).filter { $0.kind == .array }
    return (lists, lists.count > 1)
  }

  /// The first value that the path selects; of an XML element with attributes, its text.
  ///
  /// - Throws: ``CatalogError`` under the same condition as ``values(in:)``.
  func firstContent(in root: JSONNode) throws(CatalogError) -> JSONNode? {
    try firstValue(in: root)?.content
  }

  /// The values that a sequence of steps selects.
  ///
  /// - Parameters:
  ///   - segments: The steps.
  ///   - start: The value that the first step is applied to.
  ///   - root: The value of `$` in filters.
  ///   - isCounted: Whether every step counts towards the limit of the document. This is true inside filters.
  ///     Otherwise, only `..` counts.
  /// - Returns: The values.
  /// - Throws: ``CatalogError`` under the same condition as ``values(in:)``.
  static func values(
    of segments: ArraySlice<Segment>,
    from start: JSONNode,
    root: JSONNode,
    isCounted: Bool
  ) throws(CatalogError) -> [JSONNode] {
    var values = [start]
    for segment in segments {
      var selected: [JSONNode] = []
      for value in values {
        if segment.isDescendant {
          try segment.descend(value, root, into: &selected)
        } else {
          if isCounted { try value.countLook() }
          try segment.select(value, root, into: &selected)
        }
      }
      values = selected
    }
    return values
  }

  /// The indices that a slice selects from an array. (RFC 9535, section 2.3.4.2.2)
  fileprivate static func slice(
    of count: Int,
    start: Int?,
    end: Int?,
    step: Int
  ) -> StrideTo<Int> {
    guard step != 0 else { return stride(from: 0, to: 0, by: 1) }
    let (least, most) = step > 0 ? (0, count) : (-1, count - 1)
    func position(_ index: Int) -> Int { min(max(index < 0 ? index + count : index, least), most) }
    return stride(
      from: start.map(position) ?? (step > 0 ? least : most),
      to: end.map(position) ?? (step > 0 ? most : least),
      by: step
    )
  }
}

extension JSONPath.Segment {
  /// Applies the selectors to a value, and then to all its descendants.
  ///
  /// Parents come before their children.
  fileprivate func descend(
    _ value: JSONNode,
    _ root: JSONNode,
    into selected: inout [JSONNode]
  ) throws(CatalogError) {
    try value.countLook()
    try select(value, root, into: &selected)
    for child in value.children { try descend(child, root, into: &selected) }
  }

  /// Applies the selectors to a value.
  ///
  /// `root` is the value of `$` in filters.
  fileprivate func select(
    _ value: JSONNode,
    _ root: JSONNode,
    into selected: inout [JSONNode]
  ) throws(CatalogError) {
    for selector in selectors {
      switch selector {
      case .name(let name):
        if let member = value[name] { selected.append(member) }
      case .wildcard: selected += value.children
      case .index(let index):
        if let element = value.element(at: index) { selected.append(element) }
      case .slice(let start, let end, let step):
        let elements = value.elements
        let positions = JSONPath.slice(of: elements.count, start: start, end: end, step: step)
        selected += positions.map { elements[$0] }
      case .filter(let filter):
        for child in value.children where try filter.holds(for: child, root: root) {
          selected.append(child)
        }
      }
    }
  }
}

extension JSONNode {
  /// The element at an index.
  ///
  /// If the index is negative, it counts from the end. The result is nil if there is no such element.
  func element(at index: Int) -> JSONNode? { self[index < 0 ? count + index : index] }
}
