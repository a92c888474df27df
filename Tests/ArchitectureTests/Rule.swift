/// A rule about source code, with a check that finds each line that breaks it.
struct Rule: Sendable {
  /// The rule in words, for messages.
  let words: String
  /// Returns the numbers of the lines that break the rule.
  let breaches: @Sendable (SourceFile) -> [Int]

  /// The breaches of the rule in `files`, as `file:line: words`.
  func findings(in files: [SourceFile]) -> [String] {
    files.flatMap { file in breaches(file).map { "\(file.path):\($0): \(words)" } }
  }
}

extension Rule {
  /// A target imports only those of our modules that ``Layers`` lists for it.
  static let layers = Rule(words: "this import is not in the table of CONTRIBUTING.md") {
    file in
    file.imports.filter { Layers.ours.contains($0.module) && !allowed($0.module, in: file) }
      .map(\.line)
  }

  private static func allowed(_ module: String, in file: SourceFile) -> Bool {
    Layers.imports[file.target]?.contains(module) ?? false
  }

  /// Foundation costs start-up time and memory, so only LarderCommands may import all of it.
  static let foundation = Rule(
    words: "only LarderCommands may import Foundation; use FoundationEssentials or Glibc"
  ) { file in
    guard !Layers.foundation.contains(file.target) else { return [] }
    return file.imports.filter { $0.module == "Foundation" }.map(\.line)
  }

  /// Only one folder writes to the terminal.
  static let printing = Rule(words: "only LarderCommands/Output writes to the terminal") { file in
    guard !file.path.hasPrefix("Sources/LarderCommands/Output/") else { return [] }
    return file.numbers(
      of:
        #/(^|[^.\w])(print|debugPrint|dump|putchar|puts|fputs)\(|FileHandle\.standard(Output|Error)/#
    )
  }

  /// Libraries never name a command-line option: their errors carry a remedy, and commands turn it
  /// into words.
  static let flags = Rule(words: "only commands know flags; say it by a remedy") { file in
    guard Layers.flagless.contains(file.target) else { return [] }
    return file.numbers(of: #/"[^"]*--[a-z]/#)
  }

  /// Only transports create responses.
  ///
  /// Elsewhere a response is copied and changed, so that no field is lost.
  static let responses = Rule(words: "only transports make responses; change a copy of one") {
    file in
    let makers = [
      "Sources/CurlTransport/", "Sources/Larder/ShopTransport.swift",
    ]
    guard !makers.contains(where: { file.path.hasPrefix($0) }) else { return [] }
    return file.numbers(of: #/(^\s*|[=(\[{,:] *|return )Response(Head)?\(/#)
  }

  /// No `try!` and no forced cast.
  static let force = Rule(words: "no try!, no forced cast") { file in
    file.numbers(of: #/\btry!|\bas!/#)
  }

  /// An unsafe escape has a `SAFETY:` comment within five lines.
  static let safety = Rule(words: "an unsafe escape needs a SAFETY: comment beside it") { file in
    file.numbers(of: #/@unchecked Sendable|nonisolated\(unsafe\)|unsafeBitCast|unsafeDowncast/#)
      .filter { number in
        let near = max(0, number - 6)...min(file.lines.count - 1, number + 4)
        return !file.lines[near].contains { $0.comment.contains("SAFETY:") }
      }
  }

  /// Only SQLite opens a database file: closing any other descriptor of it drops all of the
  /// process's locks.
  ///
  /// Other code opens folders and lock files only. (https://sqlite.org/howtocorrupt.html, section
  /// 2.2)
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

  /// A test waits for a condition and never sleeps.
  static let sleeping = Rule(words: "a test does not sleep; wait for what it wants to see") {
    file in
    file.numbers(of: #/\b(u|nano|clock_nano)?sleep\(|\.sleep\b/#)
  }
}

extension SourceFile {
  /// The numbers of the lines whose code matches.
  fileprivate func numbers(of pattern: some RegexComponent) -> [Int] {
    lines.indices.filter { lines[$0].code.contains(pattern) }.map { $0 + 1 }
  }
}
