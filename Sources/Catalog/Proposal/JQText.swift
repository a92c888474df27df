/// Text as part of a jq program.
enum JQText {
  /// A string literal.
  ///
  /// All but printable ASCII is escaped, and so is the backslash: nothing in it closes the string, opens an
  /// interpolation or ends the line on which it stands.
  static func string(_ text: String) -> String {
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

  /// A member by its name: `.name`, or `.["a name"]` where it is no identifier.
  static func member(_ name: String) -> String {
    let isIdentifier =
      name.utf8.first.map { !(0x30...0x39).contains($0) } ?? false
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isIdentifier ? ".\(name)" : ".[\(string(name))]"
  }
}
