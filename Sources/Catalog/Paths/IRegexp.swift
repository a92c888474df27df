/// A regular expression in the dialect I-Regexp, as the functions `match` and `search` of JSONPath use it. (RFC 9485)
///
/// Matching follows all alternatives at the same time, as in Ken Thompson's "Regular Expression Search Algorithm"
/// (1968). Its number of steps is at most the length of the text times ``size``, even for hostile patterns and texts.
///
/// Swift's own `Regex`, libxml2 and Oniguruma try one alternative after the other, which can take exponential time. The
/// library RE2 does not, but it is in C++, has a new ABI in each release, and accepts more than I-Regexp.
struct IRegexp: Equatable, Sendable {
  /// One instruction of a compiled pattern.
  ///
  /// After the last instruction, the pattern has matched.
  enum Instruction: Equatable, Sendable {
    /// Reads one scalar, which must be in the set, and continues with the next instruction.
    case take(ScalarSet)
    /// Continues with the next instruction, and also with the one at this distance.
    case fork(Int)
    /// Continues with the instruction at this distance, which is negative for an earlier one.
    case jump(Int)
    /// Continues with the next instruction, if this is the beginning of the text.
    case begin
    /// Continues with the next instruction, if this is the end of the text.
    case end
  }

  private let program: [Instruction]

  /// The maximum number of instructions that are made for a pattern.
  static let sizeLimit = 10_000

  /// Compiles a pattern.
  ///
  /// - Throws: ``CatalogError`` if the pattern is not valid, or if it needs more than ``sizeLimit`` instructions. Its
  ///   column is the position in the pattern.
  init(parsing text: String) throws(CatalogError) {
    var parser = JSONPathParser(text)
    program = try parser.pattern()
  }

  /// The number of instructions and of the end after them.
  ///
  /// At most this many are executed for each scalar of a text.
  var size: Int { program.count + 1 }

  /// Whether the pattern matches a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isWhole: If true, the whole text must match. If false, a part of the text is enough.
  /// - Returns: Whether the pattern matches.
  func matches(_ text: [Unicode.Scalar], isWhole: Bool) -> Bool {
    // For each instruction, the last position of the text at which an alternative has reached it.
    var reached = [Int](repeating: -1, count: size)
    // The instructions with which alternatives continue at this position, and at the next one.
    var (places, nextPlaces): ([Int], [Int]) = ([], [])
    for position in 0...text.count {
      if position == 0 || !isWhole { places.append(0) }
      while let place = places.popLast() {
        if reached[place] == position { continue }
        reached[place] = position
        guard place < program.count else {
          if !isWhole || position == text.count { return true }
          continue
        }
        switch program[place] {
        case .take(let set):
          guard position < text.count, set.contains(text[position]) else { continue }
          nextPlaces.append(place + 1)
        case .fork(let distance):
          places.append(place + 1)
          places.append(place + distance)
        case .jump(let distance): places.append(place + distance)
        case .begin: if position == 0 { places.append(place + 1) }
        case .end: if position == text.count { places.append(place + 1) }
        }
      }
      if isWhole, nextPlaces.isEmpty { return false }
      swap(&places, &nextPlaces)
    }
    return false
  }
}

/// Parses a regular expression by its grammar, and compiles each part of it to instructions. (RFC 9485, section 4)
///
/// Outside of brackets, `^` and `$` mean the beginning and the end of the text. The grammar does not say so, but the
/// RFC's translations to other dialects (section 5) and the compliance tests of JSONPath do.
extension JSONPathParser {
  /// Parses the whole text.
  mutating func pattern() throws(CatalogError) -> [IRegexp.Instruction] {
    let program = try alternatives()
    guard peek == nil else { throw error("\"(\" before \")\"") }
    return program
  }

  private mutating func alternatives() throws(CatalogError) -> [IRegexp.Instruction] {
    var branches = [try branch()]
    while take("|") {
      try countInstructions(2)
      branches.append(try branch())
    }
    if branches.count == 1 { return branches[0] }
    let count = branches.reduce(-2) { $0 + $1.count + 2 }
    var program: [IRegexp.Instruction] = []
    for branch in branches.dropLast() {
      program += [.fork(branch.count + 2)] + branch
      program.append(.jump(count - program.count))
    }
    return program + branches[branches.count - 1]
  }

  private mutating func branch() throws(CatalogError) -> [IRegexp.Instruction] {
    var program: [IRegexp.Instruction] = []
    while let next = peek, next != "|", next != ")" {
      program += try quantified(atom())
    }
    return program
  }

  private mutating func atom() throws(CatalogError) -> [IRegexp.Instruction] {
    try countInstructions(1)
    if take("(") {
      let group = try nested { parser throws(CatalogError) in try parser.alternatives() }
      guard take(")") else { throw error("\")\"") }
      return group
    }
    if take("^") { return [.begin] }
    if take("$") { return [.end] }
    if take(".") { return [.take(.dot)] }
    if take("[") { return [.take(try characterSet())] }
    if let category = try category() { return [.take(ScalarSet(members: [category]))] }
    if let scalar = peek, "*+?{}]".unicodeScalars.contains(scalar) {
      throw error("a character; write \\\(scalar) for one")
    }
    let scalar = try character()
    return [.take(ScalarSet(members: [.range(scalar...scalar)]))]
  }

  /// Parses a quantifier such as `{2,5}` if there is one, and repeats the part before it.
  private mutating func quantified(
    _ part: [IRegexp.Instruction]
  ) throws(CatalogError) -> [IRegexp.Instruction] {
    guard let (least, most) = try quantifier() else { return part }
    let optionalCount = (most ?? least + 1) - least
    try countInstructions(least * max(part.count, 1) + optionalCount * (part.count + 1))
    var program = Array(repeatElement(part, count: least).joined())
    if most == nil {
      return program + [.fork(part.count + 2)] + part + [.jump(-part.count - 1)]
    }
    // The fork before each optional copy leads behind the last copy.
    for rest in 0..<optionalCount {
      program += [.fork((optionalCount - rest) * (part.count + 1))] + part
    }
    return program
  }

  private mutating func quantifier() throws(CatalogError) -> (least: Int, most: Int?)? {
    if take("*") { return (0, nil) }
    if take("+") { return (1, nil) }
    if take("?") { return (0, 1) }
    guard take("{") else { return nil }
    let least = try repetitions()
    var most: Int? = least
    if take(",") { most = peek == "}" ? nil : try repetitions() }
    guard most ?? least >= least else { throw error("no less than \(least)") }
    guard take("}") else { throw error("\"}\"") }
    return (least, most)
  }

  private mutating func repetitions() throws(CatalogError) -> Int {
    let start = position
    guard let count = Int(take { ("0"..."9").contains($0) }), count <= IRegexp.sizeLimit else {
      throw error("a number up to \(IRegexp.sizeLimit)", at: start)
    }
    return count
  }

  /// Parses a set such as `[a-z]`, after its opening bracket.
  ///
  /// A hyphen at the beginning or the end of the set means itself.
  private mutating func characterSet() throws(CatalogError) -> ScalarSet {
    var set = ScalarSet(isNegated: take("^"))
    if take("-") { set.members.append(.range("-"..."-")) }
    while let scalar = peek, scalar != "]" {
      if take("-") {
        guard peek == "]" else { throw error("\"]\"; a hyphen must be first or last") }
        set.members.append(.range("-"..."-"))
      } else if let category = try category() {
        set.members.append(category)
      } else {
        set.members.append(.range(try characterRange()))
      }
    }
    guard !set.members.isEmpty else { throw error("a character") }
    guard take("]") else { throw error("\"]\"") }
    return set
  }

  /// Parses one character or a range such as `a-z` in brackets.
  private mutating func characterRange() throws(CatalogError) -> ClosedRange<Unicode.Scalar> {
    var ends = [Unicode.Scalar]()
    repeat {
      guard let scalar = peek, !["-", "[", "]"].contains(scalar) else {
        throw error("a character")
      }
      ends.append(try character())
    } while ends.count == 1 && next != "]" && take("-")
    guard ends[0] <= ends[ends.count - 1] else { throw error("a range from low to high") }
    return ends[0]...ends[ends.count - 1]
  }

  /// Parses a Unicode category such as `\p{Lu}` or `\P{L}`, and returns nil if there is none.
  private mutating func category() throws(CatalogError) -> ScalarSet.Member? {
    guard peek == "\\", let kind = next, kind == "p" || kind == "P" else { return nil }
    position += 2
    guard take("{") else { throw error("\"{\"") }
    let start = position
    let name = take { $0 != "}" }
    guard ScalarSet.knownCategories.contains(name), take("}") else {
      throw error("a general category of Unicode and \"}\"", at: start)
    }
    return .category(name, isHeld: kind == "p")
  }

  /// Parses a character, which can be escaped.
  private mutating func character() throws(CatalogError) -> Unicode.Scalar {
    guard let scalar = peek else { throw error("a character") }
    position += 1
    guard scalar == "\\" else { return scalar }
    guard let escaped = peek, "()*+-.?[\\]^{|}nrt".unicodeScalars.contains(escaped) else {
      throw error("one of ()*+-.?[\\]^{|}nrtpP after \"\\\"")
    }
    position += 1
    switch escaped {
    case "n": return "\n"
    case "r": return "\r"
    case "t": return "\t"
    default: return escaped
    }
  }

  /// Counts instructions that are about to be made.
  ///
  /// Those of each copy of a repeated part count, even if the copies are repeated again, so that the work is limited
  /// too. An empty part counts as one.
  private mutating func countInstructions(_ count: Int) throws(CatalogError) {
    instructionCount += count
    guard instructionCount < IRegexp.sizeLimit else {
      throw error("a pattern of at most \(IRegexp.sizeLimit) steps", at: 0)
    }
  }
}

/// A set of Unicode scalars, such as `[a-z]` in a regular expression. (RFC 9485, section 4)
struct ScalarSet: Equatable, Sendable {
  /// A part of a set.
  enum Member: Equatable, Sendable {
    case range(ClosedRange<Unicode.Scalar>)
    /// The scalars of a general category such as `L` or `Lu`, or if `isHeld` is false, all others.
    case category(String, isHeld: Bool)
  }

  var members: [Member] = []
  /// Whether the set has all scalars except those of the members, as in `[^a-z]`.
  var isNegated = false

  /// The set that a dot means, which has all scalars except LF and CR.
  static let dot = ScalarSet(members: [.range("\n"..."\n"), .range("\r"..."\r")], isNegated: true)

  /// Whether a scalar is in the set.
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    let isMember = members.contains { member in
      switch member {
      case .range(let range): range.contains(scalar)
      case .category(let name, let isHeld):
        (Self.shortNames[scalar.properties.generalCategory] ?? "Cn").hasPrefix(name) == isHeld
      }
    }
    return isMember != isNegated
  }

  /// The short names of the categories. (The Unicode Standard, section 4.5, table 4-4)
  ///
  /// A text has no surrogates, so their category is left out.
  private static let shortNames: [Unicode.GeneralCategory: String] = [
    .uppercaseLetter: "Lu", .lowercaseLetter: "Ll", .titlecaseLetter: "Lt", .modifierLetter: "Lm",
    .otherLetter: "Lo", .nonspacingMark: "Mn", .spacingMark: "Mc", .enclosingMark: "Me",
    .decimalNumber: "Nd", .letterNumber: "Nl", .otherNumber: "No", .connectorPunctuation: "Pc",
    .dashPunctuation: "Pd", .openPunctuation: "Ps", .closePunctuation: "Pe",
    .initialPunctuation: "Pi", .finalPunctuation: "Pf", .otherPunctuation: "Po",
    .mathSymbol: "Sm", .currencySymbol: "Sc", .modifierSymbol: "Sk", .otherSymbol: "So",
    .spaceSeparator: "Zs", .lineSeparator: "Zl", .paragraphSeparator: "Zp", .control: "Cc",
    .format: "Cf", .privateUse: "Co", .unassigned: "Cn",
  ]

  /// The categories that a pattern is allowed to name, such as `Lu`, and `L` for all letters. (RFC 9485, section 4)
  static let knownCategories = Set(shortNames.values.flatMap { [$0, String($0.prefix(1))] })
}
