/// A recursive-descent parser of JSONPath texts. (RFC 9535, appendix A)
struct JSONPathParser {
  private let text: String
  private let scalars: [Unicode.Scalar]
  /// The index of the next scalar.
  private var position = 0
  /// The number of filters and calls around the current position.
  ///
  /// A filter in round brackets counts again.
  private var depth = 0
  /// The maximum of ``depth``.
  private static let depthLimit = 64

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// The next scalar, or nil at the end of the text.
  var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  mutating func skipSpace() {
    while let scalar = peek, [" ", "\t", "\n", "\r"].contains(scalar) { position += 1 }
  }

  /// Skips white space and the given operator.
  ///
  /// If the operator is not there, skips nothing and returns false.
  mutating func takeOperator(_ text: String) -> Bool {
    let before = position
    skipSpace()
    guard scalars[position...].starts(with: text.unicodeScalars) else {
      position = before
      return false
    }
    position += text.unicodeScalars.count
    return true
  }

  /// Parses the content of a filter or of a call.
  ///
  /// - Throws: ``CatalogError`` if it is nested too deeply.
  mutating func nested<Value>(
    _ body: (inout JSONPathParser) throws(CatalogError) -> Value
  ) throws(CatalogError) -> Value {
    guard depth < Self.depthLimit else {
      throw error("at most \(Self.depthLimit) nested filters and brackets")
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  /// Makes an error about a position.
  ///
  /// By default, it is the current position.
  func error(_ expected: String, at place: Int? = nil) -> CatalogError {
    let position = place ?? position
    return CatalogError(
      .jsonPath,
      subject: "path \"\(text)\"",
      column: position + 1,
      expected: expected,
      reason: "position \(position + 1): expected \(expected)"
    )
  }
}

/// Parses names, texts and numbers.
extension JSONPathParser {
  /// Parses a name after a dot. (RFC 9535, section 2.5.1.1, member-name-shorthand)
  mutating func shorthand() throws(CatalogError) -> String {
    var name = String.UnicodeScalarView()
    while let scalar = peek {
      switch scalar {
      case "a"..."z", "A"..."Z", "_", "\u{80}"...: break
      case "0"..."9" where !name.isEmpty: break
      default:
        guard !name.isEmpty else { throw error("a name or \"*\"") }
        if scalar == "-" { throw error("letters and digits; write ['…'] around such a name") }
        return String(name)
      }
      name.append(scalar)
      position += 1
    }
    guard !name.isEmpty else { throw error("a name or \"*\"") }
    return String(name)
  }

  /// Parses a whole number, and returns nil if there is none. (RFC 9535, section 2.1)
  ///
  /// It must have no leading zeros, and a `Double` must represent it exactly.
  mutating func integer() throws(CatalogError) -> Int? {
    let start = position
    let isNegative = take("-")
    var digits = ""
    while let scalar = peek, ("0"..."9").contains(scalar) {
      digits.unicodeScalars.append(scalar)
      position += 1
    }
    if digits.isEmpty, !isNegative { return nil }
    let isCanonical = digits == "0" ? !isNegative : !digits.hasPrefix("0")
    guard isCanonical, let number = Int(digits), number < 1 << 53 else {
      position = start
      throw error("a whole number without leading zeros, within ±(2^53 - 1)")
    }
    return isNegative ? -number : number
  }

  /// Parses a text in single or double quotes. (RFC 9535, section 2.3.1.1)
  mutating func quotedText() throws(CatalogError) -> String {
    let quote = scalars[position]
    position += 1
    var name = String.UnicodeScalarView()
    while let scalar = peek {
      guard scalar.value >= 0x20 else { throw error("no control character in quotes") }
      if scalar == quote {
        position += 1
        return String(name)
      }
      name.append(scalar == "\\" ? try escape(in: quote) : scalar)
      if scalar != "\\" { position += 1 }
    }
    throw error("a closing \(quote)")
  }

  private mutating func escape(in quote: Unicode.Scalar) throws(CatalogError) -> Unicode.Scalar {
    let start = position
    position += 1
    guard let scalar = peek else { throw error("an escape") }
    position += 1
    switch scalar {
    case quote, "\\", "/": return scalar
    case "b": return "\u{8}"
    case "f": return "\u{C}"
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    case "u":
      if let unit = hexadecimal() {
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, take("\\"), take("u"), let low = hexadecimal(),
          (0xDC00..<0xE000).contains(low),
          let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        {
          return scalar
        }
      }
    default: break
    }
    position = start
    throw error("a known escape")
  }

  private mutating func hexadecimal() -> UInt32? {
    guard position + 4 <= scalars.count else { return nil }
    let digits = scalars[position..<position + 4]
    guard digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
    position += 4
    return UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
  }

  /// Parses the name of a function, or a literal such as `true`.
  mutating func word() -> String {
    let start = position
    while let scalar = peek {
      switch scalar {
      case "a"..."z", "0"..."9", "_": position += 1
      default: return String(String.UnicodeScalarView(scalars[start..<position]))
      }
    }
    return String(String.UnicodeScalarView(scalars[start...]))
  }

  /// Parses a number as JSON writes it, for example `-1.5e3`. (RFC 8259, section 6)
  mutating func number() throws(CatalogError) -> JSONFilter.Literal {
    let start = position
    _ = take("-")
    try digits(canBeginWithZero: false)
    var isReal = false
    if take(".") {
      isReal = true
      try digits(canBeginWithZero: true)
    }
    if peek == "e" || peek == "E" {
      isReal = true
      position += 1
      if !take("-") { _ = take("+") }
      try digits(canBeginWithZero: true)
    }
    let text = String(String.UnicodeScalarView(scalars[start..<position]))
    if !isReal, let integer = Int(text) { return .integer(integer) }
    guard let real = Double(text), real.isFinite else {
      throw error("a number that a Double can hold", at: start)
    }
    return .real(real)
  }

  private mutating func digits(canBeginWithZero: Bool) throws(CatalogError) {
    let start = position
    while let scalar = peek, ("0"..."9").contains(scalar) { position += 1 }
    guard position > start else { throw error("a digit") }
    guard canBeginWithZero || scalars[start] != "0" || position == start + 1 else {
      throw error("a number without leading zeros", at: start)
    }
  }
}

/// Parses the steps of a path. (RFC 9535, section 2.5)
extension JSONPathParser {
  /// Parses the whole text.
  mutating func parse() throws(CatalogError) -> [JSONPath.Segment] {
    guard take("$") else {
      throw error("\"$\", with which every path begins")
    }
    let segments = try segments()
    if let rest = peek {
      throw [" ", "\t", "\n", "\r"].contains(rest)
        ? error("no white space at the end") : error("\".\" or \"[\"")
    }
    return segments
  }

  /// Parses steps until the next scalar does not begin a step.
  mutating func segments() throws(CatalogError) -> [JSONPath.Segment] {
    var segments: [JSONPath.Segment] = []
    while true {
      let before = position
      skipSpace()
      guard peek == "." || peek == "[" else {
        position = before
        return segments
      }
      segments.append(try segment())
    }
  }

  private mutating func segment() throws(CatalogError) -> JSONPath.Segment {
    if take("[") {
      return JSONPath.Segment(isDescendant: false, selectors: try bracketed())
    }
    position += 1
    let isDescendant = take(".")
    if isDescendant, take("[") {
      return JSONPath.Segment(isDescendant: true, selectors: try bracketed())
    }
    if take("*") { return JSONPath.Segment(isDescendant: isDescendant, selectors: [.wildcard]) }
    return JSONPath.Segment(isDescendant: isDescendant, selectors: [.name(try shorthand())])
  }

  private mutating func bracketed() throws(CatalogError) -> [JSONPath.Selector] {
    var selectors: [JSONPath.Selector] = []
    repeat {
      skipSpace()
      selectors.append(try selector())
      skipSpace()
    } while take(",")
    if case .filter? = selectors.last, peek == "=" { throw error("\"==\"") }
    guard take("]") else { throw error("\",\" or \"]\"") }
    return selectors
  }

  private mutating func selector() throws(CatalogError) -> JSONPath.Selector {
    switch peek {
    case "*":
      position += 1
      return .wildcard
    case "'", "\"": return .name(try quotedText())
    case "?":
      position += 1
      skipSpace()
      return .filter(try filter())
    default: return try indexOrSlice()
    }
  }

  private mutating func indexOrSlice() throws(CatalogError) -> JSONPath.Selector {
    let start = try integer()
    let afterStart = position
    skipSpace()
    guard take(":") else {
      position = afterStart
      guard let start else { throw error("a name, an index, a slice, \"*\" or \"?\"") }
      return .index(start)
    }
    skipSpace()
    let end = try integer()
    skipSpace()
    var step: Int?
    if take(":") {
      skipSpace()
      step = try integer()
    }
    return .slice(start: start, end: end, step: step ?? 1)
  }
}

/// Parses the expression after `?`. (RFC 9535, section 2.3.5.1)
extension JSONPathParser {
  /// Parses conditions with `||` between them.
  ///
  /// At least one of them must hold.
  mutating func filter() throws(CatalogError) -> JSONFilter {
    try nested { parser throws(CatalogError) in
      var filters = [try parser.conjunction()]
      while parser.takeOperator("||") { filters.append(try parser.conjunction()) }
      return filters.count == 1 ? filters[0] : .any(filters)
    }
  }

  /// Parses conditions with `&&` between them.
  ///
  /// All of them must hold.
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
    position += 1
    skipSpace()
    let filter = try filter()
    skipSpace()
    guard take(")") else { throw error("\"&&\", \"||\" or \")\"") }
    return filter
  }

  /// Makes a condition of a term that has no comparison after it, such as `@.price` or `match(@.name, 'a.*')`.
  private func test(_ term: Term) throws(CatalogError) -> JSONFilter {
    switch term.kind {
    case .query(let query): return .exists(query)
    case .finding(let filter): return filter
    case .operand: throw error("a comparison, such as \"== 1\"")
    }
  }

  /// Makes an operand of a comparison or of a function of a term, such as `@.price`, `1` or `count(@.images)`.
  private func operand(_ term: Term) throws(CatalogError) -> JSONFilter.Operand {
    switch term.kind {
    case .operand(let operand): return operand
    case .query(let query) where query.isSingular: return .only(query)
    case .query:
      throw error("a path that leads to one value at most; write value(…)", at: term.position)
    case .finding:
      throw error("a value; match and search already give true or false", at: term.position)
    }
  }

  private mutating func takeComparison() -> JSONFilter.Comparison? {
    JSONFilter.Comparison.allCases.first { takeOperator($0.rawValue) }
  }
}

/// Parses terms, which are queries, literals and calls of functions. (RFC 9535, sections 2.3.5.1 and 2.4)
extension JSONPathParser {
  /// A part of a filter.
  ///
  /// The text after it decides whether it is a condition or an operand.
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
    let start = position
    return Term(kind: try termKind(), position: start)
  }

  private mutating func termKind() throws(CatalogError) -> Term.Kind {
    guard let first = peek else { throw error("\"@\", \"$\", a value or a function") }
    switch first {
    case "@", "$":
      let isRelative = peek == "@"
      position += 1
      return .query(JSONFilter.Query(isRelative: isRelative, segments: try segments()))
    case "'", "\"": return .operand(.literal(.text(try quotedText())))
    case "-", "0"..."9": return .operand(.literal(try number()))
    case "a"..."z":
      let start = position
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
