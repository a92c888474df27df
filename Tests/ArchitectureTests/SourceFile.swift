import Foundation

/// A Swift file of the repository, split into code and comments for ``Rule``.
struct SourceFile: Sendable {
  /// One line, split into code and comment.
  struct Line {
    let code: Substring
    let comment: Substring
  }

  /// The path relative to the repository's root.
  let path: String
  /// The lines; the first has index 0.
  let lines: [Line]

  /// Reads `text` as the file at `path`.
  init(path: String, text: String) {
    self.path = path
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(Self.line)
  }

  /// The name of the file's target, which is the folder below `Sources` or `Tests`.
  var target: String {
    String(path.split(separator: "/").dropFirst().first ?? "")
  }

  /// The imported modules, each with its line number.
  var imports: [(module: String, line: Int)] {
    lines.enumerated().compactMap { number, line -> (module: String, line: Int)? in
      let words = line.code.split(separator: " ")
      guard let keyword = words.firstIndex(of: "import"), keyword + 1 < words.count,
        words[..<keyword].allSatisfy({ $0.first == "@" || Self.levels.contains($0) })
      else { return nil }
      let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "func", "typealias"]
      let name = words.dropFirst(keyword + 1).first { !kinds.contains($0) } ?? ""
      return (String(name.prefix { $0 != "." }), number + 1)
    }
  }

  private static let levels: Set<Substring> = ["public", "package", "internal", "private"]

  /// Splits a line at the first `//` outside a string literal.
  private static func line(_ text: Substring) -> Line {
    var isString = false
    var last: Character?
    var place = text.startIndex
    while place < text.endIndex {
      let character = text[place]
      if character == "\"", last != "\\" { isString.toggle() }
      if character == "/", last == "/", !isString {
        let start = text.index(before: place)
        return Line(code: text[..<start], comment: text[start...])
      }
      last = last == "\\" && character == "\\" ? nil : character
      place = text.index(after: place)
    }
    return Line(code: text, comment: "")
  }
}

extension SourceFile {
  /// The root folder of the repository.
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// Every Swift file below `Sources`, read once.
  static let sources = Result { try all(in: "Sources") }
  /// Every Swift file below `Tests`, read once.
  static let tests = Result { try all(in: "Tests") }

  private static func all(in folder: String) throws -> [SourceFile] {
    let names = try FileManager.default.subpathsOfDirectory(
      atPath: root.appending(path: folder).path
    )
    return try names.filter { $0.hasSuffix(".swift") }.sorted().map { name in
      let path = "\(folder)/\(name)"
      let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
      return SourceFile(path: path, text: text)
    }
  }
}
