extension JSONFilter {
  /// Whether a child is taken.
  ///
  /// - Parameters:
  ///   - current: What `@` stands for.
  ///   - root: What `$` stands for.
  /// - Returns: Whether the condition holds.
  /// - Throws: ``CatalogError`` with code `path-work` when the document's filters take too many steps.
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
  /// What the query leads to.
  func values(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> [JSONNode] {
    let start = isRelative ? current : root
    return try JSONPath.values(of: segments[...], from: start, root: root, isCounted: true)
  }

  /// What a query that leads to one value at most leads to.
  func only(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> JSONNode? {
    var value = isRelative ? current : root
    for segment in segments {
      try value.countLook()
      guard let next = try JSONPath.only(segment, of: value) else { return nil }
      value = next
    }
    return value
  }

  /// Whether the query leads to anything.
  func exists(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> Bool {
    isSingular ? try only(current, root) != nil : try !values(current, root).isEmpty
  }
}

extension JSONFilter.Operand {
  /// The value, which may be nothing.
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
  /// The regular expression; nil when it is none, and so matches nothing.
  func regexp(_ current: JSONNode, _ root: JSONNode) throws(CatalogError) -> IRegexp? {
    switch self {
    case .fixed(let regexp): return regexp
    case .faulty: return nil
    case .computed(let operand):
      guard let text = try operand.value(current, root).text else { return nil }
      // Reading the pattern and what it becomes, which may be long where the pattern is short.
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
  /// Whether two values compare so. (RFC 9535, section 2.3.5.2.2)
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
