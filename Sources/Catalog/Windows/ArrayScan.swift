/// Finds one array in a JSON text, and where it can be cut, without making a tree of it.
///
/// It does not judge the text: what it misreads is no JSON, and then whoever parses a piece is told so.
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
    /// It cannot be told without a parser.
    case unsure
  }

  /// Follows names from the outermost value to an array.
  ///
  /// - Parameters:
  ///   - names: The members to follow.
  ///   - text: JSON in UTF-8, without byte order mark.
  ///   - window: How many bytes are between two cuts at least.
  /// - Returns: What was found; `start`, `end` and `cuts` are of the array.
  mutating func find(
    _ names: [String],
    in text: UnsafeBufferPointer<UInt8>,
    window: Int
  ) -> Finding {
    var reader = Reader(text: text)
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
      if reader.text[key].elementsEqual(name) {
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

  /// A place in a text.
  private struct Reader {
    let text: UnsafeBufferPointer<UInt8>
    var place = 0

    init(text: UnsafeBufferPointer<UInt8>) {
      self.text = text
    }

    mutating func skipSpace() {
      while place < text.count {
        switch text[place] {
        case 0x20, 0x09, 0x0A, 0x0D: place += 1
        default: return
        }
      }
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard place < text.count, text[place] == UInt8(ascii: character) else { return false }
      place += 1
      return true
    }

    /// Passes over a string; its bytes between the quotes, or nil when it has escapes or there is none.
    mutating func plainString() -> Range<Int>? {
      guard take("\"") else { return nil }
      let start = place
      while place < text.count, text[place] != UInt8(ascii: "\"") {
        if text[place] == UInt8(ascii: "\\") { return nil }
        place += 1
      }
      return take("\"") ? start..<place - 1 : nil
    }

    /// Passes over a value; false when there is none, or no end to it.
    mutating func skipValue() -> Bool {
      let start = place
      var depth = 0
      while place < text.count {
        switch text[place] {
        case UInt8(ascii: "\""):
          guard skipString() else { return false }
          if depth == 0 { return true }
        case UInt8(ascii: "["), UInt8(ascii: "{"):
          depth += 1
          place += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"):
          if depth == 0 { return place > start }
          depth -= 1
          place += 1
          if depth == 0 { return true }
        case UInt8(ascii: ","), 0x20, 0x09, 0x0A, 0x0D:
          if depth == 0 { return place > start }
          place += 1
        default:
          place += 1
        }
      }
      return depth == 0 && place > start
    }

    private mutating func skipString() -> Bool {
      place += 1
      while place < text.count {
        switch text[place] {
        case UInt8(ascii: "\""):
          place += 1
          return true
        case UInt8(ascii: "\\"): place += 2
        default: place += 1
        }
      }
      return false
    }
  }
}
