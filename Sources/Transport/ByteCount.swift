/// A number of bytes: of a body, of a file, or of all that is held.
///
/// A type of its own, so that sizes are not mixed with seconds, counts and identities, which are as many bits.
package struct ByteCount: Hashable, Comparable, Sendable, Codable, AdditiveArithmetic {
  /// The number.
  package let count: Int64

  /// A number of bytes.
  package init(_ count: Int64) { self.count = count }

  /// A number of bytes in memory.
  package init(_ count: Int) { self.count = Int64(count) }

  /// No bytes.
  package static let zero = ByteCount(0 as Int64)

  /// So many times 1,048,576 bytes.
  package static func mebibytes(_ number: Int64) -> ByteCount { ByteCount(number << 20) }

  /// Reads a plain number.
  package init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes a plain number.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(count)
  }

  /// Orders by size.
  package static func < (left: ByteCount, right: ByteCount) -> Bool { left.count < right.count }

  /// The sum.
  package static func + (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.count + right.count)
  }

  /// The difference.
  package static func - (left: ByteCount, right: ByteCount) -> ByteCount {
    ByteCount(left.count - right.count)
  }
}

extension ByteCount {
  /// The bytes of so many things of one size.
  package static func * (size: ByteCount, number: Int64) -> ByteCount {
    ByteCount(size.count * number)
  }
}

extension ByteCount: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// So many bytes.
  package init(integerLiteral count: Int64) { self.init(count) }

  /// The number in digits.
  package var description: String { String(count) }
}
