/// A filter of a JSONPath, such as `@.price > 0` in `$.products[?@.price > 0]`. (RFC 9535, section 2.3.5)
///
/// It tests the children of a value, which are the elements of an array or the values of an object's members.
indirect enum JSONFilter: Hashable, Sendable {
  /// `||`
  case any([JSONFilter])
  /// `&&`
  case all([JSONFilter])
  /// `!`
  case not(JSONFilter)
  /// A query such as `@.price`, which must select at least one value.
  case exists(Query)
  /// A comparison such as `@.price > 0`.
  case compares(Operand, Comparison, Operand)
  /// `match(text, pattern)` if `isWhole` is true, otherwise `search(text, pattern)`.
  case finds(Operand, Pattern, isWhole: Bool)

  /// A path inside a filter.
  ///
  /// It starts at the tested child (`@`) or at the root of the document (`$`).
  struct Query: Hashable, Sendable {
    /// Whether the path starts at `@`.
    let isRelative: Bool
    /// The steps of the path.
    let segments: [JSONPath.Segment]

    /// Whether the query selects at most one value.
    var isSingular: Bool { segments.allSatisfy(\.isSingular) }
  }

  /// An operator between two values.
  enum Comparison: String, CaseIterable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"
  }

  /// An operand of a comparison or a function.
  ///
  /// It has one value or none. (RFC 9535, section 2.4.1, ValueType)
  indirect enum Operand: Hashable, Sendable {
    case literal(Literal)
    /// A query that selects at most one value.
    case only(Query)
    /// `length(value)`
    case length(Operand)
    /// `count(query)`
    case count(Query)
    /// `value(query)`
    case value(Query)
  }

  /// A value that is neither an array nor an object.
  enum Literal: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case real(Double)
    case text(String)
  }

  /// A regular expression. (RFC 9485)
  enum Pattern: Hashable, Sendable {
    /// A pattern that the path contains.
    case fixed(IRegexp)
    /// An invalid pattern that the path contains, at the position `place`. It matches nothing.
    case faulty(IRegexp.Fault, place: Int)
    /// A pattern that is the value of an operand, for example a text in the document.
    case computed(Operand)
  }
}

extension JSONFilter {
  /// The fault of the first invalid regular expression in the filter, and the expression's position in the path.
  ///
  /// It is nil if all regular expressions are valid.
  var faultyPattern: (fault: IRegexp.Fault, place: Int)? {
    switch self {
    case .any(let filters), .all(let filters):
      for filter in filters {
        if let found = filter.faultyPattern { return found }
      }
      return nil
    case .not(let filter): return filter.faultyPattern
    case .finds(_, .faulty(let fault, let place), _): return (fault, place)
    case .exists, .compares, .finds: return nil
    }
  }
}

extension JSONFilter {
  /// Whether a child passes the filter.
  ///
  /// - Parameters:
  ///   - current: The child. It is the value of `@`.
  ///   - root: The value of `$`.
  /// - Returns: Whether the child passes.
  /// - Throws: ``CatalogError`` with code `path-work` if all filters together take too many steps for the size of the
  ///   document.
  func holds(for current: JSONNode, root: JSONNode) throws(CatalogError) -> Bool {
    try current.document.count(steps: 1)
    switch self {
    case .any(let filters):
      for filter in filters where try filter.holds(for: current, root: root) { return true }
      return false
    case .all(let filters):
      for filter in filters where try !filter.holds(for: current, root: root) { return false }
      return true
    case .not(let filter): return try !filter.holds(for: current, root: root)
    case .exists(let query): return try query.exists(current, root)
    case .compares(let left, let comparison, let right):
      return try comparison.holds(left.value(current, root), right.value(current, root))
    case .finds(let text, let pattern, let isWhole):
      guard let text = try text.value(current, root).text else { return false }
      guard let regexp = try pattern.regexp(current, root) else { return false }
      let scalars = Array(text.unicodeScalars)
      try current.document.count(steps: 1 + scalars.count * regexp.size / 8)
      return regexp.matches(scalars, isWhole: isWhole)
    }
  }
}

extension JSONFilter.Query {
  /// The values that the query selects.
  func values(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> [JSONNode] {
    let start = isRelative ? current : root
    return try JSONPath.values(of: segments[...], from: start, root: root, isCounted: true)
  }

  /// The value of a singular query, or nil if the query selects none.
  ///
  /// A singular query selects at most one value.
  func only(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> JSONNode? {
    var value = isRelative ? current : root
    for segment in segments {
      try value.countLook()
      guard let next = try JSONPath.only(segment, of: value) else { return nil }
      value = next
    }
    return value
  }

  /// Whether the query selects at least one value.
  func exists(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> Bool {
    isSingular ? try only(current, root) != nil : try !values(current, root).isEmpty
  }
}

extension JSONFilter.Operand {
  /// The value of the operand.
  ///
  /// It is ``ComparedValue/nothing`` if there is none.
  func value(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> ComparedValue {
    switch self {
    case .literal(let literal): return .literal(literal)
    case .only(let query): return try ComparedValue(query.only(current, root))
    case .count(let query): return .literal(.integer(try query.values(current, root).count))
    case .value(let query):
      let values = try query.values(current, root)
      return ComparedValue(values.count == 1 ? values[0] : nil)
    case .length(let operand):
      switch try operand.value(current, root) {
      case .literal(.text(let text)): return .literal(.integer(text.unicodeScalars.count))
      case .structure(let node):
        try node.countLook()
        return .literal(.integer(node.count))
      default: return .nothing
      }
    }
  }
}

extension JSONFilter.Pattern {
  /// The regular expression, or nil if the pattern is not valid, so that it matches nothing.
  func regexp(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> IRegexp? {
    switch self {
    case .fixed(let regexp): return regexp
    case .faulty: return nil
    case .computed(let operand):
      guard let text = try operand.value(current, root).text else { return nil }
      // A short pattern can have a long compiled form, so compiling counts as many steps.
      try current.document.count(steps: text.utf8.count + IRegexp.sizeLimit / 8)
      do throws(IRegexp.Fault) {
        return try IRegexp(parsing: text)
      } catch {
        return nil
      }
    }
  }
}

extension JSONFilter.Comparison {
  /// Whether the comparison holds for two values. (RFC 9535, section 2.3.5.2.2)
  func holds(_ left: ComparedValue, _ right: ComparedValue) throws(CatalogError) -> Bool {
    switch self {
    case .equal: try left.equals(right)
    case .notEqual: try !left.equals(right)
    case .less: left.precedes(right)
    case .greater: right.precedes(left)
    case .atMost: left.precedes(right) ? true : try left.equals(right)
    case .atLeast: right.precedes(left) ? true : try left.equals(right)
    }
  }
}

/// A value in a comparison. (RFC 9535, section 2.3.5.2.2)
enum ComparedValue {
  /// No value, which is something else than `null`.
  case nothing
  /// A value that is neither an array nor an object.
  case literal(JSONFilter.Literal)
  /// An array or an object.
  case structure(JSONNode)

  /// Makes a value of a node.
  ///
  /// Without a node, it is ``nothing``.
  init(_ node: JSONNode?) {
    guard let node else {
      self = .nothing
      return
    }
    switch node.kind {
    case .array, .object: self = .structure(node)
    case .string:
      self = .literal(node.unsigned.map { .real(Double($0)) } ?? .text(node.text ?? ""))
    case .integer: self = .literal(.integer(node.integer ?? 0))
    case .real: self = .literal(.real(node.real ?? 0))
    case .boolean: self = .literal(.boolean(node.boolean ?? false))
    case .null: self = .literal(.null)
    }
  }

  /// The text if the value is one, otherwise nil.
  var text: String? {
    if case .literal(.text(let text)) = self { text } else { nil }
  }

  /// Whether both values are equal.
  ///
  /// Numbers are compared by value, and texts by their Unicode scalars.
  func equals(_ other: ComparedValue) throws(CatalogError) -> Bool {
    switch (self, other) {
    case (.nothing, .nothing): true
    case (.literal(let one), .literal(let two)): one.equals(two)
    case (.structure(let one), .structure(let two)): try one.equals(two)
    default: false
    }
  }

  /// Whether this value is less than another one.
  ///
  /// Only two numbers or two texts can be compared.
  func precedes(_ other: ComparedValue) -> Bool {
    switch (self, other) {
    case (.literal(.integer(let one)), .literal(.integer(let two))): one < two
    case (.literal(.text(let one)), .literal(.text(let two))):
      // The order of UTF-8 bytes is the order of Unicode scalars. Swift's own order of strings is another one, because
      // it treats composed and decomposed accents as equal.
      one.utf8.lexicographicallyPrecedes(two.utf8)
    case (.literal(let one), .literal(let two)):
      if let one = one.number, let two = two.number { one < two } else { false }
    default: false
    }
  }
}

extension JSONFilter.Literal {
  /// The number if the value is one, otherwise nil.
  var number: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .real(let real): real
    default: nil
    }
  }

  /// Whether both values are equal.
  ///
  /// For example, 1 and 1.0 are.
  func equals(_ other: Self) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.boolean(let one), .boolean(let two)): one == two
    case (.integer(let one), .integer(let two)): one == two
    case (.text(let one), .text(let two)): one.utf8.elementsEqual(two.utf8)
    default: if let one = number, let two = other.number { one == two } else { false }
    }
  }
}

extension JSONNode {
  /// Whether this array or object has the same content as another one.
  fileprivate func equals(_ other: JSONNode) throws(CatalogError) -> Bool {
    if isSamePlace(as: other) { return true }
    try countLook()
    guard kind == other.kind, count == other.count else { return false }
    if kind == .array {
      for (one, two) in zip(elements, other.elements) {
        guard try ComparedValue(one).equals(ComparedValue(two)) else { return false }
      }
      return true
    }
    for member in members {
      try other.countLook()
      guard let two = other[member.name] else { return false }
      guard try ComparedValue(member.value).equals(ComparedValue(two)) else { return false }
    }
    return true
  }
}
