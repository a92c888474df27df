/// A promise that the sources keep.
struct Rule: Sendable {
  /// The rule in words, for messages.
  let words: String
  /// The numbers of the lines that break it.
  let breaches: @Sendable (SourceFile) -> [Int]

  /// What breaks the rule, as `file:line: words`.
  func findings(in files: [SourceFile]) -> [String] {
    files.flatMap { file in breaches(file).map { "\(file.path):\($0): \(words)" } }
  }
}

extension Rule {
  /// Targets import of our modules only what the table says.
  static let layers = Rule(words: "this import is not in the table of CONTRIBUTING.md") {
    file in
    file.imports.filter { Layers.ours.contains($0.module) && !allowed($0.module, in: file) }
      .map(\.line)
  }

  private static func allowed(_ module: String, in file: SourceFile) -> Bool {
    Layers.imports[file.target]?.contains(module) ?? false
  }

  /// Foundation costs start-up and memory; only commands may pay for it.
  static let foundation = Rule(
    words: "only LarderCommands may import Foundation; use FoundationEssentials or Glibc"
  ) { file in
    guard !Layers.foundation.contains(file.target) else { return [] }
    return file.imports.filter { $0.module == "Foundation" }.map(\.line)
  }

  /// One place writes to the terminal.
  static let printing = Rule(words: "only LarderCommands/Output writes to the terminal") { file in
    guard !file.path.hasPrefix("Sources/LarderCommands/Output/") else { return [] }
    return file.numbers(
      of:
        #/(^|[^.\w])(print|debugPrint|dump|putchar|puts|fputs)\(|FileHandle\.standard(Output|Error)/#
    )
  }

  /// A library's caller has options, not flags: its errors carry a remedy, and commands word it.
  static let flags = Rule(words: "only commands know flags; say it by a remedy") { file in
    guard Layers.flagless.contains(file.target) else { return [] }
    return file.numbers(of: #/"[^"]*--[a-z]/#)
  }

  /// A decorator that built a response from parts would lose those that it does not copy.
  static let responses = Rule(words: "only transports make responses; change a copy of one") {
    file in
    let makers = [
      "Sources/CurlTransport/", "Sources/Larder/ShopTransport.swift",
    ]
    guard !makers.contains(where: { file.path.hasPrefix($0) }) else { return [] }
    return file.numbers(of: #/(^\s*|[=(\[{,:] *|return )Response(Head)?\(/#)
  }

  /// Nothing ends the process because of what was thought impossible.
  static let force = Rule(words: "no try!, no forced cast") { file in
    file.numbers(of: #/\btry!|\bas!/#)
  }

  /// An escape from the compiler's proofs carries one of its own, within five lines.
  static let safety = Rule(words: "an unsafe escape needs a SAFETY: comment beside it") { file in
    file.numbers(of: #/@unchecked Sendable|nonisolated\(unsafe\)|unsafeBitCast|unsafeDowncast/#)
      .filter { number in
        let near = max(0, number - 6)...min(file.lines.count - 1, number + 4)
        return !file.lines[near].contains { $0.comment.contains("SAFETY:") }
      }
  }

  /// Closing a descriptor of a database file drops every lock that SQLite holds on it for this process: files that know
  /// a database open folders and lock files alone. (https://sqlite.org/howtocorrupt.html, section 2.2)
  static let databases = Rule(words: "only SQLite opens a database file") { file in
    let name = file.path.split(separator: "/").last ?? ""
    let isOfDatabase =
      name.hasPrefix("Index") || name.hasPrefix("Outbox") || file.target == "SQLite"
    return file.numbers(of: #/\bO_(RDONLY|WRONLY|RDWR|CREAT)\b|\bopen(at)?\(.*index\.sqlite/#)
      .filter { number in
        let code = file.lines[number - 1].code
        return (isOfDatabase || code.contains("index.sqlite"))
          && !code.contains("O_DIRECTORY") && !code.contains("/lock\"")
      }
  }

  /// A test waits for what it wants to see, never for time to pass.
  static let sleeping = Rule(words: "a test does not sleep; wait for what it wants to see") {
    file in
    file.numbers(of: #/\b(u|nano|clock_nano)?sleep\(|\.sleep\b/#)
  }
}

extension SourceFile {
  /// The numbers of the lines whose code holds a match.
  fileprivate func numbers(of pattern: some RegexComponent) -> [Int] {
    lines.indices.filter { lines[$0].code.contains(pattern) }.map { $0 + 1 }
  }
}
