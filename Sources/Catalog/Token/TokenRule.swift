/// The value of `token:` in a catalog file.
///
/// It names the program that prints a new token when a server answers 401.
///
/// The run starts a command, which is a program with its arguments. The first line that the command prints is then sent
/// in a request header. No shell reads the command, and variables in it are not expanded.
public struct TokenRule: Hashable, Sendable {
  /// The name of the request header, for example "Authorization".
  public let header: String
  /// The program, followed by its arguments.
  public let command: [String]

  /// The name of the program, for messages.
  ///
  /// The arguments are left out because they can be secret.
  public var program: String {
    let name = command.first.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
    return String(PlainText.line(name).prefix(80))
  }
}

/// Reads the key `token:` of a catalog file.
enum TokenParser {
  /// Reads a rule.
  ///
  /// - Parameter node: The value of the key.
  /// - Returns: The rule.
  /// - Throws: ``CatalogError`` with the line, the key and the expected value.
  static func parse(_ node: YAMLNode) throws(CatalogError) -> TokenRule {
    let mapping = try node.mapping(.token)
    let header = try mapping.required("header")
    let name = try header.filledText()
    do throws(CatalogError) {
      _ = try HeaderTemplate(name: name, rawValue: "")
    } catch {
      throw header.error(error.reason)
    }
    return TokenRule(header: name, command: try command(mapping.required("command")))
  }

  private static func command(_ node: YAMLNode) throws(CatalogError) -> [String] {
    let expected = "a list: the program, then its arguments"
    guard node.isList else {
      throw node.error(
        "expected \(expected)",
        remedy: "it is run without a shell: write [\"program\", \"argument\"]"
      )
    }
    var words: [String] = []
    for element in try node.list() {
      let word = try words.isEmpty ? element.filledText() : element.text()
      guard !word.utf8.contains(0) else {
        throw element.error("an argument holds no NUL")
      }
      words.append(word)
    }
    guard !words.isEmpty else { throw node.error("the list is empty") }
    return words
  }
}
