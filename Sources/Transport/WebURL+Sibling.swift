extension WebURL {
  /// The URL of a plain reference to this URL's own origin; nil when a parser has to look at it.
  ///
  /// A catalog names thousands of pictures on one or two origins. Once one of them has been parsed, a
  /// reference that repeats its origin letter for letter, or is a path alone, and holds nothing but unreserved
  /// characters, slashes and a simple query, can mean one thing only: nothing to encode, no dot segments
  /// to remove, no authority to judge. (RFC 3986, sections 2.3, 5.2 and 5.2.3)
  ///
  /// - Parameters:
  ///   - reference: An absolute URL, or a path, absolute or relative.
  ///   - isBase: Whether a path alone is relative to this URL.
  /// - Returns: The URL; a path alone inherits this URL's user information.
  package func sibling(_ reference: String, isBase: Bool) -> WebURL? {
    var reference = reference
    return reference.withUTF8 { bytes in
      guard !bytes.isEmpty, bytes.count < 4096 else { return nil }
      let isWhole = bytes.count > pathStart && startsWithOrigin(bytes)
      let target = isWhole ? UnsafeBufferPointer(rebasing: bytes[pathStart...]) : bytes
      let slash = UInt8(ascii: "/")
      let isRooted = target[0] == slash
      guard isWhole || isBase, target[0] != UInt8(ascii: "?"),
        Self.isPlain(target, after: isRooted ? 0 : slash)
      else { return nil }
      return WebURL(
        sibling: self,
        path: isRooted ? pathStart : folderEnd,
        target: target,
        keepsUserInfo: !isWhole
      )
    }
  }

  /// Where what a relative path is appended to ends: behind the path's last slash.
  private var folderEnd: Int {
    var end = pathStart
    for (place, byte) in text.utf8.enumerated().dropFirst(pathStart) {
      if byte == UInt8(ascii: "?") { break }
      if byte == UInt8(ascii: "/") { end = place + 1 }
    }
    return end
  }

  private func startsWithOrigin(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    bytes[pathStart] == UInt8(ascii: "/")
      && text.utf8.prefix(pathStart).elementsEqual(bytes.prefix(pathStart))
  }

  /// Whether a path with its query reads the same to every parser, behind the byte that stands before it.
  private static func isPlain(_ target: UnsafeBufferPointer<UInt8>, after first: UInt8) -> Bool {
    var before = first
    var isQuery = false
    for byte in target {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        break
      case UInt8(ascii: "."):
        // A dot behind a slash may begin a dot segment.
        if before == UInt8(ascii: "/") { return false }
      case UInt8(ascii: "/"):
        // Two slashes at the start would begin an authority.
        if before == UInt8(ascii: "/") { return false }
      case UInt8(ascii: "="), UInt8(ascii: "&"):
        if !isQuery { return false }
      case UInt8(ascii: "?"):
        if isQuery { return false }
        isQuery = true
      default:
        return false
      }
      before = byte
    }
    return true
  }
}
