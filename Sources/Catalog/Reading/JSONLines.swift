/// JSON Lines: one value on each line, read as an array. (jsonlines.org, and NDJSON)
package enum JSONLines {
  /// Whether a name or a media type says that a body is JSON Lines.
  ///
  /// - Parameters:
  ///   - name: A URL or a file's path.
  ///   - type: The `Content-Type` field; nil when there is none.
  /// - Returns: Whether either says so.
  package static func isDeclared(name: String, type: String? = nil) -> Bool {
    let path = name.prefix { $0 != "?" && $0 != "#" }.lowercased()
    if [".jsonl", ".ndjson", ".jl"].contains(where: path.hasSuffix) { return true }
    let essence = (type ?? "").prefix { $0 != ";" && $0 != " " }.lowercased()
    return types.contains(essence)
  }

  /// Whether a body of unknown name and type is JSON Lines: its first two lines are objects.
  package static func seem(_ body: [UInt8]) -> Bool {
    let bytes = JSONText(body).bytes.drop { $0 <= 0x20 }
    // A longer first line is not taken for one of JSON Lines.
    guard bytes.first == UInt8(ascii: "{"), let end = bytes.prefix(1 << 20).firstIndex(of: 0x0A),
      isObject(bytes[..<end])
    else { return false }
    let rest = bytes[end...].drop { $0 <= 0x20 }
    return isObject(rest.prefix { $0 != 0x0A })
  }

  private static func isObject(_ line: ArraySlice<UInt8>) -> Bool {
    line.first == UInt8(ascii: "{")
      && (try? JSONDocument(parsing: Array(line)).root.kind) == .object
  }

  private static let types: Set<String> = [
    "application/jsonl", "application/x-jsonl", "application/jsonlines", "application/x-jsonlines",
    "application/ndjson", "application/x-ndjson", "application/json-lines",
    "application/x-json-stream", "text/jsonl", "text/x-ndjson",
  ]

  /// The lines as one array; each value stays on its line, so that errors name the right one.
  ///
  /// - Parameter body: One value on each line; a body that is an array already is returned as it is.
  /// - Returns: JSON.
  package static func array(of body: [UInt8]) -> [UInt8] {
    var joining = Joining()
    return joining.joined(body[...]) + joining.end
  }

  /// Converts lines to an array while they are received.
  package struct Joining: Sendable {
    private enum State {
      /// Before the first value.
      case start
      /// The body is an array already.
      case array
      /// Between lines.
      case line
      /// Inside a line that has a value.
      case value
    }

    private var state = State.start
    private var hasValue = false
    private var count = 0

    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Makes a converter for a new body.
    package init() {}

    /// Converts a further piece to a part of the array.
    ///
    /// - Parameter piece: The body's next bytes, cut anywhere.
    /// - Returns: The array's next bytes.
    package mutating func joined(_ piece: ArraySlice<UInt8>) -> [UInt8] {
      if state == .array { return Array(piece) }
      var array: [UInt8] = []
      array.reserveCapacity(piece.count + piece.count / 64 + 2)
      var place = piece.startIndex
      while place < piece.endIndex {
        let byte = piece[place]
        if state == .value {
          let end = piece[place...].firstIndex(of: 0x0A) ?? piece.endIndex
          array += piece[place..<end]
          count += end - place
          place = end
          if place < piece.endIndex { state = .line }
          continue
        }
        // A byte order mark comes before the bracket.
        let isMark = state == .start && count < Self.mark.count && byte == Self.mark[count]
        if !isMark, !isSpace(byte) {
          if state == .start, byte == UInt8(ascii: "[") {
            state = .array
            return array + piece[place...]
          }
          array.append(hasValue ? UInt8(ascii: ",") : UInt8(ascii: "["))
          hasValue = true
          state = .value
          continue
        }
        array.append(byte)
        count += 1
        place += 1
      }
      return array
    }

    /// The end of the array.
    package var end: [UInt8] {
      switch state {
      case .array: []
      case .start: Array("[]".utf8)
      case .line, .value: [UInt8(ascii: "]")]
      }
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0D).contains(byte)
  }
}
