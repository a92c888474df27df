import Base
import FoundationEssentials

/// The id of an order: `ord_` and a ULID, 26 digits that sort by the time of placing.
///
/// A ULID has 48 bits of time and 80 random bits, in Crockford's base 32. Nobody can guess an id, and two machines
/// never make the same id.
public struct OrderID: RawRepresentable, Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  /// The prefix of every id.
  static let prefix = "ord_"

  /// The whole id.
  public let rawValue: String

  /// Makes an id from its text, without checking it.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes an id from its text, without checking it.
  public init(stringLiteral id: String) { self.init(rawValue: id) }

  /// Makes the id of a new order.
  ///
  /// - Parameters:
  ///   - time: The time of placing.
  ///   - random: The random number generator.
  package init(at time: OrderTime, using random: inout some RandomNumberGenerator) {
    self.init(at: time, chance: Nonce(using: &random))
  }

  /// Makes the id of a new order from random bits that were drawn before.
  package init(at time: OrderTime, chance: Nonce) {
    var moment = UInt64(clamping: time.milliseconds)
    var text: [Character] = []
    for _ in 0..<10 {
      text.insert(Nonce.digits[Int(moment & 31)], at: 0)
      moment >>= 5
    }
    rawValue = Self.prefix + String(text) + chance.rawValue
  }

  /// The 80 random bits of an id, drawn before the order is placed.
  ///
  /// An order form contains them, so that a form that is sent twice makes only one order.
  package struct Nonce: Hashable, Sendable {
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    static let count = 16

    /// The last 16 digits of the id.
    package let rawValue: String

    /// Draws random digits.
    package init(using random: inout some RandomNumberGenerator) {
      rawValue = String(
        (0..<Self.count).map { _ in Self.digits[Int.random(in: 0..<32, using: &random)] }
      )
    }

    /// Parses the digits of ``rawValue``; nil for any other text.
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

/// A moment of the wall clock in milliseconds since 1970, precise enough for the pauses between messages.
///
/// Arithmetic saturates, so that neither a server's `Retry-After` nor a jump of the clock causes a trap.
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

  /// The moment in UTC, such as `2021-01-13T06:30:00Z`. (RFC 3339)
  package var text: String {
    UnixTime(seconds).rfc3339
  }

  /// Whether the left moment is earlier.
  package static func < (left: OrderTime, right: OrderTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment `delay` milliseconds later; saturates.
  static func + (time: OrderTime, delay: Int64) -> OrderTime {
    OrderTime(milliseconds: time.milliseconds.addingClamped(delay))
  }

  /// The milliseconds from `right` to `left`.
  package static func - (left: OrderTime, right: OrderTime) -> Int64 {
    left.milliseconds.subtractingClamped(right.milliseconds)
  }
}

extension Date {
  /// Converts a moment to Foundation's type.
  package init(_ time: OrderTime) {
    self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000)
  }
}
