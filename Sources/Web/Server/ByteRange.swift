/// What a `Range` field asks of a body of known size. (RFC 9110, section 14.2)
enum ByteRange: Equatable {
  /// All of it: other units, several ranges, or what follows no grammar are passed over.
  case whole
  case part(Range<Int>)
  /// Nothing that there is.
  case unsatisfiable

  init(_ text: String, size: Int) {
    self = Self.read(text.utf8, size) ?? .whole
  }

  private static func read(_ text: String.UTF8View, _ size: Int) -> ByteRange? {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")),
      String(Substring(text[..<equals])).lowercased() == "bytes"
    else { return nil }
    let blanks = [UInt8(ascii: " "), UInt8(ascii: "\t")]
    let set = text[equals...].dropFirst().filter { !blanks.contains($0) }
    let ends = set.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }) else {
      return nil
    }
    // A number beyond what an Int holds is only ever beyond the end.
    let numbers = ends.map { $0.isEmpty ? nil : Int(String(decoding: $0, as: UTF8.self)) ?? .max }
    switch (numbers[0], numbers[1]) {
    case (nil, nil):
      return nil
    case (nil, let count?):
      return count == 0 || size == 0 ? .unsatisfiable : .part(max(0, size - count)..<size)
    case (let first?, let last):
      if let last, last < first { return nil }
      guard first < size else { return .unsatisfiable }
      return .part(first..<min(size - 1, last ?? .max) + 1)
    }
  }
}
