/// Which of a value's children a path takes: what stands behind `?`. (RFC 9535, section 2.3.5)
indirect enum JSONFilter: Hashable, Sendable {
  /// `||`
  case any([JSONFilter])
  /// `&&`
  case all([JSONFilter])
  /// `!`
  case not(JSONFilter)
  /// A query that must lead to something.
  case exists(Query)
  /// `left == right` and the like.
  case compares(Operand, Comparison, Operand)
  /// `match(text, pattern)` and `search(text, pattern)`.
  case finds(Operand, Pattern, isWhole: Bool)

  /// A path from the child in question (`@`) or from the root (`$`).
  struct Query: Hashable, Sendable {
    /// Whether it starts at `@`.
    let isRelative: Bool
    /// The steps.
    let segments: [JSONPath.Segment]

    /// Whether the query leads to one value at most.
    var isSingular: Bool { segments.allSatisfy(\.isSingular) }
  }

  /// How two values are compared.
  enum Comparison: String, CaseIterable, Sendable {
    case equal = "=="
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case less = "<"
    case greater = ">"
  }

  /// What has one value, or none. (RFC 9535, section 2.4.1, ValueType)
  indirect enum Operand: Hashable, Sendable {
    case literal(Literal)
    /// A query that leads to one value at most.
    case only(Query)
    /// `length(value)`
    case length(Operand)
    /// `count(query)`
    case count(Query)
    /// `value(query)`
    case value(Query)
  }

  /// A value that is no array and no object.
  enum Literal: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case real(Double)
    case text(String)
  }

  /// A regular expression. (RFC 9485)
  enum Pattern: Hashable, Sendable {
    /// One that the path spells out.
    case fixed(IRegexp)
    /// An invalid one that the path spells out. It matches nothing; `place` is its position.
    case faulty(IRegexp.Fault, place: Int)
    /// One that an operand gives, such as a value in the document.
    case computed(Operand)
  }
}

extension JSONFilter {
  /// The first invalid regular expression in it, with its place in the path; nil when all are valid.
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
