/// Finds arrays in a JSON text, and the commas between their elements where the text can be cut.
///
/// The text is neither parsed nor validated. If it is not valid JSON, the scan can misread it, but then the JSON parser
/// refuses at least one of the windows.
struct ArrayScan {
  /// The wanted arrays.
  ///
  /// Each is given by the names of the members that lead to it, from the outermost object inwards.
  private let wanted: [[String]]
  private let size: Int
  private var cursor: BodyCursor
  private var found: [[String]: RecordCuts] = [:]
  /// The members on the way to wanted arrays that were found so far.
  private var seen: Set<[String]> = []

  /// Makes a scan.
  ///
  /// - Parameters:
  ///   - body: The JSON text in UTF-8.
  ///   - wanted: The names of the members that lead to each wanted array. An empty list is the outermost value.
  ///   - size: The minimum number of bytes between two cuts.
  init(_ body: some RandomAccessBody, for wanted: [[String]], size: Int) {
    (self.wanted, self.size) = (wanted, size)
    cursor = BodyCursor(body, at: 0)
  }

  /// Finds the wanted arrays in one value of the text.
  ///
  /// - Parameter range: The range of the value, with the white space around it.
  /// - Returns: The arrays by their names. A value that is not an array is left out. The result is nil if only a parser
  ///   can find the arrays, for example because a name is written with escapes.
  mutating func arrays(in range: Range<Int>) -> [[String]: RecordCuts]? {
    (found, seen) = ([:], [])
    cursor.move(to: range.lowerBound)
    guard find([]) else { return nil }
    cursor.skipSpace()
    return cursor.place == range.upperBound ? found : nil
  }

  /// Finds the wanted arrays in the value at the cursor, and moves the cursor behind this value.
  ///
  /// `names` are the names of the members that lead to the value. The result is false if only a parser can find the
  /// arrays.
  private mutating func find(_ names: [String]) -> Bool {
    cursor.skipSpace()
    if wanted.contains(names), cursor.take("[") { return cut(names) }
    guard wanted.contains(where: { $0.count > names.count && $0.starts(with: names) }),
      cursor.take("{")
    else { return cursor.skipValue() }
    cursor.skipSpace()
    if cursor.take("}") { return true }
    repeat {
      cursor.skipSpace()
      // A name with escapes can be another spelling of a wanted name.
      guard let name = cursor.plainString() else { return false }
      cursor.skipSpace()
      guard cursor.take(":") else { return false }
      let path = names + [String(decoding: name, as: UTF8.self)]
      if let way = wanted.first(where: { $0.starts(with: path) }) {
        // Strings are equal if they are canonically equivalent in Unicode, but names of members are equal only if their
        // bytes are. If a name is repeated, its last value counts, and only a parser finds it.
        guard way[names.count].utf8.elementsEqual(name), seen.insert(path).inserted else {
          return false
        }
      }
      guard find(path) else { return false }
      cursor.skipSpace()
    } while cursor.take(",")
    return cursor.take("}")
  }

  /// Cuts the array whose bracket is before the cursor.
  private mutating func cut(_ names: [String]) -> Bool {
    var cuts = RecordCuts(from: cursor.place, size: size)
    cursor.skipSpace()
    var isLast = cursor.isBefore("]")
    while !isLast {
      cursor.skipSpace()
      if cursor.isBefore("[") { cuts.holdsArrays = true }
      guard cursor.skipValue() else { return false }
      cursor.skipSpace()
      let end = cursor.place
      isLast = !cursor.take(",")
      if !isLast { cuts.cut(at: end, next: cursor.place) }
      guard cuts.parts.count <= ListingDecoder.mostSections else { return false }
    }
    cuts.end(at: cursor.place)
    found[names] = cuts
    return cursor.take("]")
  }
}
