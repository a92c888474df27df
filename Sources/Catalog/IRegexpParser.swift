/// Reads a regular expression by its grammar. (RFC 9485, section 4)
///
/// `^` and `$` outside brackets stand for the beginning and the end of the text, as the RFC's own
/// translations to other dialects (section 5) and the compliance cases of JSONPath have them.
struct IRegexpParser {
  /// A pattern as it is built.
  indirect enum Tree {
    case set(ScalarSet)
    case begin
    case end
    case sequence([Tree])
    case choice([Tree])
    case times(Tree, least: Int, most: Int?)
  }

  private let scalars: [Unicode.Scalar]
  private var position = 0
  private var depth = 0
  /// How many groups may enclose one another.
  private static let depthLimit = 64

  /// Takes a pattern.
  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  /// The whole pattern.
  mutating func parse() throws(IRegexp.Fault) -> Tree {
    let tree = try choice()
    guard position == scalars.count else { throw fault("no \")\" without \"(\"") }
    return tree
  }

  private mutating func choice() throws(IRegexp.Fault) -> Tree {
    var branches = [try branch()]
    while take("|") { branches.append(try branch()) }
    return branches.count == 1 ? branches[0] : .choice(branches)
  }

  private mutating func branch() throws(IRegexp.Fault) -> Tree {
    var parts: [Tree] = []
    while let next = peek, next != "|", next != ")" {
      parts.append(try quantified(try atom()))
    }
    return .sequence(parts)
  }

  private mutating func atom() throws(IRegexp.Fault) -> Tree {
    guard let scalar = peek else { throw fault("a character") }
    switch scalar {
    case "(":
      guard depth < Self.depthLimit else {
        throw fault("at most \(Self.depthLimit) groups in one")
      }
      position += 1
      depth += 1
      let tree = try choice()
      depth -= 1
      guard take(")") else { throw fault("\")\"") }
      return tree
    case "^":
      position += 1
      return .begin
    case "$":
      position += 1
      return .end
    case ".":
      position += 1
      return .set(.dot)
    case "[": return .set(try bracketed())
    case "\\":
      var set = ScalarSet()
      if try !category(into: &set) { set = ScalarSet(try escape()) }
      return .set(set)
    case "*", "+", "?", "{", "}", "]": throw fault("a character; write \\\(scalar) for one")
    default:
      position += 1
      return .set(ScalarSet(scalar))
    }
  }

  private mutating func quantified(_ tree: Tree) throws(IRegexp.Fault) -> Tree {
    switch peek {
    case "*":
      position += 1
      return .times(tree, least: 0, most: nil)
    case "+":
      position += 1
      return .times(tree, least: 1, most: nil)
    case "?":
      position += 1
      return .times(tree, least: 0, most: 1)
    case "{":
      position += 1
      let least = try count()
      var most: Int? = least
      if take(",") { most = peek == "}" ? nil : try count() }
      guard most ?? least >= least else { throw fault("no less than \(least)") }
      guard take("}") else { throw fault("\"}\"") }
      return .times(tree, least: least, most: most)
    default: return tree
    }
  }

  private mutating func count() throws(IRegexp.Fault) -> Int {
    let start = position
    while let scalar = peek, ("0"..."9").contains(scalar) { position += 1 }
    let digits = String(String.UnicodeScalarView(scalars[start..<position]))
    guard let count = Int(digits), count <= IRegexp.sizeLimit else {
      position = start
      throw fault("a number up to \(IRegexp.sizeLimit)")
    }
    return count
  }

  /// A set in brackets: a hyphen stands for itself at the beginning and the end only.
  private mutating func bracketed() throws(IRegexp.Fault) -> ScalarSet {
    position += 1
    var set = ScalarSet()
    set.isNegated = take("^")
    var isEmpty = true
    if take("-") {
      set.ranges.append(0x2D...0x2D)
      isEmpty = false
    }
    while let scalar = peek, scalar != "]" {
      isEmpty = false
      if scalar == "-" {
        position += 1
        guard peek == "]" else { throw fault("\"]\"; a hyphen stands first or last") }
        set.ranges.append(0x2D...0x2D)
        break
      }
      if try category(into: &set) { continue }
      let low = try member()
      var high = low
      if peek == "-", position + 1 < scalars.count, scalars[position + 1] != "]" {
        position += 1
        high = try member()
      }
      guard low <= high else { throw fault("a range from low to high") }
      set.ranges.append(low.value...high.value)
    }
    guard !isEmpty else { throw fault("a character") }
    guard take("]") else { throw fault("\"]\"") }
    return set
  }

  private mutating func member() throws(IRegexp.Fault) -> Unicode.Scalar {
    guard let scalar = peek, !["-", "[", "]"].contains(scalar) else { throw fault("a character") }
    if scalar == "\\" { return try escape() }
    position += 1
    return scalar
  }

  /// Reads `\p{…}` or `\P{…}`; false when there is none.
  private mutating func category(into set: inout ScalarSet) throws(IRegexp.Fault) -> Bool {
    guard peek == "\\", position + 1 < scalars.count else { return false }
    let kind = scalars[position + 1]
    guard kind == "p" || kind == "P" else { return false }
    position += 2
    guard take("{") else { throw fault("\"{\"") }
    let start = position
    while let scalar = peek, scalar != "}" { position += 1 }
    let name = String(String.UnicodeScalarView(scalars[start..<position]))
    guard ScalarSet.knownCategories.contains(name), take("}") else {
      position = start
      throw fault("a general category of Unicode and \"}\"")
    }
    if kind == "p" { set.categories.append(name) } else { set.otherCategories.append(name) }
    return true
  }

  private mutating func escape() throws(IRegexp.Fault) -> Unicode.Scalar {
    position += 1
    guard let scalar = peek else { throw fault("an escaped character") }
    switch scalar {
    case "n", "r", "t":
      position += 1
      return scalar == "n" ? "\n" : scalar == "r" ? "\r" : "\t"
    case "("..."+", "-", ".", "?", "["..."^", "{"..."}":
      position += 1
      return scalar
    default: throw fault("one of ()*+-.?[\\]^{|}nrtpP behind \"\\\"")
    }
  }

  private var peek: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    position += 1
    return true
  }

  private func fault(_ expected: String) -> IRegexp.Fault {
    IRegexp.Fault(position: position, expected: expected)
  }
}
