/// The name of an order: `ord_` and 26 digits, which sort as the orders were placed.
///
/// 48 bits of time and 80 of chance in Crockford's base 32, as a ULID has them: nobody guesses one,
/// and two machines never make the same.
package struct OrderID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// What stands before the digits of every id.
  static let prefix = "ord_"

  /// The whole id.
  package let rawValue: String

  /// Takes an id as it was written.
  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes the id of an order that is placed now.
  ///
  /// - Parameters:
  ///   - time: when.
  ///   - random: where chance comes from.
  package init(at time: OrderTime, using random: inout some RandomNumberGenerator) {
    let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    var moment = UInt64(clamping: time.milliseconds)
    var text: [Character] = []
    for _ in 0..<10 {
      text.insert(digits[Int(moment & 31)], at: 0)
      moment >>= 5
    }
    for _ in 0..<16 { text.append(digits[Int.random(in: 0..<32, using: &random)]) }
    rawValue = Self.prefix + String(text)
  }

  /// The whole id.
  package var description: String { rawValue }
}
