/// Turns the tree of a pattern into a program.
///
/// Each choice becomes a fork, as in Ken Thompson's "Regular Expression Search Algorithm" (1968).
struct IRegexpCompiler {
  private var program: [IRegexp.Instruction] = []
  /// How many parts have been compiled: a part may be nothing, and still be repeated at every level.
  private var partCount = 0

  /// The program of a pattern; nil when it would be too long.
  static func program(of tree: IRegexpParser.Tree) -> [IRegexp.Instruction]? {
    var compiler = IRegexpCompiler()
    guard compiler.append(tree) else { return nil }
    compiler.program.append(.done)
    return compiler.program
  }

  /// Appends the instructions of a part; false when there are too many.
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

  /// Keeps a place for an instruction whose targets are not known yet.
  private mutating func reserve() -> Int {
    program.append(.jump(0))
    return program.count - 1
  }
}
