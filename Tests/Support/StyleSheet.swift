/// A style sheet's rules, as far as checks of the pages need them.
package struct StyleSheet {
  /// A selector with its declarations.
  package struct Rule: Hashable, Sendable {
    /// The conditions around it, such as `@media print`; empty for none.
    package let condition: String
    package let selector: String
    package let declarations: [String]
  }

  /// The rules in their order.
  package private(set) var rules: [Rule] = []
  /// A sentence for each place that is no rule.
  package private(set) var faults: [String] = []

  /// Reads a sheet; comments are left out.
  package init(_ text: String) {
    var rest = text.replacing(/\/\*.*?\*\//.dotMatchesNewlines(), with: "")[...]
    read(&rest, within: "")
    if !rest.isEmpty { faults.append("a brace too many before: \(rest.prefix(60))") }
  }

  private mutating func read(_ rest: inout Substring, within condition: String) {
    while true {
      rest = rest.drop(while: \.isWhitespace)
      guard let first = rest.first, first != "}" else { return }
      let head = Self.upTo(["{", ";", "}"], &rest)
      guard rest.first == "{" else {
        rest = ""
        return faults.append("no rule: \(head)")
      }
      rest = rest.dropFirst()
      if head.hasPrefix("@media") || head.hasPrefix("@supports") {
        read(&rest, within: condition.isEmpty ? head : "\(condition) \(head)")
      } else {
        let body = Self.upTo(["}", "{"], &rest)
        add(head, body, condition)
      }
      guard rest.first == "}" else {
        return faults.append("no brace at the end of: \(head)")
      }
      rest = rest.dropFirst()
    }
  }

  private mutating func add(_ selector: String, _ body: String, _ condition: String) {
    let declarations = body.split(separator: ";").map {
      String($0.replacing(/\s+/, with: " ").trimmingPrefix(" "))
    }.filter { !$0.isEmpty }
    for declaration in declarations where !declaration.contains(/^-{0,2}[a-z-]+\s*:\s*\S/) {
      faults.append("no declaration: \(declaration) of \(selector)")
    }
    if declarations.isEmpty { faults.append("a rule without declarations: \(selector)") }
    rules.append(Rule(condition: condition, selector: selector, declarations: declarations))
  }

  /// The text before one of the characters outside quotation marks and parentheses.
  private static func upTo(_ ends: Set<Character>, _ rest: inout Substring) -> String {
    var quote: Character?
    var depth = 0
    var end = rest.startIndex
    while end < rest.endIndex {
      let character = rest[end]
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "(" {
        depth += 1
      } else if character == ")" {
        depth -= 1
      } else if depth == 0, ends.contains(character) {
        break
      }
      end = rest.index(after: end)
    }
    let text = rest[..<end]
    rest = rest[end...]
    return String(text.replacing(/\s+$/, with: "").replacing(/\s+/, with: " "))
  }

  /// The custom properties that it defines.
  package var defined: Set<String> {
    Set(
      rules.flatMap(\.declarations).compactMap { declaration in
        declaration.firstMatch(of: /^(--[\w-]+)\s*:/).map { String($0.1) }
      }
    )
  }

  /// The custom properties that it uses.
  package var used: Set<String> {
    Set(
      rules.flatMap(\.declarations).flatMap { declaration in
        declaration.matches(of: /var\((--[\w-]+)/).map { String($0.1) }
      }
    )
  }

  /// The classes in its selectors.
  package var classes: Set<String> { names(/\.(-?[A-Za-z_][\w-]*)/) }

  /// The ids in its selectors.
  package var ids: Set<String> { names(/#(-?[A-Za-z_][\w-]*)/) }

  private func names(_ pattern: Regex<(Substring, Substring)>) -> Set<String> {
    Set(rules.flatMap { rule in rule.selector.matches(of: pattern).map { String($0.1) } })
  }
}
