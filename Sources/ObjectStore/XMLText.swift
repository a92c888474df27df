/// Text as character data or an attribute of an XML document.
enum XMLText {
  /// The text with references for markup, and without characters that XML 1.0 has not. (Section 2.2)
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&apos;"
      case "\t", "\n", "\r": escaped += "&#\(scalar.value);"
      case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
