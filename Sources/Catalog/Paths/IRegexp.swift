/// A regular expression in the dialect I-Regexp, as the functions `match` and `search` of JSONPath use it. (RFC 9485)
///
/// Matching follows all alternatives at the same time (Thompson's algorithm). Its number of steps is at most the length
/// of the text times ``size``, even for hostile patterns and texts.
///
/// Swift's own `Regex` tries one alternative after the other, which can take exponential time. The library RE2 does
/// not, but it is in C++, has a new ABI in each release, and accepts more than I-Regexp.
struct IRegexp: Hashable, Sendable {
  /// A fault in a pattern.
  struct Fault: Error, Hashable {
    /// The position in the pattern, counted in Unicode scalars from 0.
    let position: Int
    /// The part of a pattern that was expected at the position, for example "a character".
    let expected: String
  }

  /// One instruction of a compiled pattern.
  ///
  /// The targets of forks and jumps are indices of instructions.
  enum Instruction: Hashable, Sendable {
    /// Reads one scalar, which must be in the set, and continues with the next instruction.
    case take(ScalarSet)
    /// Continues with both of these instructions.
    case fork(Int, Int)
    /// Continues with this instruction.
    case jump(Int)
    /// Continues with the next instruction, if this is the beginning of the text.
    case begin
    /// Continues with the next instruction, if this is the end of the text.
    case end
    /// The pattern has matched.
    case done
  }

  private let program: [Instruction]

  /// The maximum number of instructions of a compiled pattern.
  static let sizeLimit = 10_000

  /// Compiles a pattern.
  ///
  /// - Throws: ``Fault`` if the pattern is not valid, or if it needs more than ``sizeLimit`` instructions.
  init(parsing text: String) throws(Fault) {
    var parser = IRegexpParser(text)
    guard let program = IRegexpCompiler.program(of: try parser.parse()) else {
      throw Fault(position: 0, expected: "a pattern of at most \(Self.sizeLimit) steps")
    }
    self.program = program
  }

  /// The number of instructions.
  ///
  /// At most this many are executed for each scalar of a text.
  var size: Int { program.count }

  /// Whether the pattern matches a text.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isWhole: If true, the whole text must match. If false, a part of the text is enough.
  /// - Returns: Whether the pattern matches.
  func matches(_ text: [Unicode.Scalar], isWhole: Bool) -> Bool {
    var threads = Threads(count: program.count)
    var next = Threads(count: program.count)
    for position in 0...text.count {
      if position == 0 || !isWhole { threads.add(0, at: position, of: text.count, program) }
      if threads.isDone, !isWhole || position == text.count { return true }
      guard position < text.count, !isWhole || !threads.waiting.isEmpty else { return false }
      let scalar = text[position]
      next.removeAll()
      for place in threads.waiting {
        guard case .take(let set) = program[place], set.contains(scalar) else { continue }
        next.add(place + 1, at: position + 1, of: text.count, program)
      }
      swap(&threads, &next)
    }
    return false
  }

  /// The instructions at which the alternatives of the pattern are, at one position of the text.
  private struct Threads {
    /// The indices of the `take` instructions that wait for the next scalar.
    private(set) var waiting: [Int] = []
    /// Whether an alternative has matched.
    private(set) var isDone = false
    /// For each instruction, whether it has been reached at this position.
    private var isKnown: [Bool]
    /// The indices of the instructions that have been reached at this position.
    private var known: [Int] = []
    private var pending: [Int] = []

    init(count: Int) {
      isKnown = [Bool](repeating: false, count: count)
    }

    mutating func removeAll() {
      for place in known { isKnown[place] = false }
      known.removeAll(keepingCapacity: true)
      waiting.removeAll(keepingCapacity: true)
      isDone = false
    }

    mutating func add(_ place: Int, at position: Int, of count: Int, _ program: [Instruction]) {
      pending.append(place)
      while let place = pending.popLast() {
        if isKnown[place] { continue }
        isKnown[place] = true
        known.append(place)
        switch program[place] {
        case .take: waiting.append(place)
        case .fork(let one, let other):
          pending.append(one)
          pending.append(other)
        case .jump(let target): pending.append(target)
        case .begin: if position == 0 { pending.append(place + 1) }
        case .end: if position == count { pending.append(place + 1) }
        case .done: isDone = true
        }
      }
    }
  }
}

/// Parses a regular expression by its grammar. (RFC 9485, section 4)
///
/// Outside of brackets, `^` and `$` mean the beginning and the end of the text. The grammar does not say so, but the
/// RFC's translations to other dialects (section 5) and the compliance tests of JSONPath do.
struct IRegexpParser {
  /// The syntax tree of a pattern.
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
  /// The maximum depth of nested groups.
  private static let depthLimit = 64

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  /// Parses the whole pattern.
  mutating func parse() throws(IRegexp.Fault) -> Tree {
    let tree = try choice()
    guard position == scalars.count else { throw fault("\"(\" before \")\"") }
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
        throw fault("at most \(Self.depthLimit) nested groups")
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

  /// Parses a set in brackets, such as `[a-z]`.
  ///
  /// A hyphen at the beginning or the end of the set means itself.
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
        guard peek == "]" else { throw fault("\"]\"; a hyphen must be first or last") }
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

  /// Parses a Unicode category such as `\p{Lu}` or `\P{L}`, and adds it to a set.
  ///
  /// The result is false if there is none.
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
    default: throw fault("one of ()*+-.?[\\]^{|}nrtpP after \"\\\"")
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

/// A set of Unicode scalars, such as `[a-z]` in a regular expression. (RFC 9485, section 4)
struct ScalarSet: Hashable, Sendable {
  /// The ranges of scalar values in the set.
  var ranges: [ClosedRange<UInt32>] = []
  /// The general categories of Unicode that are in the set, such as `L` and `Lu`.
  var categories: [String] = []
  /// The general categories after `\P`.
  ///
  /// For each of them, the set contains all characters outside the category.
  var otherCategories: [String] = []
  /// Whether the set has all scalars except those above, as in `[^a-z]`.
  var isNegated = false

  /// Makes a set of one scalar.
  init(_ scalar: Unicode.Scalar) {
    ranges = [scalar.value...scalar.value]
  }

  /// Makes an empty set.
  init() {}

  /// The set that a dot means, which has all scalars except LF and CR.
  static let dot: ScalarSet = {
    var set = ScalarSet()
    set.ranges = [0x0A...0x0A, 0x0D...0x0D]
    set.isNegated = true
    return set
  }()

  /// Whether a scalar is in the set.
  func contains(_ scalar: Unicode.Scalar) -> Bool {
    if ranges.contains(where: { $0.contains(scalar.value) }) { return !isNegated }
    if categories.isEmpty, otherCategories.isEmpty { return isNegated }
    let name = scalar.properties.generalCategory.shortName
    let isHeld =
      categories.contains { name.hasPrefix($0) }
      || otherCategories.contains { !name.hasPrefix($0) }
    return isHeld != isNegated
  }

  /// The categories that a pattern is allowed to name. (RFC 9485, section 4)
  static let knownCategories: Set<String> = [
    "L", "Ll", "Lm", "Lo", "Lt", "Lu", "M", "Mc", "Me", "Mn", "N", "Nd", "Nl", "No", "P", "Pc",
    "Pd",
    "Pe", "Pf", "Pi", "Po", "Ps", "Z", "Zl", "Zp", "Zs", "S", "Sc", "Sk", "Sm", "So", "C", "Cc",
    "Cf",
    "Cn", "Co",
  ]
}

extension Unicode.GeneralCategory {
  /// The short name of the category, for example "Lu". (The Unicode Standard, section 4.5, table 4-4)
  fileprivate var shortName: String {
    switch self {
    case .uppercaseLetter: "Lu"
    case .lowercaseLetter: "Ll"
    case .titlecaseLetter: "Lt"
    case .modifierLetter: "Lm"
    case .otherLetter: "Lo"
    case .nonspacingMark: "Mn"
    case .spacingMark: "Mc"
    case .enclosingMark: "Me"
    case .decimalNumber: "Nd"
    case .letterNumber: "Nl"
    case .otherNumber: "No"
    case .connectorPunctuation: "Pc"
    case .dashPunctuation: "Pd"
    case .openPunctuation: "Ps"
    case .closePunctuation: "Pe"
    case .initialPunctuation: "Pi"
    case .finalPunctuation: "Pf"
    case .otherPunctuation: "Po"
    case .mathSymbol: "Sm"
    case .currencySymbol: "Sc"
    case .modifierSymbol: "Sk"
    case .otherSymbol: "So"
    case .spaceSeparator: "Zs"
    case .lineSeparator: "Zl"
    case .paragraphSeparator: "Zp"
    case .control: "Cc"
    case .format: "Cf"
    case .surrogate: "Cs"
    case .privateUse: "Co"
    case .unassigned: "Cn"
    @unknown default: "Cn"
    }
  }
}

/// Compiles the syntax tree of a pattern to instructions.
///
/// Each choice becomes a fork, as in Ken Thompson's "Regular Expression Search Algorithm" (1968).
struct IRegexpCompiler {
  private var program: [IRegexp.Instruction] = []
  /// The number of nodes of the tree that have been compiled.
  ///
  /// A node that is repeated counts each time.
  ///
  /// This number is limited too, because an empty group adds no instruction but can be repeated many times.
  private var partCount = 0

  /// The instructions of a pattern, or nil if there would be too many.
  static func program(of tree: IRegexpParser.Tree) -> [IRegexp.Instruction]? {
    var compiler = IRegexpCompiler()
    guard compiler.append(tree) else { return nil }
    compiler.program.append(.done)
    return compiler.program
  }

  /// Appends the instructions of a part of the pattern.
  ///
  /// The result is false if there are too many.
  private mutating func append(_ tree: IRegexpParser.Tree) -> Bool {
    partCount += 1
    guard max(program.count, partCount) < IRegexp.sizeLimit else { return false }
    switch tree {
    case .set(let set): program.append(.take(set))
    case .begin: program.append(.begin)
    case .end: program.append(.end)
    case .sequence(let parts):
      for part in parts where !append(part) { return false }
    case .choice(let branches): return append(choice: branches)
    case .times(let part, let least, nil):
      for _ in 0..<least where !append(part) { return false }
      let fork = reserve()
      guard append(part) else { return false }
      program.append(.jump(fork))
      program[fork] = .fork(fork + 1, program.count)
    case .times(let part, let least, let most?):
      for _ in 0..<least where !append(part) { return false }
      var forks: [Int] = []
      for _ in least..<most {
        forks.append(reserve())
        guard append(part) else { return false }
      }
      for fork in forks { program[fork] = .fork(fork + 1, program.count) }
    }
    return true
  }

  private mutating func append(choice branches: [IRegexpParser.Tree]) -> Bool {
    var exits: [Int] = []
    for branch in branches.dropLast() {
      let fork = reserve()
      guard append(branch) else { return false }
      exits.append(reserve())
      program[fork] = .fork(fork + 1, program.count)
    }
    if let last = branches.last, !append(last) { return false }
    for exit in exits { program[exit] = .jump(program.count) }
    return true
  }

  /// Reserves an index for a fork or a jump whose targets are not known yet.
  private mutating func reserve() -> Int {
    program.append(.jump(0))
    return program.count - 1
  }
}
