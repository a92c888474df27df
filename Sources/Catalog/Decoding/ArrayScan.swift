import Glibc

/// Finds an array in a JSON text, and the commas between its elements where the text can be cut into windows.
///
/// The text is not parsed, and it is never in memory as a whole. It is not validated either. If it is not valid JSON,
/// the scan can misread it, but then the JSON parser refuses at least one of the windows.
struct ArrayScan {
  /// The offset after the array's opening bracket.
  private(set) var start = 0
  /// The offset of the array's closing bracket.
  private(set) var end = 0
  /// The offsets of the commas where the text is cut.
  private(set) var cuts: [Int] = []
  /// Whether one of the elements is an array.
  private(set) var holdsArrays = false

  /// The outcome of a search.
  enum Finding: Equatable {
    /// The array was found, and no other member has its name.
    case array
    /// There is no member of that name, or it is not an array.
    case none
    /// Only a parser can find the array, for example because its name is written with escapes.
    case unsure
  }

  /// Finds an array by the names of the members that lead to it.
  ///
  /// - Parameters:
  ///   - names: The names of the members, from the outermost object inwards. Empty if the outermost value is the array.
  ///   - body: The JSON text in UTF-8.
  ///   - place: The offset where the JSON text begins. It is 3 if the body begins with a byte order mark.
  ///   - window: The minimum number of bytes between two cuts.
  /// - Returns: The outcome of the search. If it is `array`, then `start`, `end` and `cuts` describe the array.
  mutating func find(
    _ names: [String],
    in body: some RandomAccessBody,
    from place: Int,
    window: Int
  ) -> Finding {
    var reader = Reader(body, at: place)
    return find(names[...].map { Array($0.utf8) }[...], &reader, window)
  }

  /// Finds the array inside the value at the cursor, and moves the cursor behind this value.
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
      // A key with escapes can be another spelling of the wanted name.
      guard let key = reader.plainString() else { return .unsure }
      reader.skipSpace()
      guard reader.take(":") else { return .unsure }
      if key == name {
        // If a name is repeated, its last value counts, and only a parser finds it.
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

  /// Finds an array of sections, and the array of items in each section.
  ///
  /// - Parameters:
  ///   - names: The names of the members that lead to the array of sections.
  ///   - inner: Several lists of names that can lead from a section to its items. The first list that leads to an array
  ///     counts.
  ///   - body: The JSON text in UTF-8.
  ///   - place: The offset where the JSON text begins. It is 3 if the body begins with a byte order mark.
  ///   - window: The minimum number of bytes between two cuts in a section's array of items.
  ///   - found: A function that is called for each section, with the range of the section in the body, and with its
  ///     array of items if it has one.
  /// - Returns: The outcome of the search. If it is `array`, then `start` and `end` describe the array of sections.
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

  /// A cursor in a body.
  ///
  /// The body is read piece by piece.
  private struct Reader {
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

    init(_ body: any RandomAccessBody, at place: Int) {
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

    /// The byte at the cursor, or nil if there is none or if it cannot be read.
    private mutating func peek() -> UInt8? {
      if offset < piece.count { return piece[offset] }
      first += offset
      offset = 0
      if !body.read(into: &piece, from: first, most: Self.pieceSize) { piece = [] }
      return piece.first
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
      offset += 1
      while peek() != nil {
        let (quote, escape) = piece.withUnsafeBytes { bytes in
          let rest = UnsafeRawBufferPointer(rebasing: bytes[offset...])
          let quote = Self.place(of: UInt8(ascii: "\""), in: rest) ?? rest.count
          let before = UnsafeRawBufferPointer(rebasing: rest[..<quote])
          return (quote, Self.place(of: UInt8(ascii: "\\"), in: before))
        }
        if let escape {
          offset += escape + 2
        } else {
          offset += quote
          if take("\"") { return true }
        }
      }
      return false
    }

    /// The offset of the first occurrence of a byte, or nil if there is none.
    ///
    /// It uses `memchr`, because most bytes of a response are inside strings.
    private static func place(of byte: UInt8, in bytes: UnsafeRawBufferPointer) -> Int? {
      guard let start = bytes.baseAddress, let found = memchr(start, Int32(byte), bytes.count)
      else {
        return nil
      }
      return found - UnsafeMutableRawPointer(mutating: start)
    }
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

  /// Up to `most` bytes from the beginning of the body, or nil if they cannot be read.
  func beginning(most: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    return read(into: &bytes, from: 0, most: most) ? bytes : nil
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
