import Base

/// Replaces secrets by `***` in text from servers and programs before it is shown.
///
/// A server can repeat the secrets of a request in its response, and a program can print secrets on stderr.
package struct SecretRedactor: Hashable, Sendable {
  /// The secrets, longest first.
  ///
  /// A secret can be a part of a longer secret, so longer secrets are replaced first.
  private var secrets: [[UInt8]] = []
  /// The minimum length of a secret in bytes.
  ///
  /// Shorter words are not replaced, because they occur in many texts by chance.
  package static let shortestSecret = 4

  /// Makes a redactor without secrets.
  package init() {}

  /// Adds the words of a text as secrets.
  ///
  /// If there are several words, the words joined by spaces are a secret too.
  ///
  /// Names of authentication schemes are no secrets. For example, only `a1b2c3` is a secret in `Bearer a1b2c3`.
  package mutating func hide(_ text: String) {
    let schemes: Set<String> = ["basic", "bearer", "token", "digest", "apikey"]
    let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
      .filter { !schemes.contains($0.lowercased()) }
    for word in words { add(word) }
    if words.count > 1 { add(words.joined(separator: " ")) }
  }

  private mutating func add(_ text: String) {
    let secret = Array(text.utf8)
    guard secret.count >= Self.shortestSecret, !secrets.contains(secret) else { return }
    secrets.insert(secret, at: secrets.firstIndex { $0.count < secret.count } ?? secrets.count)
  }

  /// The text with each secret replaced by `***`.
  ///
  /// A secret is found even if some of its bytes are percent-encoded.
  package func applied(to text: String) -> String {
    var bytes = Array(text.utf8)
    for secret in secrets {
      bytes = Self.replacing(secret, in: bytes, with: Array("***".utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces a value wherever it occurs.
  ///
  /// It is found even if some of its bytes are percent-encoded.
  ///
  /// - Parameters:
  ///   - value: The bytes to replace. They must not be empty.
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

  /// The index where the value ends, or nil if it does not occur at `start`.
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

  /// The index where a percent-encoded form of the byte `wanted` ends, or nil if there is none at `start`.
  ///
  /// The byte can be encoded several times. For example, `%2B` and `%252B` are both a plus sign.
  private static func escape(of wanted: UInt8, in text: [UInt8], at start: Int) -> Int? {
    guard text[start] == UInt8(ascii: "%") else { return nil }
    var place = start + 1
    while place + 1 < text.count, let high = Hexadecimal.value(of: text[place]),
      let low = Hexadecimal.value(of: text[place + 1])
    {
      place += 2
      if high << 4 | low == wanted { return place }
      // The decoded byte can be a percent sign that begins another escape.
      guard high << 4 | low == UInt8(ascii: "%") else { return nil }
    }
    return nil
  }
}

extension SecretRedactor: CustomStringConvertible, CustomReflectable {
  /// The number of secrets, for example "2 secrets".
  package var description: String { "\(secrets.count) secrets" }
  /// A mirror without children, so that `dump` does not show the secrets.
  package var customMirror: Mirror { Mirror(self, children: []) }
}
