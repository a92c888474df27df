/// Writes texts from a shop's response into YAML.
///
/// The written text stays on one line, and YAML never reads a part of it as syntax.
enum YAMLText {
  /// A scalar: without quotes if that is always safe, otherwise in double quotes. (YAML 1.2, section 7.3.1)
  static func scalar(_ text: String) -> String {
    let isSafe = text.unicodeScalars.allSatisfy {
      "._-/".unicodeScalars.contains($0) || $0 == "$"
        || (($0.properties.isAlphabetic || $0.properties.numericType != nil)
          && !PlainText.isHarmful($0))
    }
    let isWord = text.unicodeScalars.first.map { $0 == "$" || $0.properties.isAlphabetic } ?? false
    let isKeyword = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
      .contains(text.lowercased())
    return isSafe && isWord && !isKeyword ? text : quoted(text)
  }

  /// A scalar in double quotes.
  ///
  /// Line breaks, control characters and other invisible characters are escaped.
  static func quoted(_ text: String) -> String {
    let inner = escaped(text) { scalar in
      if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
      guard PlainText.isHarmful(scalar) else { return nil }
      let digits = String(scalar.value, radix: 16, uppercase: true)
      return "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
    }
    return "\"\(inner)\""
  }

  /// A list on one line, such as `[$.name, $.title]`, of values that are already written as YAML.
  static func list(_ values: [String]) -> String { "[\(values.joined(separator: ", "))]" }

  /// A value on its own if there is only one, otherwise the list of the values.
  static func alternatives(_ values: [String]) -> String {
    values.count == 1 ? values[0] : list(values)
  }

  /// A rule on one line, such as `{path: $.price, minorUnits: true}`, of members that are already written as YAML.
  ///
  /// A rule that has only a path is written without braces: `$.price`.
  static func rule(_ members: [String]) -> String {
    members.count == 1 && members[0].hasPrefix("path: ")
      ? String(members[0].dropFirst("path: ".count)) : "{\(members.joined(separator: ", "))}"
  }

  /// A comment on one line, with its `#`.
  static func comment(_ text: String) -> String { "# \(PlainText.line(text))" }

  /// The lines of a literal block that contains JSON or a jq program. (YAML 1.2, section 8.1.2)
  ///
  /// A literal block has no escapes of its own. Characters that YAML forbids or treats as line breaks are therefore
  /// escaped as in JSON, so that the JSON or the program keeps its meaning.
  static func block(_ text: String, indent: String) -> [String] {
    let lines = text.split(omittingEmptySubsequences: false) { ["\n", "\r\n", "\r"].contains($0) }
    return lines.map { line in
      indent + escaped(line) { PlainText.isHarmful($0) && $0 != "\t" ? unicodeEscape($0) : nil }
    }
  }

  /// Whether YAML reads a line of a file as one line.
  ///
  /// YAML has more line breaks than the line feed. (YAML 1.1, section 4.2)
  static func isOneLine(_ line: String) -> Bool {
    line.unicodeScalars.allSatisfy {
      !["\n", "\r", "\u{85}", "\u{2028}", "\u{2029}"].contains($0)
    }
  }
}

/// Writes texts into a jq program.
enum JQText {
  /// A string literal.
  ///
  /// Quotes, backslashes and all characters except printable ASCII are escaped. Therefore no text can close the
  /// string, open an interpolation or end the line.
  static func string(_ text: String) -> String {
    let inner = escaped(text) { scalar in
      let isPlain = (" "..."~").contains(scalar) && scalar != "\"" && scalar != "\\"
      return isPlain ? nil : unicodeEscape(scalar)
    }
    return "\"\(inner)\""
  }

  /// The jq expression for a member: `.name`, or `.["a name"]` if the name is not an identifier.
  static func member(_ name: String) -> String {
    TemplateText.isName(name) ? ".\(name)" : ".[\(string(name))]"
  }
}

/// A text with the escape of each character that has one; for other characters, `escape` returns nil.
func escaped(_ text: some StringProtocol, _ escape: (Unicode.Scalar) -> String?) -> String {
  text.unicodeScalars.map { escape($0) ?? String($0) }.joined()
}

/// The escape of a character in JSON, jq and JSONPath, such as `\u00e9`.
///
/// A character beyond U+FFFF has the escapes of its two UTF-16 code units.
func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
  String(scalar).utf16.map { unit in
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
  }.joined()
}
