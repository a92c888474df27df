import Yams

/// Parses a YAML file of at most 1 MiB.
///
/// If the position of a fault is known, the error has its line and column.
struct YAMLFile {
  /// The name of the file, as the caller gave it.
  let name: String
  /// The name of the file for messages, such as "catalog file shop.yaml".
  let subject: String
  /// Reads the format file that the file names by a path.
  ///
  /// If it is nil, such a path is an error.
  var formatFile: FormatFileReading?

  /// The maximum size of a file, in bytes.
  static let sizeLimit = 1 << 20
  /// The maximum number of aliases in a file.
  ///
  /// It is so low that nested aliases cannot expand to a huge document.
  static let aliasLimit = 16

  /// Parses the bytes of the file.
  ///
  /// The root must be a mapping.
  func mapping(of bytes: [UInt8]) throws(CatalogError) -> YAMLMapping {
    guard bytes.count <= Self.sizeLimit else {
      throw fault("\(bytes.count) bytes are more than a catalog file may have (1 MiB)")
    }
    let text = JSONText(bytes)
    do throws(CatalogError) { try text.demandUTF8(of: subject) } catch {
      throw fault("not UTF-8", line: error.line, column: error.column)
    }
    if let line = lineOfAliasTooMany(Array(text.bytes)) {
      throw fault("more than \(Self.aliasLimit) aliases; write the values out", line: line)
    }
    guard let root = try compose(String(decoding: text.bytes, as: UTF8.self)) else {
      throw fault("the file is empty; it needs name, currency and sections")
    }
    return try YAMLNode(node: root, keyPath: "", file: self).mapping()
  }

  private func compose(_ text: String) throws(CatalogError) -> Node? {
    do {
      // The basic resolver leaves every scalar a text, as this parser needs it. The rules of the default resolver are
      // regular expressions, and compiling these takes longer than parsing most files.
      return try Parser(yaml: text, resolver: .basic, encoding: .utf8).singleRoot()
    } catch {
      throw fault(error as? YamlError, in: text)
    }
  }

  private func fault(_ error: YamlError?, in text: String) -> CatalogError {
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
      let lines = text.prefix(offset ?? 0).unicodeScalars
        .split(separator: "\n", omittingEmptySubsequences: false)
      return fault(problem, line: lines.count, column: (lines.last?.count ?? 0) + 1)
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

  /// The line of the first alias beyond the limit, or nil if the file does not exceed the limit.
  ///
  /// An alias is a word that begins like `*name`. If the file has no anchors, such as `&name`, no word is an alias.
  private func lineOfAliasTooMany(_ text: [UInt8]) -> Int? {
    let aliases = words(beginningWith: "*", in: text)
    guard aliases.count > Self.aliasLimit, !words(beginningWith: "&", in: text).isEmpty
    else { return nil }
    let newline = UInt8(ascii: "\n")
    return text[..<aliases[Self.aliasLimit]].count { $0 == newline } + 1
  }

  /// The offsets of the words that begin with a mark, such as `*name`.
  ///
  /// The mark alone, or before a bracket, is no such word.
  private func words(beginningWith mark: Unicode.Scalar, in text: [UInt8]) -> [Int] {
    let separators = Array("\n \t\r[{,".utf8)
    return text.indices.filter { offset in
      guard text[offset] == UInt8(ascii: mark), offset + 1 < text.count,
        offset == 0 || separators.contains(text[offset - 1])
      else { return false }
      let next = text[offset + 1]
      return next != UInt8(ascii: "]") && !separators.contains(next)
    }
  }
}

/// The members of a YAML mapping, in the file's order.
struct YAMLMapping {
  struct Member {
    let name: String
    let key: YAMLNode
    let value: YAMLNode
  }

  let members: [Member]
  /// The mapping itself.
  let node: YAMLNode

  /// The value of a key, or nil if the key is absent or its value is `null`.
  subscript(name: String) -> YAMLNode? {
    member(name).flatMap { $0.isNull ? nil : $0 }
  }

  /// The value of a key; it can be `null`.
  ///
  /// The result is nil if the key is absent.
  func member(_ name: String) -> YAMLNode? {
    members.first { $0.name == name }?.value
  }

  /// Whether a key such as `description`, or a key in the mapping of a key such as `images.top`, is present.
  ///
  /// Its value can be `null`.
  func has(_ path: String) -> Bool {
    let names = path.split(separator: ".", maxSplits: 1).map(String.init)
    guard names.count == 2 else { return member(names[0]) != nil }
    return (try? member(names[0])?.mapping())?.member(names[1]) != nil
  }

  /// The value of a key.
  ///
  /// It throws when the key is absent or its value is `null`.
  func required(_ name: String) throws(CatalogError) -> YAMLNode {
    guard let value = self[name] else {
      throw (member(name) ?? node).error("\"\(name)\" is missing")
    }
    return value
  }

  /// Refuses unknown keys.
  ///
  /// The error lists the known keys, the most similar first.
  func checkKeys(_ keys: CatalogKeys) throws(CatalogError) {
    let known = keys.names
    for member in members where !known.contains(member.name) {
      let nearest = nearest(to: member.name, in: known)
      let others = known.filter { $0 != nearest }.joined(separator: ", ")
      var error = member.key.error(
        "unknown key \"\(member.name)\"",
        remedy: nearest.map {
          "the nearest known key is \"\($0)\""
            + (others.isEmpty ? "" : "; also allowed here: \(others)")
        }
      )
      error.keyPath = member.value.keyPath
      throw error
    }
  }
}

extension Node {
  /// Whether the value is empty or `null`.
  fileprivate var isNull: Bool {
    guard case .scalar(let scalar) = self, scalar.style == .plain || scalar.style == .any else {
      return false
    }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// A text that is the same for equal values, without comments and layout.
  var compact: String {
    switch self {
    case .mapping(let mapping):
      "{\(mapping.map { "\($0.key.compact): \($0.value.compact)" }.joined(separator: ", "))}"
    case .sequence(let elements): "[\(elements.map(\.compact).joined(separator: ", "))]"
    default: isNull ? "null" : (string ?? "").debugDescription
    }
  }
}

/// A value in a YAML file, with its position for error messages.
struct YAMLNode {
  let node: Node
  /// The keys that lead to the value, such as `sections[2].url`.
  let keyPath: String
  let file: YAMLFile

  /// Whether the value is empty or `null`.
  var isNull: Bool { node.isNull }

  var isList: Bool {
    if case .sequence = node { true } else { false }
  }

  var isMapping: Bool {
    if case .mapping = node { true } else { false }
  }

  /// The text of a scalar as it is written, even if YAML gives the scalar another type, as it does for `no` and `0123`.
  func text() throws(CatalogError) -> String {
    guard case .scalar(let scalar) = node, !isNull else { throw wrongType("text") }
    return scalar.string
  }

  /// The text of a scalar, which must not be blank.
  func filledText() throws(CatalogError) -> String {
    let text = try text()
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw error("expected text, found an empty one")
    }
    return text
  }

  /// A whole number, which must be within bounds.
  func number(in range: ClosedRange<Int>) throws(CatalogError) -> Int {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .scalar(let scalar) = node else { throw wrongType(expected) }
    guard let number = Int(scalar.string), range.contains(number) else {
      throw error("expected \(expected), found \"\(scalar.string)\"")
    }
    return number
  }

  /// The elements of a list.
  func list() throws(CatalogError) -> [YAMLNode] {
    guard case .sequence(let sequence) = node else { throw wrongType("a list") }
    return sequence.enumerated().map {
      YAMLNode(node: $1, keyPath: "\(keyPath)[\($0)]", file: file)
    }
  }

  /// The members of a mapping, which must have no other keys than the given ones.
  func mapping(_ keys: CatalogKeys) throws(CatalogError) -> YAMLMapping {
    let mapping = try mapping()
    try mapping.checkKeys(keys)
    return mapping
  }

  /// The members of a mapping.
  ///
  /// Its keys must be texts.
  func mapping() throws(CatalogError) -> YAMLMapping {
    guard case .mapping(let mapping) = node else { throw wrongType("a mapping") }
    let members = try mapping.map { key, value throws(CatalogError) in
      let key = YAMLNode(node: key, keyPath: keyPath, file: file)
      let name = try key.text()
      let path = keyPath.isEmpty ? name : "\(keyPath).\(name)"
      let value = YAMLNode(node: value, keyPath: path, file: file)
      return YAMLMapping.Member(name: name, key: key, value: value)
    }
    return YAMLMapping(members: members, node: self)
  }

  /// Parses a JSONPath.
  func path() throws(CatalogError) -> JSONPath {
    let text = try text()
    do throws(CatalogError) {
      let path = try JSONPath(parsing: text)
      if let fault = path.faultyPattern { throw fault }
      return path
    } catch {
      throw self.error(
        "\"\(text)\": \(error.reason)",
        code: .jsonPath,
        remedy: text.hasPrefix("$") ? nil : "write $.\(text)"
      )
    }
  }

  /// Reads each element of a list, or a single value as if it were a list.
  ///
  /// `null` means an empty list.
  func each<Value>(
    _ read: (YAMLNode) throws(CatalogError) -> Value
  ) throws(CatalogError) -> [Value] {
    if isNull { return [] }
    return try isList ? list().map(read) : [read(self)]
  }

  /// The texts of a list, or a single text.
  func texts() throws(CatalogError) -> [String] {
    try each { node throws(CatalogError) in try node.filledText() }
  }

  /// A text, which must be one of several words.
  func oneOf(_ words: [String]) throws(CatalogError) -> String {
    let text = try text()
    guard words.contains(text) else {
      let expected = words.joined(separator: " or ")
      throw error("expected \(expected), found \"\(text.prefix(40))\"")
    }
    return text
  }

  /// A text, which must be one of the known words.
  ///
  /// - Parameters:
  ///   - kind: The kind of the words for the error message, such as "format".
  ///   - words: The known words.
  /// - Returns: The text.
  /// - Throws: ``CatalogError`` that suggests the most similar word.
  func known(_ kind: String, in words: [String]) throws(CatalogError) -> String {
    let text = try text()
    guard words.contains(text) else {
      let nearest = nearest(to: text, in: words)
      throw error(
        "unknown \(kind) \"\(text.prefix(40))\"",
        remedy: nearest.map { "the nearest known \(kind) is \"\($0)\"" }
      )
    }
    return text
  }

  /// Compiles a jq program.
  ///
  /// - Parameter isOfRecords: Whether the program is for one record. It is then compiled so that it runs on the array
  ///   of all records.
  /// - Returns: The program.
  /// - Throws: ``CatalogError`` with the line of the fault.
  func transform(ofRecords isOfRecords: Bool = false) throws(CatalogError) -> Transform {
    var program = try filledText()
    // A record for which the program fails becomes the reason, and is skipped.
    if isOfRecords { program = #"[.[] | try (\#(program)\#n) catch "records: \(tostring)"]"# }
    guard case .scalar(let scalar) = node else { throw wrongType("text") }
    let isBlock = scalar.style == .literal || scalar.style == .folded
    do throws(CatalogError) {
      return try Transform(compiling: program, line: node.mark.map { $0.line + (isBlock ? 1 : 0) })
    } catch {
      var placed = self.error(error.reason, remedy: error.remedy)
      if scalar.style != .folded, let line = error.line, line != placed.line {
        placed.line = line
        placed.column = nil
      }
      throw placed
    }
  }

  /// Parses a JSONPath, or a list of them.
  ///
  /// `null` means none.
  func paths() throws(CatalogError) -> [JSONPath] {
    try each { node throws(CatalogError) in try node.path() }
  }

  /// Makes an error with the position of this value.
  func error(
    _ reason: String,
    code: CatalogError.Code = .catalogFile,
    remedy: String? = nil
  ) -> CatalogError {
    let mark = node.mark
    return CatalogError(
      code,
      subject: file.subject,
      file: file.name,
      line: mark?.line,
      column: mark?.column,
      keyPath: keyPath.isEmpty ? nil : keyPath,
      reason: reason,
      remedy: remedy
    )
  }

  private func wrongType(_ expected: String) -> CatalogError {
    let found =
      switch node {
      case .mapping: "a mapping"
      case .sequence: "a list"
      default: isNull ? "nothing" : "text"
      }
    return error("expected \(expected), found \(found)")
  }
}
