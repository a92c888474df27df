/// Redacts secrets in text from servers and programs before it is shown.
///
/// A server may repeat the secrets of a request in its response, and a program may print secrets on stderr.
package struct SecretRedactor: Hashable, Sendable {
  /// The secrets to redact, as bytes.
  private var secrets: Set<[UInt8]> = []
  /// Shorter words are not redacted, because they occur in many texts by chance.
  package static let shortestSecret = 4

  /// Makes a redactor without secrets.
  package init() {}

  /// Adds each word of a text as a secret, and also all words joined by spaces.
  ///
  /// Names of authentication schemes are left out: in `Bearer x`, only `x` is a secret.
  package mutating func hide(_ text: String) {
    let schemes: Set<String> = ["basic", "bearer", "token", "digest", "apikey"]
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
      .filter { !schemes.contains($0.lowercased()) }
    for word in words { add(word) }
    if words.count > 1 { add(words.joined(separator: " ")) }
  }

  private mutating func add(_ text: String) {
    if text.utf8.count >= Self.shortestSecret { secrets.insert(Array(text.utf8)) }
  }

  /// The text with each secret replaced by `***`, even if some of its bytes are percent-encoded.
  package func applied(to text: String) -> String {
    var bytes = Array(text.utf8)
    // Longer secrets are replaced first, because a secret may be a part of another one.
    for secret in secrets.sorted(by: { ($0.count, $1.lexical) > ($1.count, $0.lexical) }) {
      bytes = Self.replacing(secret, in: bytes, with: Array("***".utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces a value wherever it occurs, even if some of its bytes are percent-encoded.
  ///
  /// - Parameters:
  ///   - value: The bytes to replace; not empty.
  ///   - text: The text to search.
  ///   - name: The replacement.
  /// - Returns: The text with the replacements.
  package static func replacing(
    _ value: [UInt8],
    in text: [UInt8],
    with name: [UInt8]
  ) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    while start < text.count {
      if let end = match(value, in: text, at: start) {
        result += name
        start = end
      } else {
        result.append(text[start])
        start += 1
      }
    }
    return result
  }

  /// The end of an occurrence of the value that begins at `start`; nil when there is none.
  private static func match(_ value: [UInt8], in text: [UInt8], at start: Int) -> Int? {
    var place = start
    for wanted in value {
      guard place < text.count else { return nil }
      if text[place] == wanted {
        place += 1
      } else if let end = escape(of: wanted, in: text, at: place) {
        place = end
      } else if text[place] == UInt8(ascii: "+"), wanted == UInt8(ascii: " ") {
        place += 1
      } else {
        return nil
      }
    }
    return place
  }

  /// The end of a percent-encoded byte that begins at `start`.
  ///
  /// It may be encoded several times: `%2B`, `%252B`.
  private static func escape(of wanted: UInt8, in text: [UInt8], at start: Int) -> Int? {
    guard text[start] == UInt8(ascii: "%") else { return nil }
    var place = start + 1
    while place + 1 < text.count, let high = hexadecimal(text[place]),
      let low = hexadecimal(text[place + 1])
    {
      place += 2
      if high << 4 | low == wanted { return place }
      // An encoded percent sign, which is followed by the rest of the escape.
      guard high << 4 | low == UInt8(ascii: "%") else { return nil }
    }
    return nil
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension SecretRedactor: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable
{
  /// The number of secrets, but not the secrets.
  package var description: String { "\(secrets.count) secrets" }
  /// The same as `description`.
  package var debugDescription: String { description }
  /// No children, so that `dump` shows none of the secrets.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
  /// The bytes as text, so that secrets of the same length sort in a fixed order.
  fileprivate var lexical: String { String(decoding: self, as: UTF8.self) }
}
