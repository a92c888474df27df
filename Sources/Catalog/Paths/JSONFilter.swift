/// A filter of a JSONPath, such as `@.price > 0` in `$.products[?@.price > 0]`. (RFC 9535, section 2.3.5)
///
/// It tests the children of a value, which are the elements of an array or the values of an object's members. The first
/// cases are conditions, which hold or not. The last ones are operands of comparisons and functions, which have one value
/// or none. A query can be both. (RFC 9535, section 2.4.1)
indirect enum JSONFilter: Equatable, Sendable {
  /// `||`
  case any([JSONFilter])
  /// `&&`
  case all([JSONFilter])
  /// `!`
  case not(JSONFilter)
  /// A comparison such as `@.price > 0`.
  ///
  /// It holds if the ``JSONNode/order(of:to:)`` of the operands is one of `orders`.
  case compares(JSONFilter, orders: [Int?], JSONFilter)
  /// `match(text, pattern)` if `isWhole` is true, otherwise `search(text, pattern)`.
  case finds(JSONFilter, Pattern, isWhole: Bool)
  /// A query such as `@.price`.
  ///
  /// As a condition, it must select at least one value. As an operand, it selects at most one.
  case query(Query)
  /// A value that the path contains, such as `1`.
  case literal(JSONNode)
  /// `length(value)`
  case length(JSONFilter)
  /// `count(query)`
  case count(Query)
  /// `value(query)`
  case value(Query)

  /// A path inside a filter.
  ///
  /// It starts at the tested child (`@`) or at the root of the document (`$`).
  struct Query: Equatable, Sendable {
    /// Whether the path starts at `@`.
    let isRelative: Bool
    /// The steps of the path.
    let segments: [JSONPath.Segment]

    /// Whether the query selects at most one value.
    var isSingular: Bool { segments.allSatisfy(\.isSingular) }
  }

  /// A regular expression. (RFC 9485)
  enum Pattern: Equatable, Sendable {
    /// A pattern that the path contains, or nil if it is invalid, so that it matches nothing.
    case fixed(IRegexp?)
    /// A pattern that is the value of an operand, for example a text in the document.
    case computed(JSONFilter)
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
    case .query(let query): return try !query.values(current, root).isEmpty
    case .compares(let left, let orders, let right):
      let (left, right) = (try left.value(current, root), try right.value(current, root))
      return orders.contains(try JSONNode.order(of: left, to: right))
    case .finds(let text, let pattern, let isWhole):
      guard let text = try text.value(current, root)?.string else { return false }
      guard let regexp = try pattern.regexp(current, root) else { return false }
      let scalars = Array(text.unicodeScalars)
      try current.document.count(steps: 1 + scalars.count * regexp.size / 8)
      return regexp.matches(scalars, isWhole: isWhole)
    // The parser takes no other operand for a condition.
    case .literal, .length, .count, .value: return false
    }
  }

  /// The value of an operand, or nil if there is none, which is something else than `null`.
  func value(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> JSONNode? {
    switch self {
    case .literal(let literal): return literal
    case .count(let query): return try JSONNode(number: query.values(current, root).count)
    case .query(let query), .value(let query):
      let values = try query.values(current, root)
      return values.count == 1 ? values[0] : nil
    case .length(let operand):
      guard let node = try operand.value(current, root) else { return nil }
      if let text = node.string { return try JSONNode(number: text.unicodeScalars.count) }
      guard node.kind == .array || node.kind == .object else { return nil }
      try node.countLook()
      return try JSONNode(number: node.count)
    case .any, .all, .not, .compares, .finds: return nil
    }
  }
}

extension JSONFilter.Query {
  /// The values that the query selects.
  func values(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> [JSONNode] {
    let start = isRelative ? current : root
    return try JSONPath.values(of: segments[...], from: start, root: root, isCounted: true)
  }
}

extension JSONFilter.Pattern {
  /// The regular expression, or nil if the pattern is not valid, so that it matches nothing.
  func regexp(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> IRegexp? {
    switch self {
    case .fixed(let regexp): return regexp
    case .computed(let operand):
      guard let text = try operand.value(current, root)?.string else { return nil }
      // A short pattern can have a long compiled form, so compiling counts as many steps.
      try current.document.count(steps: text.utf8.count + IRegexp.sizeLimit / 8)
      return try? IRegexp(parsing: text)
    }
  }
}

/// Comparisons of values. (RFC 9535, section 2.3.5.2.2)
extension JSONNode {
  /// A value that a path contains, as JSON.
  init(literal json: String) throws(CatalogError) {
    self = try JSONDocument(parsing: Array(json.utf8)).root
  }

  fileprivate init(number: Int) throws(CatalogError) { try self.init(literal: String(number)) }

  /// The text if the value is one, and no number that larder reads as a text.
  fileprivate var string: String? { unsigned == nil ? text : nil }

  /// The number, in any of its forms.
  private var number: Double? {
    // `Double.init` of a UInt64 could also mean its bit pattern.
    integer.map { Double($0) } ?? real ?? unsigned.map { Double($0) }
  }

  /// The order of two values: -1 if the first is less, 0 if they are equal, and 1 if the first is greater.
  ///
  /// It is nil for different values that are neither two numbers nor two texts. Numbers are compared by value, and texts
  /// by their Unicode scalars.
  fileprivate static func order(
    of one: JSONNode?,
    to other: JSONNode?
  ) throws(CatalogError) -> Int? {
    guard let one, let other else { return one == nil && other == nil ? 0 : nil }
    if let one = one.integer, let other = other.integer { return order(one, other) }
    if let one = one.number, let other = other.number { return order(one, other) }
    if let one = one.string?.utf8, let other = other.string?.utf8 {
      // The order of UTF-8 bytes is the order of Unicode scalars. Swift's own order of strings is another one, because
      // it treats composed and decomposed accents as equal.
      return one.elementsEqual(other) ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    }
    return try one.equals(other) ? 0 : nil
  }

  private static func order<Number: Comparable>(_ one: Number, _ other: Number) -> Int {
    one == other ? 0 : one < other ? -1 : 1
  }

  /// Whether two values that are neither two numbers nor two texts have the same content.
  private func equals(_ other: JSONNode) throws(CatalogError) -> Bool {
    if self == other { return true }
    try countLook()
    guard kind == other.kind, kind != .string, boolean == other.boolean, count == other.count
    else { return false }
    for (one, two) in zip(elements, other.elements) {
      guard try Self.order(of: one, to: two) == 0 else { return false }
    }
    for member in members {
      try other.countLook()
      guard let two = other[member.name], try Self.order(of: member.value, to: two) == 0
      else { return false }
    }
    return true
  }
}
