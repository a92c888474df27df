import Yams

/// A value in a YAML file that knows its place.
struct YAMLNode {
  /// The value.
  let node: Node
  /// The keys that lead to it: `sections[2].url`.
  let keyPath: String
  /// The file it stands in.
  let file: YAMLFile

  /// Whether nothing was written, or `null`.
  var isNull: Bool {
    guard case .scalar(let scalar) = node, scalar.style == .plain || scalar.style == .any else {
      return false
    }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// Whether this is a list.
  var isList: Bool {
    if case .sequence = node { true } else { false }
  }

  /// Whether this is a mapping.
  var isMapping: Bool {
    if case .mapping = node { true } else { false }
  }

  /// The text of a scalar, whatever YAML would make of it: `no` and `0123` are text too.
  func text() throws(CatalogError) -> String {
    guard case .scalar(let scalar) = node, !isNull else { throw wrongType("text") }
    return scalar.string
  }

  /// The text of a scalar that must not be blank.
  func filledText() throws(CatalogError) -> String {
    let text = try text()
    guard text.contains(where: { !$0.isWhitespace }) else {
      throw error("expected text, found an empty one", expected: "text")
    }
    return text
  }

  /// A whole number within bounds.
  func number(in range: ClosedRange<Int>) throws(CatalogError) -> Int {
    let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .scalar(let scalar) = node else { throw wrongType(expected) }
    guard let number = Int(scalar.string), range.contains(number) else {
      throw error("expected \(expected), found \"\(scalar.string)\"", expected: expected)
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

  /// The members of a mapping, whose keys must be text.
  func mapping() throws(CatalogError) -> YAMLMapping {
    guard case .mapping(let mapping) = node else { throw wrongType("a mapping") }
    var members: [YAMLMapping.Member] = []
    for (key, value) in mapping {
      let keyNode = YAMLNode(node: key, keyPath: keyPath, file: file)
      let name = try keyNode.text()
      let path = keyPath.isEmpty ? name : "\(keyPath).\(name)"
      members.append(
        YAMLMapping.Member(
          name: name,
          key: keyNode,
          value: YAMLNode(node: value, keyPath: path, file: file)
        )
      )
    }
    return YAMLMapping(members: members, node: self)
  }

  /// A path in the JSON of the store.
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
        expected: error.expected,
        remedy: text.hasPrefix("$") ? nil : "write $.\(text)"
      )
    }
  }

  /// A jq program.
  func transform() throws(CatalogError) -> Transform {
    let program = try filledText()
    guard case .scalar(let scalar) = node else { throw wrongType("text") }
    let isBlock = scalar.style == .literal || scalar.style == .folded
    do throws(CatalogError) {
      return try Transform(compiling: program, line: node.mark.map { $0.line + (isBlock ? 1 : 0) })
    } catch {
      var placed = self.error(error.reason, expected: error.expected, remedy: error.remedy)
      if scalar.style != .folded, let line = error.line, line != placed.line {
        placed.line = line
        placed.column = nil
      }
      throw placed
    }
  }

  /// A path or a list of alternatives; nothing for `null`.
  func paths() throws(CatalogError) -> [JSONPath] {
    if isNull { return [] }
    guard isList else { return [try path()] }
    var paths: [JSONPath] = []
    for element in try list() { paths.append(try element.path()) }
    return paths
  }

  /// Makes an error that points here.
  func error(
    _ reason: String,
    code: CatalogError.Code = .catalogFile,
    expected: String? = nil,
    nearestKey: String? = nil,
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
      expected: expected,
      nearestKey: nearestKey,
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
    return error("expected \(expected), found \(found)", expected: expected)
  }
}
