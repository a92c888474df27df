import Base
import FoundationEssentials

/// The id of an order, for example `ord_01hf7yat00k3v9zq2w5x8c6m4n`.
///
/// The 26 digits are a ULID in Crockford's base 32. It has 48 bits with the time at which the order was placed, and 80
/// random bits. So the ids of later orders are greater, nobody can guess an id, and two machines never make the same
/// id.
public struct OrderID: RawRepresentable, Hashable, Sendable, CustomStringConvertible,
  ExpressibleByStringLiteral
{
  /// The prefix of every id.
  static let prefix = "ord_"

  /// The id as text.
  public let rawValue: String

  /// Makes an id from its text.
  ///
  /// The text is not checked.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes an id from its text.
  ///
  /// The text is not checked.
  public init(stringLiteral id: String) { self.init(rawValue: id) }

  /// Makes the id of a new order from the time at which it is placed, and from random bits.
  package init(at time: OrderTime, chance: Nonce = Nonce()) {
    var moment = UInt64(clamping: time.milliseconds)
    var text: [Character] = []
    for _ in 0..<10 {
      text.insert(Nonce.digits[Int(moment & 31)], at: 0)
      moment >>= 5
    }
    rawValue = Self.prefix + String(text) + chance.rawValue
  }

  /// The 80 random bits of an id.
  ///
  /// An order form in the web store contains them. If the form is sent twice, both requests have the same bits, and
  /// only one order is placed.
  package struct Nonce: Hashable, Sendable {
    static let digits = Array("0123456789abcdefghjkmnpqrstvwxyz")
    static let count = 16

    /// The last 16 digits of the id.
    package let rawValue: String

    /// Makes random bits.
    package init() {
      rawValue = String((0..<Self.count).map { _ in Self.digits[Int.random(in: 0..<32)] })
    }

    /// Parses 16 digits.
    ///
    /// The result is nil for any other text.
    package init?(_ text: String) {
      guard text.utf8.count == Self.count, text.allSatisfy(Self.digits.contains) else {
        return nil
      }
      rawValue = text
    }
  }

  /// The id as text.
  public var description: String { rawValue }
}

/// A time in milliseconds since 1970.
///
/// A result that is too large or too small for `Int64` becomes the largest or smallest `Int64`. So neither a large
/// `Retry-After` nor a wrong clock can cause a trap.
package struct OrderTime: Hashable, Comparable, Sendable, Codable {
  /// The number of milliseconds since 1970-01-01T00:00:00Z.
  package let milliseconds: Int64

  /// Makes a time from the number of milliseconds since 1970.
  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Makes a time from the number of seconds since 1970.
  package init(seconds: Int64) {
    milliseconds = seconds.multipliedClamped(by: 1000)
  }

  /// Converts a time of Foundation's type, and rounds it down.
  package init(_ date: Date) {
    milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
  }

  /// The number of whole seconds since 1970.
  package var seconds: Int64 { milliseconds / 1000 }

  /// The time in UTC as text, for example `2021-01-13T06:30:00Z`. (RFC 3339)
  package var text: String {
    UnixTime(seconds).rfc3339
  }

  /// Whether the left time is earlier than the right time.
  package static func < (left: OrderTime, right: OrderTime) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The time that is `delay` milliseconds later.
  static func + (time: OrderTime, delay: Int64) -> OrderTime {
    OrderTime(milliseconds: time.milliseconds.addingClamped(delay))
  }

  /// The number of milliseconds from the right time to the left time.
  package static func - (left: OrderTime, right: OrderTime) -> Int64 {
    left.milliseconds.subtractingClamped(right.milliseconds)
  }
}

extension Date {
  /// Converts a time to Foundation's type.
  package init(_ time: OrderTime) {
    self.init(timeIntervalSince1970: Double(time.milliseconds) / 1000)
  }
}
