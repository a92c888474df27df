/// Reads "7,000원", "39,000" and "1,299.50" without the care that other prices need.
///
/// Nearly all prices of a feed are written like this, and a large section has many thousands.
///
/// - Parameters:
///   - text: The price in UTF-8.
///   - unit: What may stand behind it.
///   - places: How many decimals the currency has.
/// - Returns: The minor units; nil when the text must be looked at more closely.
func plainUnits(
  _ text: UnsafeBufferPointer<UInt8>,
  unit: StaticString,
  places: Int
) -> Int? {
  var end = text.count
  let start = end - unit.utf8CodeUnitCount
  if start >= 0, (start..<end).allSatisfy({ text[$0] == unit.utf8Start[$0 - start] }) {
    end = start
  }
  var units = 0
  var digitsInGroup = 0
  var commas = 0
  var decimals: Int?
  guard end <= 15, text.first != UInt8(ascii: "0") else { return nil }
  for byte in text[..<end] {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      units = units * 10 + Int(byte - UInt8(ascii: "0"))
      digitsInGroup += 1
      if let count = decimals { decimals = count + 1 }
    case UInt8(ascii: ",") where decimals == nil:
      guard commas == 0 ? (1...3).contains(digitsInGroup) : digitsInGroup == 3 else { return nil }
      commas += 1
      digitsInGroup = 0
    case UInt8(ascii: ".") where decimals == nil && digitsInGroup > 0:
      guard commas == 0 || digitsInGroup == 3 else { return nil }
      decimals = 0
    default: return nil
    }
  }
  if let decimals { return decimals == places && places > 0 ? units : nil }
  guard digitsInGroup > 0, commas == 0 || digitsInGroup == 3 else { return nil }
  for _ in 0..<places { units *= 10 }
  return units
}
