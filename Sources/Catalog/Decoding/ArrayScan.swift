import Glibc

/// Finds an array in a JSON text and the positions where it can be cut, without parsing the text or loading all of it.
///
/// ``ListingWindows`` uses it to decode a large listing in pieces.
///
/// It does not validate the text. It can misread only text that is not JSON; the parser then rejects one of the pieces.
struct ArrayScan {
  /// The offset of the array's first element, after the opening bracket.
  private(set) var start = 0
  /// The offset of the array's closing bracket.
  private(set) var end = 0
  /// The offsets of the commas to cut at; two cuts are at least one window apart.
  private(set) var cuts: [Int] = []
  /// Whether one of the elements is an array.
  private(set) var holdsArrays = false

  /// The outcome of a search.
  enum Finding: Equatable {
    /// The array was found, and its name is not repeated.
    case array
    /// There is no member of that name, or it is not an array.
    case none
    /// The scan cannot tell; only a parser can.
    case unsure
  }

  /// Follows names from the outermost value to an array.
  ///
  /// - Parameters:
  ///   - names: The names of the members to follow, outermost first.
  ///   - body: JSON in UTF-8.
  ///   - place: The offset where the JSON text begins, after any byte order mark.
  ///   - window: The least number of bytes between two cuts.
  /// - Returns: The outcome of the search; if it is `array`, `start`, `end` and `cuts` describe the array.
  mutating func find(
    _ names: [String],
    in body: some RandomAccessBody,
    from place: Int,
    window: Int
  ) -> Finding {
    var reader = Reader(body, at: place)
    return find(names[...].map { Array($0.utf8) }[...], &reader, window)
  }

  /// Follows the names inside the value at the reader's offset, and skips that value.
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
      // A key with escapes may be another spelling of the name.
      guard let key = reader.plainString() else { return .unsure }
      reader.skipSpace()
      guard reader.take(":") else { return .unsure }
      if key == name {
        // If a name is repeated, its last value counts, and only a parser finds the last one.
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

  /// Finds an array of sections, and in each section its array of items.
  ///
  /// - Parameters:
  ///   - names: The members to follow to the array of sections.
  ///   - inner: Alternative lists of members to follow from a section to its array; the first that leads to an array
  ///     counts.
  ///   - body: JSON in UTF-8.
  ///   - place: The offset where the JSON text begins, after any byte order mark.
  ///   - window: The least number of bytes between two cuts of a section's array.
  ///   - found: Called with each section: its range in the body, and its array if it has one.
  /// - Returns: The outcome of the search; if it is `array`, `start` and `end` describe the array of sections.
  mutating func findSections(
    _ names: [String],
    inner: [[String]],
    in body: some RandomAccessBody,
    from place: Int,
    window: Int,
    _ found: (Range<Int>, ArrayScan?) -> Void
  ) -> Finding {
    // The array of sections itself is not cut.
    let finding = find(names, in: body, from: place, window: .max)
    guard finding == .array else { return finding }
    var reader = Reader(body, at: start)
    while reader.place < end {
      reader.skipSpace()
      let first = reader.place
      var own: ArrayScan?
      for names in inner where own == nil {
        reader.move(to: first)
        var scan = ArrayScan()
        switch scan.find(names[...].map { Array($0.utf8) }[...], &reader, window) {
        case .unsure: return .unsure
        case .none: continue
        case .array: own = scan
        }
      }
      found(first..<reader.place, own)
      reader.skipSpace()
      guard reader.take(",") else { return reader.place == end ? .array : .unsure }
    }
    return .unsure
  }

  private mutating func findCuts(_ reader: inout Reader, _ window: Int) -> Finding {
    guard reader.take("[") else { return reader.skipValue() ? .none : .unsure }
    start = reader.place
    var last = start
    while true {
      reader.skipSpace()
      if reader.isBefore("[") { holdsArrays = true }
      guard reader.skipValue() else {
        // An array without elements has no value to skip.
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

  /// A cursor in a body, with a buffer of the bytes that follow.
  private struct Reader: ~Copyable {
    private let body: any RandomAccessBody
    private let piece: UnsafeMutableBufferPointer<UInt8>
    /// The offset of the buffer's first byte in the body.
    private var first: Int
    /// How many bytes of the buffer are filled.
    private var filled = 0
    /// The cursor's offset in the buffer.
    private var offset = 0

    private static let pieceSize = 256 << 10
    /// Longer names are not compared.
    private static let longestName = 1024

    init(_ body: any RandomAccessBody, at place: Int) {
      self.body = body
      first = place
      piece = .allocate(capacity: Self.pieceSize)
    }

    deinit { piece.deallocate() }

    /// The cursor's offset in the body.
    var place: Int { first + offset }

    /// Moves the cursor to an offset in the body.
    mutating func move(to place: Int) {
      if place >= first, place <= first + filled {
        offset = place - first
      } else {
        (first, offset, filled) = (place, 0, 0)
      }
    }

    /// The byte at the cursor; nil at the end of the body, and if the body cannot be read.
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
    /// Nil when the string has escapes or is too long, or when there is no string at the cursor.
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

    /// Skips a value; false when there is no value at the cursor, or when the value does not end.
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
      while peek() != nil {
        let rest = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(piece)[offset..<filled])
        let quote = Self.place(of: UInt8(ascii: "\""), in: rest) ?? rest.count
        let before = UnsafeRawBufferPointer(rebasing: rest[..<quote])
        if let escape = Self.place(of: UInt8(ascii: "\\"), in: before) {
          offset += escape + 2
        } else {
          offset += quote
          if take("\"") { return true }
        }
      }
      return false
    }

    /// The offset of the first occurrence of `byte`; nil when there is none.
    ///
    /// Uses `memchr`, because most of a body is inside strings.
    private static func place(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
      guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count)
      else {
        return nil
      }
      return found - UnsafeMutableRawPointer(mutating: start)
    }
  }
}

/// A body whose bytes can be read at any offset, in memory or in a file.
package protocol RandomAccessBody: Sendable {
  /// The number of bytes.
  var count: Int { get }

  /// Copies bytes.
  ///
  /// - Parameters:
  ///   - range: The bytes to copy; all of them are in the body.
  ///   - buffer: A buffer at least as long as the range.
  /// - Returns: False when the bytes cannot be read.
  func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool
}

extension [UInt8]: RandomAccessBody {
  /// Copies bytes; never fails.
  package func copy(_ range: Range<Int>, to buffer: UnsafeMutableRawBufferPointer) -> Bool {
    withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[range])) }
    return true
  }
}
