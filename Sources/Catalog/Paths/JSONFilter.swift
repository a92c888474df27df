/// A filter of a JSONPath, such as `@.price > 0` in `$.products[?@.price > 0]`. (RFC 9535, section 2.3.5)
///
/// It tests the children of a value, which are the elements of an array or the values of an object's members. The first
/// cases are conditions, which hold or not. The last ones are operands of comparisons and functions, which have one value
/// or none. A query can be both. (RFC 9535, section 2.4.1)
indirect enum JSONFilter: Hashable, Sendable {
  /// `||`
  case any([JSONFilter])
  /// `&&`
  case all([JSONFilter])
  /// `!`
  case not(JSONFilter)
  /// A comparison such as `@.price > 0`.
  ///
  /// It holds if the order of the operands, as ``ComparedValue/order(to:)`` returns it, is one of `orders`.
  case compares(JSONFilter, orders: [Int?], JSONFilter)
  /// `match(text, pattern)` if `isWhole` is true, otherwise `search(text, pattern)`.
  case finds(JSONFilter, Pattern, isWhole: Bool)
  /// A query such as `@.price`.
  ///
  /// As a condition, it must select at least one value. As an operand, it selects at most one.
  case query(Query)
  /// A value that the path contains, such as `1`.
  case literal(Literal)
  /// `length(value)`
  case length(JSONFilter)
  /// `count(query)`
  case count(Query)
  /// `value(query)`
  case value(Query)

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
      return orders.contains(try left.value(current, root).order(to: right.value(current, root)))
    case .finds(let text, let pattern, let isWhole):
      guard let text = try text.value(current, root).text else { return false }
      guard let regexp = try pattern.regexp(current, root) else { return false }
      let scalars = Array(text.unicodeScalars)
      try current.document.count(steps: 1 + scalars.count * regexp.size / 8)
      return regexp.matches(scalars, isWhole: isWhole)
    // The parser takes no other operand for a condition.
    case .literal, .length, .count, .value: return false
    }
  }

  /// The value of an operand.
  ///
  /// It is ``ComparedValue/nothing`` if there is none.
  func value(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> ComparedValue {
    switch self {
    case .literal(let literal): return .literal(literal)
    case .count(let query): return .literal(.integer(try query.values(current, root).count))
    case .query(let query), .value(let query):
      let values = try query.values(current, root)
      return values.count == 1 ? values[0].compared : .nothing
    case .length(let operand):
      switch try operand.value(current, root) {
      case .literal(.text(let text)): return .literal(.integer(text.unicodeScalars.count))
      case .structure(let node):
        try node.countLook()
        return .literal(.integer(node.count))
      default: return .nothing
      }
    case .any, .all, .not, .compares, .finds: return .nothing
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
      guard let text = try operand.value(current, root).text else { return nil }
      // A short pattern can have a long compiled form, so compiling counts as many steps.
      try current.document.count(steps: text.utf8.count + IRegexp.sizeLimit / 8)
      return try? IRegexp(parsing: text)
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

  /// The text if the value is one, otherwise nil.
  var text: String? {
    if case .literal(.text(let text)) = self { text } else { nil }
  }

  /// The order of two values: -1 if this one is less, 0 if they are equal, and 1 if this one is greater.
  ///
  /// It is nil for different values that are neither two numbers nor two texts. Numbers are compared by value, and texts
  /// by their Unicode scalars.
  func order(to other: ComparedValue) throws(CatalogError) -> Int? {
    switch (self, other) {
    case (.nothing, .nothing), (.literal(.null), .literal(.null)): return 0
    case (.literal(.boolean(let one)), .literal(.boolean(let two))): return one == two ? 0 : nil
    case (.literal(.integer(let one)), .literal(.integer(let two))): return Self.order(one, two)
    case (.literal(.text(let one)), .literal(.text(let two))):
      // The order of UTF-8 bytes is the order of Unicode scalars. Swift's own order of strings is another one, because
      // it treats composed and decomposed accents as equal.
      if one.utf8.elementsEqual(two.utf8) { return 0 }
      return one.utf8.lexicographicallyPrecedes(two.utf8) ? -1 : 1
    case (.structure(let one), .structure(let two)): return try one.equals(two) ? 0 : nil
    case (.literal(.real(let one)), .literal(.real(let two))): return Self.order(one, two)
    case (.literal(.real(let one)), .literal(.integer(let two))):
      return Self.order(one, Double(two))
    case (.literal(.integer(let one)), .literal(.real(let two))):
      return Self.order(Double(one), two)
    default: return nil
    }
  }

  private static func order<Number: Comparable>(_ one: Number, _ two: Number) -> Int {
    one == two ? 0 : one < two ? -1 : 1
  }
}

extension JSONNode {
  /// The value in comparisons.
  fileprivate var compared: ComparedValue {
    switch kind {
    case .array, .object: .structure(self)
    case .string: .literal(unsigned.map { .real(Double($0)) } ?? .text(text ?? ""))
    case .integer: .literal(.integer(integer ?? 0))
    case .real: .literal(.real(real ?? 0))
    case .boolean: .literal(.boolean(boolean ?? false))
    case .null: .literal(.null)
    }
  }

  /// Whether this array or object has the same content as another one.
  fileprivate func equals(_ other: JSONNode) throws(CatalogError) -> Bool {
    if isSamePlace(as: other) { return true }
    try countLook()
    guard kind == other.kind, count == other.count else { return false }
    for (one, two) in zip(elements, other.elements) {
      guard try one.compared.order(to: two.compared) == 0 else { return false }
    }
    for member in members {
      try other.countLook()
      guard let two = other[member.name], try member.value.compared.order(to: two.compared) == 0
      else { return false }
    }
    return true
  }
}
