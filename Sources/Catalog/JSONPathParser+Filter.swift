/// What stands behind `?`. (RFC 9535, section 2.3.5.1)
extension JSONPathParser {
  /// Conditions of which one must hold.
  mutating func filter() throws(CatalogError) -> JSONFilter {
    try nested { parser throws(CatalogError) in
      var filters = [try parser.conjunction()]
      while parser.takeOperator("||") { filters.append(try parser.conjunction()) }
      return filters.count == 1 ? filters[0] : .any(filters)
    }
  }

  /// Conditions that must all hold.
  private mutating func conjunction() throws(CatalogError) -> JSONFilter {
    var filters = [try condition()]
    while takeOperator("&&") { filters.append(try condition()) }
    return filters.count == 1 ? filters[0] : .all(filters)
  }

  private mutating func condition() throws(CatalogError) -> JSONFilter {
    skipSpace()
    if take("!") {
      skipSpace()
      return .not(peek == "(" ? try bracketedFilter() : try test(term()))
    }
    if peek == "(" { return try bracketedFilter() }
    let left = try term()
    guard let comparison = takeComparison() else { return try test(left) }
    let leftOperand = try operand(left)
    skipSpace()
    let right = try term()
    return .compares(leftOperand, comparison, try operand(right))
  }

  private mutating func bracketedFilter() throws(CatalogError) -> JSONFilter {
    advance()
    skipSpace()
    let filter = try filter()
    skipSpace()
    guard take(")") else { throw error("\"&&\", \"||\" or \")\"") }
    return filter
  }

  /// What a term says by itself: that a query leads somewhere, or that a text matches.
  private func test(_ term: Term) throws(CatalogError) -> JSONFilter {
    switch term.kind {
    case .query(let query): return .exists(query)
    case .finding(let filter): return filter
    case .operand: throw error("a comparison, such as \"== 1\"")
    }
  }

  /// What a term stands for in a comparison or as a function's value.
  private func operand(_ term: Term) throws(CatalogError) -> JSONFilter.Operand {
    switch term.kind {
    case .operand(let operand): return operand
    case .query(let query) where query.isSingular: return .only(query)
    case .query:
      throw error("a path that leads to one value at most; write value(…)", at: term.position)
    case .finding:
      throw error("a value; match and search are true or false by themselves", at: term.position)
    }
  }

  private mutating func takeComparison() -> JSONFilter.Comparison? {
    JSONFilter.Comparison.allCases.first { takeOperator($0.rawValue) }
  }

}

/// Terms: queries, literals and calls of functions. (RFC 9535, sections 2.3.5.1 and 2.4)
extension JSONPathParser {
  /// A part of a filter, before it is known what it is used for.
  private struct Term {
    enum Kind {
      case query(JSONFilter.Query)
      case operand(JSONFilter.Operand)
      case finding(JSONFilter)
    }

    let kind: Kind
    let position: Int
  }

  private mutating func term() throws(CatalogError) -> Term {
    let start = place
    return Term(kind: try termKind(), position: start)
  }

  private mutating func termKind() throws(CatalogError) -> Term.Kind {
    guard let first = peek else { throw error("\"@\", \"$\", a value or a function") }
    switch first {
    case "@", "$":
      let isRelative = peek == "@"
      advance()
      return .query(JSONFilter.Query(isRelative: isRelative, segments: try segments()))
    case "'", "\"": return .operand(.literal(.text(try quotedText())))
    case "-", "0"..."9": return .operand(.literal(try number()))
    case "a"..."z":
      let start = place
      let name = word()
      if take("(") { return try call(name, from: start) }
      switch name {
      case "true": return .operand(.literal(.boolean(true)))
      case "false": return .operand(.literal(.boolean(false)))
      case "null": return .operand(.literal(.null))
      default: throw error("a value; write '\(name)' for a text", at: start)
      }
    default: throw error("\"@\", \"$\", a value or a function")
    }
  }

  private mutating func call(_ name: String, from start: Int) throws(CatalogError) -> Term.Kind {
    let arguments = try nested { parser throws(CatalogError) in try parser.arguments() }
    let known = ["length": 1, "count": 1, "value": 1, "match": 2, "search": 2]
    guard let count = known[name] else {
      let nearest = nearest(to: name, in: known.keys.sorted()) ?? ""
      throw error("a known function; the nearest is \"\(nearest)\"", at: start)
    }
    guard arguments.count == count else {
      throw error("\(count == 1 ? "one argument" : "two arguments") of \(name)", at: start)
    }
    switch name {
    case "length": return .operand(.length(try operand(arguments[0])))
    case "count": return .operand(.count(try query(arguments[0], of: name)))
    case "value": return .operand(.value(try query(arguments[0], of: name)))
    default:
      let pattern = try pattern(arguments[1])
      let text = try operand(arguments[0])
      return .finding(.finds(text, pattern, isWhole: name == "match"))
    }
  }

  private mutating func arguments() throws(CatalogError) -> [Term] {
    skipSpace()
    if take(")") { return [] }
    var arguments: [Term] = []
    repeat {
      skipSpace()
      arguments.append(try term())
      skipSpace()
    } while take(",")
    guard take(")") else { throw error("\",\" or \")\"") }
    return arguments
  }

  private func query(_ term: Term, of name: String) throws(CatalogError) -> JSONFilter.Query {
    if case .query(let query) = term.kind { return query }
    throw error(
      "a path that begins with \"@\" or \"$\" as the argument of \(name)",
      at: term.position
    )
  }

  private func pattern(_ term: Term) throws(CatalogError) -> JSONFilter.Pattern {
    let operand = try operand(term)
    guard case .literal(.text(let text)) = operand else { return .computed(operand) }
    do throws(IRegexp.Fault) {
      return .fixed(try IRegexp(parsing: text))
    } catch {
      return .faulty(error, place: term.position)
    }
  }
}
