/// Reads the text of a path, scalar by scalar: the place in the text, and the words that stand there.
///
/// The grammar is in the extensions: steps in one file, filters in another. (RFC 9535, appendix A)
struct JSONPathParser {
  private let text: String
  private let scalars: [Unicode.Scalar]
  private var position = 0
  /// How many brackets and calls enclose what is read.
  private var depth = 0
  /// How many of them may enclose one another.
  private static let depthLimit = 64

  /// Takes the text of a path.
  init(_ text: String) {
    self.text = text
    scalars = Array(text.unicodeScalars)
  }

  /// What is read next; nil at the end.
  var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  /// The place, to come back to or to name in an error.
  var place: Int { position }

  /// Passes over what is read next.
  mutating func advance() { position += 1 }

  /// Comes back to a place.
  mutating func rewind(to place: Int) { position = place }

  mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  mutating func skipSpace() {
    while let scalar = peek, [" ", "\t", "\n", "\r"].contains(scalar) { position += 1 }
  }

  /// Takes an operator behind white space; without it nothing.
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

  /// Reads what stands in brackets or a call, which may not enclose one another without end.
  mutating func nested<Value>(
    _ body: (inout JSONPathParser) throws(CatalogError) -> Value
  ) throws(CatalogError) -> Value {
    guard depth < Self.depthLimit else {
      throw error("at most \(Self.depthLimit) filters and brackets in one another")
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  /// What is wrong, at the place or at another one.
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

// Words: names, texts and numbers.
extension JSONPathParser {
  /// A name after a dot. (RFC 9535, section 2.5.1.1, member-name-shorthand)
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

  /// A whole number without leading zeros, exact in a `Double`. (RFC 9535, section 2.1)
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

  /// The name of a function, or a literal's word.
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

  /// A number as JSON writes it. (RFC 8259, section 6)
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
