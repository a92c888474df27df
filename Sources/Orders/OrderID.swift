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
    self.init(at: time, chance: Chance(using: &random))
  }

  /// Makes the id of an order that is placed now and whose chance was drawn before.
  package init(at time: OrderTime, chance: Chance) {
    var moment = UInt64(clamping: time.milliseconds)
    var text: [Character] = []
    for _ in 0..<10 {
      text.insert(Chance.digits[Int(moment & 31)], at: 0)
      moment >>= 5
    }
    rawValue = Self.prefix + String(text) + chance.rawValue
  }

  /// The 80 bits of an id that no other order has: drawn before the order is placed, they tell a form
  /// that is sent twice from two orders.
  package struct Chance: Hashable, Sendable {
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    static let count = 16

    /// The last 16 digits of the id.
    package let rawValue: String

    /// Draws the digits.
    package init(using random: inout some RandomNumberGenerator) {
      rawValue = String(
        (0..<Self.count).map { _ in Self.digits[Int.random(in: 0..<32, using: &random)] }
      )
    }

    /// Takes digits as ``rawValue`` gave them; nil for anything else.
    package init?(_ text: String) {
      guard text.utf8.count == Self.count, text.allSatisfy(Self.digits.contains) else {
        return nil
      }
      rawValue = text
    }
  }

  /// The whole id.
  package var description: String { rawValue }
}
