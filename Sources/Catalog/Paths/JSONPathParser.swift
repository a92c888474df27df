/// A recursive-descent parser of JSONPath texts (RFC 9535, appendix A), and of the regular expressions in them. (RFC
/// 9485)
struct JSONPathParser {
  private let text: String
  private let scalars: [Unicode.Scalar]
  /// The index of the next scalar.
  var position = 0
  /// The number of filters, calls and groups around the current position.
  ///
  /// A filter in round brackets counts again.
  private var depth = 0
  /// The maximum of ``depth``.
  private static let depthLimit = 64
  /// The error about the first invalid regular expression of a path.
  private(set) var faultyPattern: CatalogError?
  /// The number of instructions that were made for a regular expression.
  var instructionCount = 0

  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// The next scalar, or nil at the end of the text.
  var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  /// The scalar after the next one.
  var next: Unicode.Scalar? { position + 1 < scalars.count ? scalars[position + 1] : nil }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  /// Takes the following scalars that satisfy a condition.
  mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    let taken = scalars[position...].prefix(while: condition)
    position += taken.count
    return String(String.UnicodeScalarView(taken))
  }

  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    [" ", "\t", "\n", "\r"].contains(scalar)
  }

  mutating func skipSpace() {
    _ = take(while: Self.isSpace)
  }

  /// Skips white space, and takes a token such as `&&` if it follows.
  mutating func take(token: String) -> Bool {
    skipSpace()
    guard scalars[position...].starts(with: token.unicodeScalars) else { return false }
    position += token.unicodeScalars.count
    return true
  }

  /// Parses the content of a filter, of a call or of a group.
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
      reason: "position \(position + 1): expected \(expected)"
    )
  }
}

/// Parses names, texts and numbers.
extension JSONPathParser {
  /// Parses a name after a dot. (RFC 9535, section 2.5.1.1, member-name-shorthand)
  mutating func shorthand() throws(CatalogError) -> String {
    if let first = peek, ("0"..."9").contains(first) { throw error("a name or \"*\"") }
    let name = take { scalar in
      switch scalar {
      case "a"..."z", "A"..."Z", "_", "0"..."9", "\u{80}"...: true
      default: false
      }
    }
    guard !name.isEmpty else { throw error("a name or \"*\"") }
    if peek == "-" { throw error("letters and digits; write ['…'] around such a name") }
    return name
  }

  /// Parses a whole number, and returns nil if there is none. (RFC 9535, section 2.1)
  ///
  /// It must have no leading zeros, and a `Double` must represent it exactly.
  mutating func integer() throws(CatalogError) -> Int? {
    skipSpace()
    let start = position
    let text = take { ("0"..."9").contains($0) || $0 == "-" }
    if text.isEmpty { return nil }
    guard let number = Int(text), String(number) == text, number.magnitude < 1 << 53 else {
      throw error("a whole number without leading zeros, within ±(2^53 - 1)", at: start)
    }
    return number
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
    let escapes: [Unicode.Scalar: Unicode.Scalar] = [
      "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t", "/": "/", "\\": "\\",
    ]
    if let scalar = peek, let escaped = scalar == quote ? quote : escapes[scalar] {
      position += 1
      return escaped
    }
    if take("u"), let unit = hexadecimal() {
      if let scalar = Unicode.Scalar(unit) { return scalar }
      if unit < 0xDC00, take("\\"), take("u"), let low = hexadecimal(),
        (0xDC00..<0xE000).contains(low),
        let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
      {
        return scalar
      }
    }
    throw error("a known escape", at: start)
  }

  private mutating func hexadecimal() -> UInt32? {
    guard position + 4 <= scalars.count else { return nil }
    let digits = scalars[position..<position + 4]
    guard digits.allSatisfy(\.properties.isASCIIHexDigit) else { return nil }
    position += 4
    return UInt32(String(String.UnicodeScalarView(digits)), radix: 16)
  }

  /// Parses a number as JSON writes it, for example `-1.5e3`. (RFC 8259, section 6)
  mutating func number() throws(CatalogError) -> JSONNode {
    let start = position
    let text = take { ("0"..."9").contains($0) || ["-", "+", ".", "e", "E"].contains($0) }
    guard text.wholeMatch(of: #/-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/#) != nil else {
      throw error("a number without leading zeros, such as -1.5e3", at: start)
    }
    guard let real = Double(text), real.isFinite else {
      throw error("a number that a Double can hold", at: start)
    }
    return try JSONNode(literal: Int(text) == nil ? real.description : text)
  }
}

/// Parses the steps of a path. (RFC 9535, section 2.5)
extension JSONPathParser {
  /// Parses the whole text.
  mutating func parse() throws(CatalogError) -> [JSONPath.Segment] {
    guard take("$") else { throw error("\"$\", with which every path begins") }
    let segments = try segments()
    guard peek == nil else { throw error("\".\" or \"[\"") }
    if Self.isSpace(scalars[position - 1]) {
      throw error("no white space at the end", at: position - 1)
    }
    return segments
  }

  /// Parses steps and the white space after them, until the next scalar does not begin a step.
  mutating func segments() throws(CatalogError) -> [JSONPath.Segment] {
    var segments: [JSONPath.Segment] = []
    skipSpace()
    while peek == "." || peek == "[" {
      segments.append(try segment())
      skipSpace()
    }
    return segments
  }

  private mutating func segment() throws(CatalogError) -> JSONPath.Segment {
    let isDescendant = take(token: "..")
    if isDescendant || !take("."), take("[") {
      return JSONPath.Segment(isDescendant: isDescendant, selectors: try bracketed())
    }
    let selector: JSONPath.Selector = take("*") ? .wildcard : .name(try shorthand())
    return JSONPath.Segment(isDescendant: isDescendant, selectors: [selector])
  }

  private mutating func bracketed() throws(CatalogError) -> [JSONPath.Selector] {
    var selectors: [JSONPath.Selector] = []
    repeat { selectors.append(try selector()) } while take(token: ",")
    if case .filter? = selectors.last, peek == "=" { throw error("\"==\"") }
    guard take("]") else { throw error("\",\" or \"]\"") }
    return selectors
  }

  private mutating func selector() throws(CatalogError) -> JSONPath.Selector {
    if take(token: "*") { return .wildcard }
    if take("?") { return .filter(try filter()) }
    if peek == "'" || peek == "\"" { return .name(try quotedText()) }
    let start = try integer()
    guard take(token: ":") else {
      guard let start else { throw error("a name, an index, a slice, \"*\" or \"?\"") }
      return .index(start)
    }
    let end = try integer()
    let step = take(token: ":") ? try integer() : nil
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
      while parser.take(token: "||") { filters.append(try parser.conjunction()) }
      return filters.count == 1 ? filters[0] : .any(filters)
    }
  }

  /// Parses conditions with `&&` between them.
  ///
  /// All of them must hold.
  private mutating func conjunction() throws(CatalogError) -> JSONFilter {
    var filters = [try condition()]
    while take(token: "&&") { filters.append(try condition()) }
    return filters.count == 1 ? filters[0] : .all(filters)
  }

  private mutating func condition() throws(CatalogError) -> JSONFilter {
    if take(token: "!") {
      return .not(take(token: "(") ? try bracketedFilter() : try test(term()))
    }
    if take(token: "(") { return try bracketedFilter() }
    let left = try term()
    guard let comparison = Self.comparisons.first(where: { take(token: $0.token) }) else {
      return try test(left)
    }
    let leftOperand = try operand(left)
    return .compares(leftOperand, orders: comparison.orders, try operand(term()))
  }

  private mutating func bracketedFilter() throws(CatalogError) -> JSONFilter {
    let filter = try filter()
    guard take(token: ")") else { throw error("\"&&\", \"||\" or \")\"") }
    return filter
  }

  /// Makes a condition of a term that has no comparison after it, such as `@.price` or `match(@.name, 'a.*')`.
  private func test(_ term: Term) throws(CatalogError) -> JSONFilter {
    switch term.filter {
    case .query, .finds: return term.filter
    default: throw error("a comparison, such as \"== 1\"")
    }
  }

  /// Makes an operand of a comparison or of a function of a term, such as `@.price`, `1` or `count(@.images)`.
  private func operand(_ term: Term) throws(CatalogError) -> JSONFilter {
    switch term.filter {
    case .query(let query) where !query.isSingular:
      throw error("a path that leads to one value at most; write value(…)", at: term.position)
    case .finds:
      throw error("a value; match and search already give true or false", at: term.position)
    default: return term.filter
    }
  }

  /// The operators of comparisons, and the orders of two values for which they hold. (RFC 9535, section 2.3.5.2.2)
  private static let comparisons: [(token: String, orders: [Int?])] = [
    ("==", [0]), ("!=", [-1, 1, nil]), ("<=", [-1, 0]), (">=", [0, 1]), ("<", [-1]), (">", [1]),
  ]
}

/// Parses terms, which are queries, literals and calls of functions. (RFC 9535, sections 2.3.5.1 and 2.4)
extension JSONPathParser {
  /// A part of a filter, and its position.
  ///
  /// The text after it decides whether it is a condition or an operand.
  private typealias Term = (filter: JSONFilter, position: Int)

  private mutating func term() throws(CatalogError) -> Term {
    skipSpace()
    let start = position
    guard let first = peek else { throw error("\"@\", \"$\", a value or a function") }
    switch first {
    case "@", "$":
      let isRelative = first == "@"
      position += 1
      let segments = try segments()
      return (.query(JSONFilter.Query(isRelative: isRelative, segments: segments)), start)
    case "'", "\"":
      let json = StoredFormWriter.quoted(try quotedText())
      return (.literal(try JSONNode(literal: json)), start)
    case "-", "0"..."9": return (.literal(try number()), start)
    case "a"..."z": break
    default: throw error("\"@\", \"$\", a value or a function")
    }
    let name = take { ("a"..."z").contains($0) || ("0"..."9").contains($0) || $0 == "_" }
    if take("(") { return (try call(name, from: start), start) }
    switch name {
    case "true", "false", "null": return (.literal(try JSONNode(literal: name)), start)
    default: throw error("a value; write '\(name)' for a text", at: start)
    }
  }

  private mutating func call(_ name: String, from start: Int) throws(CatalogError) -> JSONFilter {
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
    case "length": return .length(try operand(arguments[0]))
    case "count": return .count(try query(arguments[0], of: name))
    case "value": return .value(try query(arguments[0], of: name))
    default:
      let text = try operand(arguments[0])
      return .finds(text, try pattern(arguments[1]), isWhole: name == "match")
    }
  }

  private mutating func arguments() throws(CatalogError) -> [Term] {
    if take(token: ")") { return [] }
    var arguments: [Term] = []
    repeat { arguments.append(try term()) } while take(token: ",")
    guard take(")") else { throw error("\",\" or \")\"") }
    return arguments
  }

  private func query(_ term: Term, of name: String) throws(CatalogError) -> JSONFilter.Query {
    if case .query(let query) = term.filter { return query }
    throw error(
      "a path that begins with \"@\" or \"$\" as the argument of \(name)",
      at: term.position
    )
  }

  private mutating func pattern(_ term: Term) throws(CatalogError) -> JSONFilter.Pattern {
    let operand = try operand(term)
    guard case .literal(let literal) = operand, let text = literal.text else {
      return .computed(operand)
    }
    do throws(CatalogError) {
      return .fixed(try IRegexp(parsing: text))
    } catch {
      let column = error.column ?? 1
      let expected = error.reason.trimmingPrefix("position \(column): expected ")
      let words = "\(expected) at position \(column) of the pattern (RFC 9485)"
      faultyPattern = faultyPattern ?? self.error(words, at: term.position)
      return .fixed(nil)
    }
  }
}
