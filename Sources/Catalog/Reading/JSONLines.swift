/// JSON Lines, a notation that has one JSON value on each line.
///
/// It is converted to an array. (jsonlines.org, and NDJSON)
package enum JSONLines {
  /// Whether the name or the media type of a body says that it is JSON Lines, for example `items.jsonl`.
  ///
  /// - Parameters:
  ///   - name: The URL or the path of the body.
  ///   - type: The value of the `Content-Type` field, or nil if there is none.
  /// - Returns: Whether the name or the type says so.
  package static func isDeclared(name: String, type: String? = nil) -> Bool {
    let path = name.prefix { $0 != "?" && $0 != "#" }.lowercased()
    if [".jsonl", ".ndjson", ".jl"].contains(where: path.hasSuffix) { return true }
    let essence = (type ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return types.contains(where: essence.hasSuffix)
  }

  /// Whether a body seems to be JSON Lines, because its first two lines are objects.
  static func seem(_ body: [UInt8]) -> Bool {
    let bytes = JSONText(body).bytes.drop { $0 <= 0x20 }
    // If the first line is longer than 1 MiB, the body is not recognized as JSON Lines.
    guard bytes.first == UInt8(ascii: "{"), let end = bytes.prefix(1 << 20).firstIndex(of: 0x0A),
      isObject(bytes[..<end])
    else { return false }
    let rest = bytes[end...].drop { $0 <= 0x20 }
    return isObject(rest.prefix { $0 != 0x0A })
  }

  /// Whether a body is one JSON document according to its first bytes, even if its name ends in `.jsonl`.
  ///
  /// It is an array, or an object whose brace is alone on its line, as in a file that was written for people.
  ///
  /// - Parameter beginning: The first bytes of the body.
  /// - Returns: Whether these bytes cannot begin a line of JSON Lines.
  package static func isDocument(_ beginning: [UInt8]) -> Bool {
    let bytes = JSONText(beginning).bytes.drop(while: isSpace)
    if bytes.first == UInt8(ascii: "[") { return true }
    return bytes.first == UInt8(ascii: "{")
      && bytes.dropFirst().prefix(while: isSpace).contains(0x0A)
  }

  private static func isObject(_ line: ArraySlice<UInt8>) -> Bool {
    line.first == UInt8(ascii: "{")
      && (try? JSONDocument(parsing: Array(line)).root.kind) == .object
  }

  /// The ends of media types such as `application/x-ndjson`.
  private static let types = ["jsonl", "jsonlines", "json-lines", "ndjson", "json-stream"]

  /// Converts the lines of a body to one JSON array.
  ///
  /// Each value stays on its line, so that an error about the array names the right line of the body.
  ///
  /// - Parameter body: The body. If it already is an array, it is returned unchanged.
  /// - Returns: The array as JSON.
  package static func array(of body: [UInt8]) -> [UInt8] {
    var joining = Joining()
    return joining.joined(body[...]) + joining.end
  }

  /// Converts lines to one JSON array while they are received.
  package struct Joining: Sendable {
    private static let bracket = UInt8(ascii: "[")

    /// The bracket or the comma before the next value; nil if the body already is an array.
    private var mark: UInt8? = Self.bracket
    /// Whether the current line has a value.
    private var isInValue = false

    /// Makes a converter for one body.
    package init() {}

    /// Converts the next piece of the body.
    ///
    /// - Parameter piece: The next bytes of the body. They can end in the middle of a line, or even of a character.
    /// - Returns: The next bytes of the array.
    package mutating func joined(_ piece: ArraySlice<UInt8>) -> [UInt8] {
      var array: [UInt8] = []
      array.reserveCapacity(piece.count + piece.count / 64 + 2)
      var rest = piece
      while let mark, let byte = rest.first {
        if isInValue {
          let value = rest.prefix { $0 != 0x0A }
          array += value
          rest = rest[value.endIndex...]
          isInValue = rest.isEmpty
        } else if isSpace(byte) || mark == Self.bracket && byte >= 0x80 {
          // A byte order mark must stay at the beginning, before the bracket of the array.
          array.append(rest.removeFirst())
        } else if mark == Self.bracket, byte == mark {
          self.mark = nil
        } else {
          array.append(mark)
          self.mark = UInt8(ascii: ",")
          isInValue = true
        }
      }
      return array + rest
    }

    /// The last bytes of the array, after all pieces have been converted.
    package var end: [UInt8] {
      guard let mark else { return [] }
      return Array((mark == Self.bracket ? "[]" : "]").utf8)
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
