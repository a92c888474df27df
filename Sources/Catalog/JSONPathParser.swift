/// Reads the text of a path, scalar by scalar. (RFC 9535, appendix A)
struct JSONPathParser {
  private let text: String
  let scalars: [Unicode.Scalar]
  var position = 0
  /// How many brackets and calls enclose what is read.
  var depth = 0
  /// How many of them may enclose one another.
  static let depthLimit = 64

  /// Takes the text of a path.
  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// The steps after `$`.
  mutating func parse() throws(CatalogError) -> [JSONPath.Segment] {
    guard take("$") else {
      throw error("\"$\", with which every path begins")
    }
    let segments = try segments()
    guard position == scalars.count else {
      throw [" ", "\t", "\n", "\r"].contains(scalars[position])
        ? error("no white space at the end") : error("\".\" or \"[\"")
    }
    return segments
  }

  /// Steps, up to what begins none.
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

  /// A name after a dot. (RFC 9535, section 2.5.1.1, member-name-shorthand)
  private mutating func shorthand() throws(CatalogError) -> String {
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

  /// A whole number without leading zeros, exact in a `Double`. (RFC 9535, section 2.1)
  private mutating func integer() throws(CatalogError) -> Int? {
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

  /// A name or another text in quotes of either kind. (RFC 9535, section 2.3.1.1)
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

  var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  mutating func skipSpace() {
    while let scalar = peek, [" ", "\t", "\n", "\r"].contains(scalar) { position += 1 }
  }

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
