import Yams

/// A YAML text on its way to values: parsed within limits, faults placed.
struct YAMLFile {
  /// The file's name as its caller gave it.
  let name: String
  /// What it is, for messages.
  let subject: String

  /// The largest file that is read.
  static let sizeLimit = 1 << 20
  /// How many aliases a file may use: few enough that no nesting of them grows out of hand.
  static let aliasLimit = 16

  /// Parses a text whose root must be a mapping.
  func mapping(of bytes: [UInt8]) throws(CatalogError) -> YAMLMapping {
    guard bytes.count <= Self.sizeLimit else {
      throw fault("\(bytes.count) bytes are more than a catalog file may have (1 MiB)")
    }
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let content = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
    guard let text = String(validating: content, as: UTF8.self) else {
      throw notUTF8(content)
    }
    if let line = lineOfAliasTooMany(text) {
      throw fault("more than \(Self.aliasLimit) aliases; write the values out", line: line)
    }
    guard let root = try compose(text) else {
      throw fault("the file is empty; it needs name, currency and sections")
    }
    return try YAMLNode(node: root, keyPath: "", file: self).mapping()
  }

  private func compose(_ text: String) throws(CatalogError) -> Node? {
    do {
      // Without rules every scalar is text, as it is read here: the usual ones are regular expressions, which
      // take longer to compile than most files to read.
      return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch let error as YamlError {
      throw fault(error, in: text)
    } catch {
      throw fault("not YAML")
    }
  }

  /// Points at the first byte that is no part of a character.
  private func notUTF8(_ content: ArraySlice<UInt8>) -> CatalogError {
    var rest = content.makeIterator()
    var decoder = UTF8()
    var line = 1
    var column = 1
    while case .scalarValue(let scalar) = decoder.decode(&rest) {
      (line, column) = scalar == "\n" ? (line + 1, 1) : (line, column + 1)
    }
    return fault("not UTF-8", line: line, column: column)
  }

  private func fault(_ error: YamlError, in text: String) -> CatalogError {
    switch error {
    case .scanner(let context, let problem, let mark, _),
      .parser(let context, let problem, let mark, _),
      .composer(let context, let problem, let mark, _):
      return fault(
        (context.map { "\($0.text): " } ?? "") + problem,
        line: mark.line,
        column: mark.column
      )
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { "\"\($0)\"" }.joined(separator: ", ")
      return fault(
        "\(names) more than once in one mapping",
        line: context.mark.line,
        column: context.mark.column
      )
    case .reader(let problem, let offset, _, _):
      let before = text.prefix(offset ?? 0)
      let lines = before.split(separator: "\n", omittingEmptySubsequences: false)
      return fault(problem, line: max(1, lines.count), column: (lines.last?.count ?? 0) + 1)
    default: return fault("not YAML")
    }
  }

  private func fault(_ reason: String, line: Int? = nil, column: Int? = nil) -> CatalogError {
    CatalogError(
      .catalogFile,
      subject: subject,
      file: name,
      line: line,
      column: column,
      reason: reason
    )
  }

  /// Where there is one alias too many: what looks like `*name` where a value may stand, in a file
  /// that anchors anything.
  private func lineOfAliasTooMany(_ text: String) -> Int? {
    var aliases = 0
    var anchors = 0
    var line = 1
    var lineOfExcess: Int?
    var previous = UInt8(ascii: "\n")
    var beforePrevious = UInt8(ascii: "\n")
    for byte in text.utf8 {
      let startsValue = [0x0A, 0x20, 0x09, 0x5B, 0x7B, 0x2C, 0x0D].contains(beforePrevious)
      if startsValue, byte > 0x20, byte != UInt8(ascii: "]") {
        if previous == UInt8(ascii: "*") {
          aliases += 1
          if aliases == Self.aliasLimit + 1 { lineOfExcess = line }
        }
        if previous == UInt8(ascii: "&") { anchors += 1 }
      }
      if byte == 0x0A { line += 1 }
      (beforePrevious, previous) = (previous, byte)
    }
    return anchors > 0 ? lineOfExcess : nil
  }
}
