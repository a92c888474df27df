import Transport

/// The text of a URL, absolute or relative, made fit for libcurl's parser.
///
/// Outside the authority, whatever no URL has becomes percent-encoded: spaces, quotes, brackets but square ones, `|`, `^`,
/// a backquote, raw UTF-8. A backslash of the path becomes a slash. Whatever is encoded already stays as it is.
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

  /// Encodes what no URL has, and takes a backslash of the path for a slash, as browsers do.
  ///
  /// RFC 3986, section 2; WHATWG URL, path state. `${NAME}` stays: it stands for a value until the request leaves.
  private static func encode(_ text: Substring) -> String {
    guard text.utf8.contains(where: mustChange) else { return String(text) }
    let digits = Array("0123456789ABCDEF".utf8)
    let source = Array(text.utf8)
    var bytes: [UInt8] = []
    var isPath = true
    var place = 0
    while place < source.count {
      let byte = source[place]
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isPath = false }
      if byte == UInt8(ascii: "\\"), isPath {
        bytes.append(UInt8(ascii: "/"))
      } else if let end = variableEnd(in: source, at: place) {
        bytes += source[place..<end]
        place = end
        continue
      } else if mustChange(byte) {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      } else {
        bytes.append(byte)
      }
      place += 1
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func mustChange(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte >= 0x7F || "\"<>\\^`{|}".utf8.contains(byte)
  }

  /// Where a `${NAME}` that begins at `start` ends.
  private static func variableEnd(in text: [UInt8], at start: Int) -> Int? {
    guard text[start...].starts(with: "${".utf8),
      let end = text[start...].firstIndex(of: UInt8(ascii: "}")), end > start + 2,
      text[(start + 2)..<end].allSatisfy({
        $0.isDigit || $0 == UInt8(ascii: "_")
          || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20)
      })
    else { return nil }
    return end + 1
  }
}
