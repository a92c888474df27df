/// Redacts secrets in foreign text before it is shown.
///
/// An origin may repeat the secrets of the request in its response, and a program may print them on stderr.
package struct SecretRedactor: Hashable, Sendable {
  /// The secrets to redact, as bytes.
  private var secrets: Set<[UInt8]> = []
  /// Shorter words are not secrets, and would be found in many texts by chance.
  package static let shortestSecret = 4

  /// Makes a redactor without secrets.
  package init() {}

  /// Adds each word of a text as a secret, and all of them joined, but no names of schemes: of `Bearer x`, only `x` is
  /// secret.
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

  /// The text with each secret as `***`, however its bytes are percent-encoded.
  package func applied(to text: String) -> String {
    var bytes = Array(text.utf8)
    // The longest first: one may be part of another.
    for secret in secrets.sorted(by: { ($0.count, $1.lexical) > ($1.count, $0.lexical) }) {
      bytes = Self.replacing(secret, in: bytes, with: Array("***".utf8))
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Replaces bytes wherever they occur, as they are or with any of them percent-encoded.
  ///
  /// - Parameters:
  ///   - value: The bytes to look for; not empty.
  ///   - text: Where to look.
  ///   - name: The replacement.
  /// - Returns: The text without the value.
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

  /// Where a value that begins at `start` ends.
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

  /// The end of a percent-encoded byte that begins at `start`, encoded once or several times: `%2B`, `%252B`.
  private static func escape(of wanted: UInt8, in text: [UInt8], at start: Int) -> Int? {
    guard text[start] == UInt8(ascii: "%") else { return nil }
    var place = start + 1
    while place + 1 < text.count, let high = hexadecimal(text[place]),
      let low = hexadecimal(text[place + 1])
    {
      place += 2
      if high << 4 | low == wanted { return place }
      // An encoded percent sign, after which the escape continues.
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
  /// The number of secrets, without the secrets.
  package var description: String { "\(secrets.count) secrets" }
  /// The same as `description`.
  package var debugDescription: String { description }
  /// No children, so that `dump` shows none of the secrets either.
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension [UInt8] {
  /// The bytes as text, to put equal lengths into a fixed order.
  fileprivate var lexical: String { String(decoding: self, as: UTF8.self) }
}
