/// What a `Range` header asks of a body of known size. (RFC 9110, section 14.2)
enum ByteRange: Equatable {
  /// No range that this store serves: other units, several ranges, or no grammar at all.
  case whole
  case part(Range<Int>)
  case unsatisfiable

  init(_ text: String, size: Int) {
    self = Self.read(text, size) ?? .whole
  }

  private static func read(_ text: String, _ size: Int) -> ByteRange? {
    let pair = text.split(separator: "=", maxSplits: 1)
    guard pair.count == 2, pair[0].lowercased() == "bytes" else { return nil }
    let ends = pair[1].filter { $0 != " " }.split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } })
    else { return nil }
    // A number past what an Int holds is only ever past the end.
    let numbers = ends.map { $0.isEmpty ? nil : Int($0) ?? Int.max }
    switch (numbers[0], numbers[1]) {
    case (nil, nil):
      return nil
    case (nil, let count?):
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    case (let first?, let last):
      if let last, last < first { return nil }
      guard first < size else { return .unsatisfiable }
      return .part(first..<min(size - 1, last ?? Int.max) + 1)
    }
  }
}
