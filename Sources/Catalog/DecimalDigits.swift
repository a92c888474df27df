/// A decimal number in digits, from the shortest text of a `Double`.
struct DecimalDigits {
  /// The significant digits, most significant first.
  var digits: [UInt8] = []
  /// How many digits stand before the point; may be negative or past the end.
  var pointIndex = 0

  /// Takes the text apart; nil when it is no unsigned decimal number.
  init?(_ text: String) {
    var pointSeen = false
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits.append(byte - 48)
        if !pointSeen { pointIndex += 1 }
      case UInt8(ascii: "."): pointSeen = true
      case UInt8(ascii: "e"):
        guard let exponent = Int(Substring(rest)) else { return nil }
        pointIndex += exponent
        rest = rest.suffix(0)
      default: return nil
      }
    }
    while digits.count > 1, digits.first == 0 {
      digits.removeFirst()
      pointIndex -= 1
    }
  }

  /// The digits before and after the point.
  var parts: (whole: [UInt8], fraction: [UInt8]) {
    if pointIndex <= 0 {
      return ([0], Array(repeating: 0, count: min(-pointIndex, 400)) + digits)
    }
    let missing = min(max(0, pointIndex - digits.count), 400)
    let whole = digits.prefix(pointIndex) + repeatElement(0, count: missing)
    return (Array(whole), Array(digits.dropFirst(pointIndex)))
  }

  /// Rounds half up to so many decimals.
  mutating func round(toPlaces places: Int) {
    let kept = pointIndex + places
    guard kept >= 0, kept < digits.count else { return }
    let roundsUp = digits[kept] >= 5
    digits.removeSubrange(kept...)
    guard roundsUp else { return }
    for index in digits.indices.reversed() {
      if digits[index] < 9 {
        digits[index] += 1
        return
      }
      digits[index] = 0
    }
    digits.insert(1, at: 0)
    pointIndex += 1
  }
}
