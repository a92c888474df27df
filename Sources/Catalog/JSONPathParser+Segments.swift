/// The steps of a path. (RFC 9535, section 2.5)
extension JSONPathParser {
  /// The steps after `$`.
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

  /// Steps, up to what begins none.
  mutating func segments() throws(CatalogError) -> [JSONPath.Segment] {
    var segments: [JSONPath.Segment] = []
    while true {
      let before = place
      skipSpace()
      guard peek == "." || peek == "[" else {
        rewind(to: before)
        return segments
      }
      segments.append(try segment())
    }
  }

  private mutating func segment() throws(CatalogError) -> JSONPath.Segment {
    if take("[") {
      return JSONPath.Segment(isDescendant: false, selectors: try bracketed())
    }
    advance()
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
      advance()
      return .wildcard
    case "'", "\"": return .name(try quotedText())
    case "?":
      advance()
      skipSpace()
      return .filter(try filter())
    default: return try indexOrSlice()
    }
  }

  private mutating func indexOrSlice() throws(CatalogError) -> JSONPath.Selector {
    let start = try integer()
    let afterStart = place
    skipSpace()
    guard take(":") else {
      rewind(to: afterStart)
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
