import Base
import FoundationEssentials

/// The name of an order: `ord_` and 26 digits, which sort as the orders were placed.
///
/// 48 bits of time and 80 of chance in Crockford's base 32, as a ULID has them: nobody guesses one,
/// and two machines never make the same.
public struct OrderID: RawRepresentable, Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  /// The prefix of every id.
  static let prefix = "ord_"

  /// The whole id.
  public let rawValue: String

  /// Takes an id as it was written.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Takes an id as it was written.
  public init(stringLiteral id: String) { self.init(rawValue: id) }

  /// Makes the id of an order that is placed now.
  ///
  /// - Parameters:
  ///   - time: when.
  ///   - random: where chance comes from.
  package init(at time: OrderTime, using random: inout some RandomNumberGenerator) {
    self.init(at: time, chance: Nonce(using: &random))
  }

  /// Makes the id of an order that is placed now and whose chance was drawn before.
  package init(at time: OrderTime, chance: Nonce) {
    var moment = UInt64(clamping: time.milliseconds)
    var text: [Character] = []
    for _ in 0..<10 {
      text.insert(Nonce.digits[Int(moment & 31)], at: 0)
      moment >>= 5
    }
    rawValue = Self.prefix + String(text) + chance.rawValue
  }

  /// The 80 bits of an id that no other order has: drawn before the order is placed, they tell a form
  /// that is sent twice from two orders.
  package struct Nonce: Hashable, Sendable {
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
  public var description: String { rawValue }
}

/// A moment of the wall clock in milliseconds since 1970: fine enough to space messages.
///
/// Arithmetic saturates, so that no server's wish and no clock's jump can trap.
package struct OrderTime: Hashable, Comparable, Sendable, Codable {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package let milliseconds: Int64

  /// Makes a moment from milliseconds since 1970.
  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Makes a moment from seconds since 1970.
  package init(seconds: Int64) {
    milliseconds = seconds.multipliedClamped(by: 1000)
  }

  /// Whole seconds since 1970.
  package var seconds: Int64 { milliseconds / 1000 }

  /// Such as `2021-01-13T06:30:00Z`. (RFC 3339)
  package var text: String {
    UnixTime(seconds).rfc3339
  }

  /// Tells which of two moments comes first.
  package static func < (left: OrderTime, right: OrderTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment `delay` milliseconds later, at most the latest there is.
  static func + (time: OrderTime, delay: Int64) -> OrderTime {
    OrderTime(milliseconds: time.milliseconds.addingClamped(delay))
  }

  /// The milliseconds from `right` to `left`.
  package static func - (left: OrderTime, right: OrderTime) -> Int64 {
    left.milliseconds.subtractingClamped(right.milliseconds)
  }
}

extension Date {
  /// The moment as Foundation has it.
  package init(_ time: OrderTime) {
    self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000)
  }
}
