/// Reads `token:` of a catalog file.
enum TokenParser {
  /// Reads a rule.
  ///
  /// - Parameter node: The value of `token`.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with line, key and what was expected.
  static func parse(_ node: YAMLNode) throws(CatalogError) -> TokenRule {
    let mapping = try node.mapping()
    try mapping.checkKeys(.token)
    let header = try mapping.required("header")
    let name = try header.filledText()
    do throws(CatalogError) {
      _ = try HeaderTemplate(name: name, rawValue: "")
    } catch {
      throw header.error(error.reason, expected: "a header name")
    }
    return TokenRule(header: name, command: try command(mapping.required("command")))
  }

  private static func command(_ node: YAMLNode) throws(CatalogError) -> [String] {
    let expected = "a list: the program, then its arguments"
    guard node.isList else {
      throw node.error(
        "expected \(expected)",
        expected: expected,
        remedy: "no shell reads it: write [\"program\", \"argument\"]"
      )
    }
    var words: [String] = []
    for element in try node.list() {
      let word = try words.isEmpty ? element.filledText() : element.text()
      guard !word.utf8.contains(0) else {
        throw element.error("an argument holds no NUL", expected: "text without NUL")
      }
      words.append(word)
    }
    guard !words.isEmpty else { throw node.error("the list is empty", expected: expected) }
    return words
  }
}
