/// A regular expression for interoperability. (RFC 9485)
///
/// Matched by following all its alternatives at once, so that the time is at most the length of the
/// text times ``size``, whatever the pattern: both may be hostile. Swift's own `Regex` backtracks and can
/// take exponential time; of the libraries that do not, RE2 is C++ with a new ABI in each release, and
/// knows a richer language that would have to be kept out.
struct IRegexp: Hashable, Sendable {
  /// What is wrong with a pattern.
  struct Fault: Error, Hashable {
    /// Where, in scalars from 0.
    let position: Int
    /// What should have stood there.
    let expected: String
  }

  /// One step of the program that a pattern becomes.
  enum Instruction: Hashable, Sendable {
    /// Takes one scalar that is in the set, and goes on.
    case take(ScalarSet)
    /// Goes on at both places.
    case fork(Int, Int)
    /// Goes on elsewhere.
    case jump(Int)
    /// Goes on at the beginning of the text only.
    case begin
    /// Goes on at the end of the text only.
    case end
    /// The pattern has matched.
    case done
  }

  private let program: [Instruction]

  /// The most instructions that a pattern may become.
  static let sizeLimit = 10_000

  /// Reads a pattern.
  ///
  /// - Throws: ``Fault`` when it is none, or becomes more than ``sizeLimit`` instructions.
  init(parsing text: String) throws(Fault) {
    var parser = IRegexpParser(text)
    guard let program = IRegexpCompiler.program(of: try parser.parse()) else {
      throw Fault(position: 0, expected: "a pattern of at most \(Self.sizeLimit) steps")
    }
    self.program = program
  }

  /// How many instructions each scalar of a text may take.
  var size: Int { program.count }

  /// Whether a text is matched.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - isWhole: Whether all of it must match, not a part of it.
  /// - Returns: Whether it does.
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

  /// The places at which the program waits for a scalar, each once.
  private struct Threads {
    private(set) var waiting: [Int] = []
    private(set) var isDone = false
    private var isKnown: [Bool]
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
