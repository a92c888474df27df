/// Reads "7,000원", "39,000" and "1,299.50" without the care that other prices need.
///
/// Nearly all prices of a feed are written like this, and a large section has many thousands.
///
/// - Returns: The minor units; nil when the text must be looked at more closely.
func plainUnits(_ text: String, unit: String, places: Int) -> Int? {
  var bytes = Substring(text).utf8
  if !unit.isEmpty, bytes.suffix(unit.utf8.count).elementsEqual(unit.utf8) {
    bytes = bytes.dropLast(unit.utf8.count)
  }
  var units = 0
  var digitsInGroup = 0
  var commas = 0
  var decimals: Int?
  guard bytes.count <= 15, bytes.first != UInt8(ascii: "0") else { return nil }
  for byte in bytes {
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
