/// Finds one array in a JSON text, and where it can be cut, without making a tree of it or holding it whole.
///
/// It does not validate the text: what it misreads is no JSON, and the parser of a piece reports that.
struct ArrayScan {
  /// Where the array's elements begin: behind its bracket.
  private(set) var start = 0
  /// Where they end: at its closing bracket.
  private(set) var end = 0
  /// The commas between elements that stand at least one window apart.
  private(set) var cuts: [Int] = []

  /// Whether an array is there.
  enum Finding: Equatable {
    /// It is, and nothing else has its name.
    case array
    /// There is nothing of the name, or something else than an array.
    case none
    /// Only a parser can tell.
    case unsure
  }

  /// Follows names from the outermost value to an array.
  ///
  /// - Parameters:
  ///   - names: The members to follow.
  ///   - body: JSON in UTF-8.
  ///   - place: Where its text begins, behind any byte order mark.
  ///   - window: How many bytes are between two cuts at least.
  /// - Returns: What was found; `start`, `end` and `cuts` are of the array.
  mutating func find(
    _ names: [String],
    in body: some RandomAccessBody,
    from place: Int,
    window: Int
  ) -> Finding {
    var reader = Reader(body, at: place)
    return find(names[...].map { Array($0.utf8) }[...], &reader, window)
  }

  /// Follows the names inside the value that the reader stands before, and passes over that value.
  private mutating func find(
    _ names: ArraySlice<[UInt8]>,
    _ reader: inout Reader,
    _ window: Int
  ) -> Finding {
    reader.skipSpace()
    guard let name = names.first else { return findCuts(&reader, window) }
    guard reader.take("{") else { return reader.skipValue() ? .none : .unsure }
    var finding = Finding.none
    reader.skipSpace()
    if reader.take("}") { return .none }
    repeat {
      reader.skipSpace()
      // An escape may spell the name in another way.
      guard let key = reader.plainString() else { return .unsure }
      reader.skipSpace()
      guard reader.take(":") else { return .unsure }
      if key == name {
        // Of a name that comes again the last value counts.
        guard finding == .none else { return .unsure }
        finding = find(names.dropFirst(), &reader, window)
        if finding == .unsure { return .unsure }
      } else {
        reader.skipSpace()
        guard reader.skipValue() else { return .unsure }
      }
      reader.skipSpace()
    } while reader.take(",")
    return reader.take("}") ? finding : .unsure
  }

  private mutating func findCuts(_ reader: inout Reader, _ window: Int) -> Finding {
    guard reader.take("[") else { return reader.skipValue() ? .none : .unsure }
    start = reader.place
    var last = start
    while true {
      reader.skipSpace()
      guard reader.skipValue() else {
        // An array without elements has no value to pass over.
        end = reader.place
        return last == start && reader.take("]") ? .array : .unsure
      }
      reader.skipSpace()
      let comma = reader.place
      if reader.take("]") {
        end = comma
        return .array
      }
      guard reader.take(",") else { return .unsure }
      if comma - last >= window {
        cuts.append(comma)
        last = comma
      }
    }
  }

  /// A place in a body, of which a piece is held.
  private struct Reader: ~Copyable {
    private let body: any RandomAccessBody
    private let piece: UnsafeMutableBufferPointer<UInt8>
    /// Where the piece begins in the body.
    private var first: Int
    /// How much of the piece was read from the body.
    private var filled = 0
    /// The place, in the piece.
    private var offset = 0

    private static let pieceSize = 256 << 10
    /// A name that is longer is not compared.
    private static let longestName = 1024

    init(_ body: any RandomAccessBody, at place: Int) {
      self.body = body
      first = place
      piece = .allocate(capacity: Self.pieceSize)
    }

    deinit { piece.deallocate() }

    /// The place in the body.
    var place: Int { first + offset }

    /// The byte at the place; nil at the end, and where the body cannot be read.
    private mutating func peek() -> UInt8? {
      if offset < filled { return piece[offset] }
      first += offset
      offset = 0
      filled = min(piece.count, body.count - first)
      guard filled > 0 else { return nil }
      let room = UnsafeMutableRawBufferPointer(
        rebasing: UnsafeMutableRawBufferPointer(piece)[..<filled]
      )
      if !body.copy(first..<first + filled, to: room) { filled = 0 }
      return filled > 0 ? piece[0] : nil
    }

    mutating func skipSpace() {
      while let byte = peek() {
        switch byte {
        case 0x20, 0x09, 0x0A, 0x0D: offset += 1
        default: return
        }
      }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard peek() == UInt8(ascii: character) else { return false }
      offset += 1
      return true
    }

    /// Passes over a string; its bytes between the quotes, or nil when it has escapes, is long or there is none.
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

    /// Passes over a value; false when there is none, or no end to it.
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
      offset += 1
      while let byte = peek() {
        switch byte {
        case UInt8(ascii: "\""):
          offset += 1
          return true
        case UInt8(ascii: "\\"): offset += 2
        default: offset += 1
        }
      }
      return false
    }
  }
}
