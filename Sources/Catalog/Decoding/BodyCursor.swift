/// A cursor in a body.
///
/// The body is read piece by piece, so that it is never in memory as a whole.
struct BodyCursor {
  private let body: any RandomAccessBody
  private var piece: [UInt8] = []
  /// The offset in the body where the piece begins.
  private var first: Int
  /// The offset of the cursor in the piece.
  private var offset = 0

  private static let pieceSize = 256 << 10
  /// The maximum length of a name in bytes.
  ///
  /// Longer names are not compared.
  private static let longestName = 1024

  init(_ body: some RandomAccessBody, at place: Int) {
    self.body = body
    first = place
  }

  /// The offset of the cursor in the body.
  var place: Int { first + offset }

  /// Moves the cursor to an offset in the body.
  mutating func move(to place: Int) {
    if place >= first, place <= first + piece.count {
      offset = place - first
    } else {
      (first, offset, piece) = (place, 0, [])
    }
  }

  /// Moves the cursor behind the present piece, and returns this piece and its offset in the body.
  ///
  /// The result is nil if there is no piece, or if it cannot be read.
  mutating func nextPiece() -> (offset: Int, piece: [UInt8])? {
    guard peek() != nil else { return nil }
    offset = piece.count
    return (first, piece)
  }

  /// The byte at the cursor, or nil if there is none or if it cannot be read.
  private mutating func peek() -> UInt8? {
    if offset < piece.count { return piece[offset] }
    first += offset
    offset = 0
    if !body.read(into: &piece, from: first, most: Self.pieceSize) { piece = [] }
    return piece.first
  }
}

/// Steps through a JSON text.
extension BodyCursor {
  mutating func skipSpace() {
    while let byte = peek() {
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: offset += 1
      default: return
      }
    }
  }

  mutating func isBefore(_ character: Unicode.Scalar) -> Bool {
    peek() == UInt8(ascii: character)
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard isBefore(character) else { return false }
    offset += 1
    return true
  }

  /// Skips a string and returns the bytes between its quotes.
  ///
  /// The result is nil if the string has escapes, if it is too long, or if there is no string at the cursor.
  mutating func plainString() -> [UInt8]? {
    guard take("\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = peek(), byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") || bytes.count == Self.longestName { return nil }
      bytes.append(byte)
      offset += 1
    }
    return take("\"") ? bytes : nil
  }

  /// Skips a value.
  ///
  /// The result is false if there is no value at the cursor, or if the body ends before the value.
  mutating func skipValue() -> Bool {
    let start = place
    var depth = 0
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        guard skipString() else { return false }
        if depth == 0 { return true }
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        depth += 1
        offset += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if depth == 0 { return place > start }
        depth -= 1
        offset += 1
        if depth == 0 { return true }
      case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
        if depth == 0 { return place > start }
        offset += 1
      default:
        offset += 1
      }
    }
    return depth == 0 && place > start
  }

  private mutating func skipString() -> Bool {
    let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
    offset += 1
    while peek() != nil {
      guard let end = piece[offset...].firstIndex(where: { $0 == quote || $0 == escape }) else {
        offset = piece.count
        continue
      }
      if piece[end] == quote {
        offset = end + 1
        return true
      }
      offset = end + 2
    }
    return false
  }
}

/// Steps through an XML document.
extension BodyCursor {
  /// A tag of XML.
  struct Tag {
    enum Kind { case start, end, empty }

    /// The offset of its `<`.
    var start: Int
    var kind: Kind
    /// The name of a start tag, for example "g:item".
    ///
    /// Only the first bytes of a very long name are kept.
    var name = ""
  }

  /// Moves the cursor behind the next tag that is not in a comment or the like.
  ///
  /// The result is nil if there is none. It is also nil, before the end of the body, if a document type has
  /// declarations. The document is not checked, because libxml2 does that when it reads the windows.
  mutating func nextTag() -> Tag? {
    while skip(past: "<") {
      let start = place - 1
      if take("?") {
        guard skip(past: "?>") else { return nil }
      } else if take("!") {
        guard skipDeclaration() else { return nil }
      } else if take("/") {
        return skip(past: ">") ? Tag(start: start, kind: .end) : nil
      } else {
        return startTag(at: start)
      }
    }
    return nil
  }

  /// Skips a comment, a CDATA section or a document type without declarations, whose `<!` is before the cursor.
  private mutating func skipDeclaration() -> Bool {
    if take("-") { return take("-") && skip(past: "-->") }
    return take("[") ? skip(past: "]]>") : tagEnd() != nil
  }

  private mutating func startTag(at start: Int) -> Tag? {
    var name: [UInt8] = []
    while let byte = peek(), byte > 0x20, byte != UInt8(ascii: "/"), byte != UInt8(ascii: ">") {
      if name.count < Self.longestName { name.append(byte) }
      offset += 1
    }
    return tagEnd().map { last in
      let kind: Tag.Kind = last == UInt8(ascii: "/") ? .empty : .start
      return Tag(start: start, kind: kind, name: String(decoding: name, as: UTF8.self))
    }
  }

  /// Moves the cursor behind the next `>` that is not in quotes, and returns the byte before it.
  ///
  /// The result is nil if there is none in this tag or before the declarations of a document type.
  private mutating func tagEnd() -> UInt8? {
    var last: UInt8 = 0
    while let byte = peek(), byte != UInt8(ascii: "["), byte != UInt8(ascii: "<") {
      offset += 1
      switch byte {
      case UInt8(ascii: ">"): return last
      case UInt8(ascii: "\""), UInt8(ascii: "'"):
        guard skip(past: String(UnicodeScalar(byte))) else { return nil }
      default: break
      }
      last = byte
    }
    return nil
  }

  /// Moves the cursor behind the next occurrence of a text of up to four bytes.
  private mutating func skip(past end: String) -> Bool {
    let end = Array(end.utf8)
    let whole = end.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    let mask = UInt32.max >> UInt32(32 - 8 * end.count)
    var last: UInt32 = 0
    while peek() != nil {
      if end.count == 1 {
        // Most bytes are in a text or a value.
        guard let found = piece[offset...].firstIndex(of: end[0]) else {
          offset = piece.count
          continue
        }
        offset = found + 1
        return true
      }
      last = last << 8 | UInt32(piece[offset])
      offset += 1
      if last & mask == whole { return true }
    }
    return false
  }
}

/// A response whose bytes can be read at any offset.
///
/// It can be in memory or in a file.
package protocol RandomAccessBody: Sendable {
  /// The number of bytes.
  var count: Int { get }

  /// Copies bytes of the body to a buffer.
  ///
  /// - Parameters:
  ///   - range: The offsets of the bytes. They must be inside the body.
  ///   - buffer: A buffer that is at least as long as the range.
  /// - Returns: Whether the bytes could be read.
  func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool
}

extension RandomAccessBody {
  /// Reads a part of the body.
  ///
  /// - Parameters:
  ///   - bytes: The array that is filled. If it has the right length already, its memory is reused.
  ///   - start: The offset of the first byte to read. If it is behind the end of the body, no byte is read.
  ///   - most: The maximum number of bytes. Fewer are read at the end of the body.
  /// - Returns: Whether the bytes could be read.
  func read(into bytes: inout [UInt8], from start: Int, most: Int) -> Bool {
    let range = start..<max(start, min(count, start + most))
    if bytes.count != range.count { bytes = [UInt8](repeating: 0, count: range.count) }
    return range.isEmpty || bytes.withUnsafeMutableBytes { copy(range, to: $0) }
  }
}

extension [UInt8]: RandomAccessBody {
  /// Copies bytes of the array to a buffer.
  ///
  /// This never fails.
  package func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool {
    withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
    return true
  }
}
