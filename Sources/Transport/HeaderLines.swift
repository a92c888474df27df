import Glibc

/// The fields in raw header lines, found one after the other without copying any.
///
/// A sync looks at the fields of many thousand responses: this walk is where that time goes.
package struct HeaderLines: Sequence, IteratorProtocol {
  /// Where a field's parts stand in the lines.
  package struct Line {
    /// Up to the colon.
    package let name: Range<Int>
    /// Behind the colon, without the white space around it. (RFC 9110, section 5.5)
    package let value: Range<Int>
    /// The whole line, with its line feed if it has one.
    package let whole: Range<Int>
    fileprivate let bytes: UnsafeBufferPointer<UInt8>

    /// Whether the field has this name, in any case of ASCII letters.
    package func isNamed(_ wanted: StaticString) -> Bool {
      name.count == wanted.utf8CodeUnitCount && wanted.withUTF8Buffer { isNamed($0) }
    }

    /// Whether the field has this name, in any case of ASCII letters.
    package func isNamed(text wanted: String) -> Bool {
      var wanted = wanted
      return wanted.withUTF8 { isNamed($0) }
    }

    /// Whether the field has this name, in any case of ASCII letters.
    package func isNamed(_ wanted: UnsafeBufferPointer<UInt8>) -> Bool {
      UnsafeBufferPointer(rebasing: bytes[name]).equalsIgnoringCase(wanted)
    }

    /// Adds the whole line to others.
    func append(to lines: inout [UInt8]) {
      lines.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[whole]))
      if lines.last != 10 { lines.append(10) }
    }
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private var start = 0

  /// Walks over lines, each ended by a line feed; those without a colon are passed over.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) {
    self.bytes = bytes
  }

  package mutating func next() -> Line? {
    while start < bytes.count {
      let first = start
      let end = find(10, first..<bytes.count) ?? bytes.count
      start = end + 1
      guard let colon = find(UInt8(ascii: ":"), first..<end) else { continue }
      var low = colon + 1
      var high = end
      while low < high, bytes[low].isBlank { low += 1 }
      while high > low, bytes[high - 1].isBlank { high -= 1 }
      return Line(
        name: first..<colon,
        value: low..<high,
        whole: first..<Swift.min(start, bytes.count),
        bytes: bytes
      )
    }
    return nil
  }

  private func find(_ byte: UInt8, _ range: Range<Int>) -> Int? {
    guard let base = bytes.baseAddress, !range.isEmpty,
      let found = memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }
}
