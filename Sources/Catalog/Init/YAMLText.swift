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
    var quoted = "\""
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" {
        quoted += "\\"
        quoted.unicodeScalars.append(scalar)
      } else if PlainText.isHarmful(scalar) {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        quoted += "\\U" + String(repeating: "0", count: 8 - digits.count) + digits
      } else {
        quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
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
      var escaped = indent
      for scalar in line.unicodeScalars {
        if PlainText.isHarmful(scalar), scalar != "\t" {
          escaped += String(scalar).utf16.map(unicodeEscape).joined()
        } else {
          escaped.unicodeScalars.append(scalar)
        }
      }
      return escaped
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
    var quoted = "\""
    for unit in text.utf16 {
      if unit > 0x1F, unit < 0x7F, unit != 0x22, unit != 0x5C {
        quoted.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      } else {
        quoted += unicodeEscape(unit)
      }
    }
    return quoted + "\""
  }

  /// The jq expression for a member: `.name`, or `.["a name"]` if the name is not an identifier.
  static func member(_ name: String) -> String {
    TemplateText.isName(name) ? ".\(name)" : ".[\(string(name))]"
  }
}

/// The escape of a UTF-16 code unit in JSON, jq and JSONPath, such as `\u00e9`.
func unicodeEscape(_ unit: UInt16) -> String {
  let digits = String(unit, radix: 16)
  return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
}
