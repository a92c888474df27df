import Catalog

/// A URL of the catalog file with the environment's values, and in a form that leaves out those that may be secret.
struct VariableURL: Sendable {
  /// The text with all values as they are, which a local path needs.
  let plain: String
  /// The text with `${NAME}` left unexpanded in path and query.
  ///
  /// Variables in scheme, user information, host and port are expanded, because a request needs its host. So is one
  /// that begins the text and whose value is an absolute URL.
  let veiled: String

  /// A text that names no variable, whatever stands in it.
  init(plain: String) {
    self.plain = plain
    veiled = plain
  }

  /// Puts values in; a variable without one stays as it stands.
  init(_ text: String, _ values: [String: String]) {
    guard text.utf8.contains(UInt8(ascii: "$")) else {
      (self.plain, self.veiled) = (text, text)
      return
    }
    var plain = ""
    var veiled = ""
    var rest = Substring(text)
    while let start = rest.firstRange(of: "${"),
      let end = rest[start.upperBound...].firstIndex(of: "}")
    {
      let name = String(rest[start.upperBound..<end])
      plain += rest[..<start.lowerBound]
      veiled += rest[..<start.lowerBound]
      rest = rest[rest.index(after: end)...]
      guard let value = values[name] else {
        plain += "${\(name)}"
        veiled += "${\(name)}"
        continue
      }
      plain += value
      if veiled.isEmpty {
        veiled = value.contains("://") ? value : "${\(name)}"
      } else if Self.endsInAuthority(veiled) {
        let isUserInfo = rest.prefix { !"/?#".contains($0) }.contains("@")
        veiled += isUserInfo ? PercentEncoding.escaped(value) : value
      } else {
        veiled += "${\(name)}"
      }
    }
    self.plain = plain + rest
    self.veiled = veiled + rest
  }

  /// Whether what follows still belongs to the authority. (RFC 3986, section 3.2)
  private static func endsInAuthority(_ text: String) -> Bool {
    guard let slashes = text.firstRange(of: "://") else { return false }
    return !text[slashes.upperBound...].contains { "/?#".contains($0) }
  }
}
