/// Which prices are wanted: at least so much, at most so much, or both, in the currency's major unit.
public struct PriceBounds: Hashable, Sendable {
  /// The lowest wanted; nil for none such.
  private let low: Amount?
  /// The highest wanted; nil for none such.
  private let high: Amount?

  /// An exact decimal number.
  private struct Amount: Hashable, Sendable {
    /// All digits as one number.
    let digits: Int
    /// How many of them are decimals.
    let places: Int

    init?(_ text: Substring) {
      let parts = text.split(separator: ".", omittingEmptySubsequences: false)
      guard (1...2).contains(parts.count), text.utf8.count <= 16,
        parts.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
        let digits = Int(parts.joined())
      else { return nil }
      self.digits = digits
      places = parts.count == 2 ? parts[1].utf8.count : 0
    }

    /// Whether it is above so many units of which `exponent` digits are decimals.
    func isAbove(_ units: Int, exponent: Int) -> Bool {
      let own = digits.multipliedFullWidth(by: Self.power(exponent))
      let other = units.multipliedFullWidth(by: Self.power(places))
      return (own.high, own.low) > (other.high, other.low)
    }

    /// Whether it is below so many units of which `exponent` digits are decimals.
    func isBelow(_ units: Int, exponent: Int) -> Bool {
      let own = digits.multipliedFullWidth(by: Self.power(exponent))
      let other = units.multipliedFullWidth(by: Self.power(places))
      return (own.high, own.low) < (other.high, other.low)
    }

    private static func power(_ exponent: Int) -> Int {
      (0..<exponent).reduce(1) { power, _ in power * 10 }
    }
  }

  /// What a text has to be, for messages.
  public static let expected =
    "LOW..HIGH in the currency's major unit, such as 5000..9000, ..9.99 or 20.."

  /// Reads bounds; nil when the text is not ``expected`` or its low end is above the high one.
  public init?(_ text: String) {
    guard let dots = text.firstRange(of: ".."), !text[dots.upperBound...].hasPrefix(".") else {
      return nil
    }
    let (first, second) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard !first.isEmpty || !second.isEmpty else { return nil }
    low = Amount(first)
    high = Amount(second)
    guard first.isEmpty == (low == nil), second.isEmpty == (high == nil) else { return nil }
    if let low, let high, low.isAbove(high.digits, exponent: high.places) { return nil }
  }

  /// Whether a price is wanted.
  public func contains(_ price: Price) -> Bool {
    let exponent = Currency.exponent(of: price.currency)
    if let low, low.isAbove(price.minorUnits, exponent: exponent) { return false }
    if let high, high.isBelow(price.minorUnits, exponent: exponent) { return false }
    return true
  }
}
