/// Text as a scalar of YAML, in quotes where it could mean something else.
enum YAMLText {
  /// The text plain where that is safe in any place, else in double quotes. (YAML 1.2, section 7.3.1)
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

  /// The text as a string of JSON, and so of jq: a parenthesis behind a backslash stays text there.
  static func jsonQuoted(_ text: String) -> String {
    var quoted = "\""
    for unit in text.utf16 {
      if unit > 0x1F, unit < 0x7F, unit != 0x22, unit != 0x5C {
        quoted.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
      } else {
        let digits = String(unit, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      }
    }
    return quoted + "\""
  }

  /// The text in double quotes.
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
}
