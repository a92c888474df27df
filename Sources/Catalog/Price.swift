/// An exact amount of money, held in minor units so that no total is ever rounded.
public struct Price: Hashable, Sendable, Codable {
  /// Won, pence or cents: the smallest unit that `currency` has.
  public let minorUnits: Int
  /// An ISO 4217 code, upper case.
  public let currency: String

  /// Makes a price from minor units.
  public init(minorUnits: Int, currency: String) {
    self.minorUnits = minorUnits
    self.currency = currency
  }
}

extension Price {
  /// The price for people, with its unit once: "7,000원", "$9.99", "1,299.50 EUR".
  public func formatted() -> String {
    let sign = minorUnits < 0 ? "-" : ""
    let amount = groupedAmount
    switch currency {
    case "KRW": return "\(sign)\(amount)원"
    case "USD": return "\(sign)$\(amount)"
    case "GBP": return "\(sign)£\(amount)"
    case "JPY": return "\(sign)¥\(amount)"
    default: return "\(sign)\(amount) \(currency)"
    }
  }

  /// The amount without sign or unit: thousands apart, decimals as the currency has them.
  private var groupedAmount: String {
    let places = Currency.exponent(of: currency)
    var digits = String(minorUnits.magnitude)
    if digits.count <= places {
      digits = String(repeating: "0", count: places + 1 - digits.count) + digits
    }
    let whole = digits.dropLast(places)
    var grouped = ""
    for (index, digit) in whole.enumerated() {
      if index > 0, (whole.count - index).isMultiple(of: 3) { grouped += "," }
      grouped.append(digit)
    }
    return places == 0 ? grouped : grouped + "." + digits.suffix(places)
  }
}
