/// A number of bytes, for example the size of a body, of a file or of a whole cache.
///
/// Sizes have a type of their own, so that the compiler tells them apart from seconds, counts and ids, which are 64-bit
/// integers too.
package struct ByteCount: Hashable, Comparable, Sendable, Codable, AdditiveArithmetic {
  /// The number of bytes.
  package let count: Int64

  /// Makes a size from a number of bytes.
  package init(_ count: Int64) { self.count = count }

  /// Makes a size from the `count` of a collection of bytes.
  package init(_ count: Int) { self.count = Int64(count) }

  /// Zero bytes.
  package static let zero = ByteCount(0 as Int64)

  /// A size in mebibytes; a mebibyte is 1,048,576 bytes.
  package static func mebibytes(_ number: Int64) -> ByteCount { ByteCount(number << 20) }

  /// Reads the size as a plain number.
  package init(from decoder: any Decoder) throws {
    count = try decoder.singleValueContainer().decode(Int64.self)
  }

  /// Writes the size as a plain number.
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

extension ByteCount: ExpressibleByIntegerLiteral, CustomStringConvertible {
  /// Makes a size from a number of bytes.
  package init(integerLiteral count: Int64) { self.init(count) }

  /// The number of bytes in digits, without a unit.
  package var description: String { String(count) }
}

extension ByteCount {
  /// The size with a unit, for people to read, such as `7.1 MiB`, `24 KiB` or `312 B`.
  ///
  /// The unit is chosen after rounding. For example, 1023.96 KiB becomes `1.0 MiB`.
  package func formatted() -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    var value = Double(count)
    var unit = 0
    while value.rounded() >= 1024, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    let number = unit == 0 || value >= 99.95 ? "\(Int(value.rounded()))" : value.tenths
    return "\(number) \(units[unit])"
  }
}

extension Double {
  /// The number with one digit after the point, such as `1.4`.
  package var tenths: String {
    let tenths = Int((self * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}

extension Int {
  /// The number in groups of three digits, such as `1,234`.
  package var grouped: String {
    var text = ""
    let digits = String(magnitude)
    for (place, digit) in digits.enumerated() {
      if place > 0, (digits.count - place).isMultiple(of: 3) { text += "," }
      text.append(digit)
    }
    return (self < 0 ? "−" : "") + text
  }
}
