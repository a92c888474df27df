import Transport

/// The text of a URL, absolute or relative, made fit for libcurl's parser.
///
/// Outside the authority, spaces, quotes, angle brackets and raw UTF-8 become percent-encoded; whatever is encoded
/// already stays as it is.
struct URLReference {
  /// Without surrounding white space, and encoded.
  let text: String
  /// The scheme in lower case; nil in a relative reference.
  let scheme: String?
  private let authority: Substring

  init(_ original: String) {
    var utf8 = original[...].utf8
    while let byte = utf8.first, byte <= 0x20 { utf8.removeFirst() }
    while let byte = utf8.last, byte <= 0x20 { utf8.removeLast() }
    let trimmed = Substring(utf8)
    scheme = Self.scheme(of: trimmed)
    let afterScheme = trimmed.utf8.dropFirst(scheme.map { $0.utf8.count + 1 } ?? 0)
    let slashes = afterScheme.prefix { $0 == UInt8(ascii: "/") }.count
    guard scheme != nil || slashes >= 2 else {
      authority = ""
      text = Self.encode(trimmed)
      return
    }
    let named = afterScheme.dropFirst(slashes)
    let end = named.firstIndex { "/?#".utf8.contains($0) } ?? named.endIndex
    authority = trimmed[named.startIndex..<end]
    text = String(trimmed[..<end]) + Self.encode(trimmed[end...])
  }

  /// Whether parsers disagree about where the host ends: some take a backslash for a slash, some stop at NUL.
  var hasAmbiguousAuthority: Bool {
    authority.utf8.contains { $0 == UInt8(ascii: "\\") || $0 <= 0x20 || $0 == 0x7F }
  }

  /// Whether it names a host of its own.
  var hasAuthority: Bool { scheme != nil || text.hasPrefix("//") }

  /// The text without user information and query, and cut short, for messages.
  var redacted: String {
    var shown = text
    if let at = authority.lastIndex(of: "@"), let range = text.firstRange(of: authority[...at]) {
      shown.removeSubrange(range)
    }
    return String(shown.prefix { $0 != "?" && $0 != "#" && $0 != "," }.prefix(200))
  }

  /// What stands before the first colon, when it can be a scheme. (RFC 3986, section 3.1)
  private static func scheme(of text: Substring) -> String? {
    guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = text[..<colon]
    guard let first = name.utf8.first, first.isTokenCharacter, !first.isDigit,
      name.utf8.allSatisfy({
        $0.isDigit || ("a"..."z").contains(Character(UnicodeScalar($0.asciiLowercased)))
          || "+-.".utf8.contains($0)
      })
    else { return nil }
    return name.lowercased()
  }

  private static func encode(_ text: Substring) -> String {
    func mustEncode(_ byte: UInt8) -> Bool {
      byte <= 0x20 || byte >= 0x7F || byte == 0x22 || byte == 0x3C || byte == 0x3E
    }
    guard text.utf8.contains(where: mustEncode) else { return String(text) }
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if mustEncode(byte) {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
