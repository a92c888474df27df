import FoundationEssentials

/// A word of a fault script: `key=value` or `key`.
struct FaultWord {
  /// The word as it is written, for the message of an error.
  let text: String
  let key: String
  /// The value; empty if the word has none.
  let value: String

  /// Splits a line into words.
  ///
  /// A word that begins with `#` starts a comment. A value in double quotes is read as a string of JSON.
  ///
  /// - Throws: The error of the decoder if a value is not such a string.
  static func read(_ line: Substring) throws -> [FaultWord] {
    var words: [FaultWord] = []
    var rest = line.drop(while: \.isWhitespace)
    while let first = rest.first, first != "#" {
      let shape = /([^\s=]*)(?:=("(?:[^"\\]|\\.)*"|\S*))?(?=\s|$)/
      guard let match = rest.prefixMatch(of: shape) else { break }
      var value = String(match.2 ?? "")
      if value.hasPrefix("\"") {
        value = try JSONDecoder().decode(String.self, from: Data(value.utf8))
      }
      words.append(FaultWord(text: String(match.0), key: String(match.1), value: value))
      rest = rest[match.range.upperBound...].drop(while: \.isWhitespace)
    }
    return words
  }

  /// The effect that the word describes; nil if the key or the value is wrong.
  var effect: FaultEffect? {
    switch key {
    case "delay": seconds.map { .delay(seconds: $0) }
    case "status": number(200...599).map { .status($0) }
    case "retry-after": value.isEmpty ? nil : .header("Retry-After", value)
    case "truncate": cut.map { .truncate(after: $0) }
    case "reset": value.isEmpty ? .reset(after: nil) : size.map { .reset(after: $0) }
    case "drip": size.flatMap { $0 > 0 ? .drip(bytesPerSecond: $0) : nil }
    case "hang": value.isEmpty ? .hang : nil
    case "close": value.isEmpty ? .closeWithoutAnswer : nil
    case "body": .body(Array(value.utf8))
    case "header": header
    default: nil
    }
  }

  /// The value as a number in a range.
  func number(_ range: some RangeExpression<Int>) -> Int? {
    Int(value).flatMap { range.contains($0) ? $0 : nil }
  }

  /// The value as a range: `2`, `1..3` or `4..`.
  var range: ClosedRange<Int>? {
    let ends = value.split(separator: "..", omittingEmptySubsequences: false)
    guard ends.count <= 2, let first = Int(ends[0]), first > 0,
      let last = ends.count == 1 ? first : ends[1].isEmpty ? .max : Int(ends[1]), last >= first
    else { return nil }
    return first...last
  }

  /// The value as a number of bytes: `300`, `2K` or `1M`, in binary units.
  private var size: Int? {
    let unit = value.last.flatMap { ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30][$0.uppercased()] }
    guard let number = Int(unit == nil ? value[...] : value.dropLast()), number >= 0,
      case (let bytes, false) = number.multipliedReportingOverflow(by: unit ?? 1)
    else { return nil }
    return bytes
  }

  /// The value as a duration: `250ms`, `1.5s` or `1.5`.
  private var seconds: Double? {
    let isThousandths = value.hasSuffix("ms")
    let number = Double(value.dropLast(isThousandths ? 2 : value.hasSuffix("s") ? 1 : 0))
    guard let number, (0...86_400_000).contains(number) else { return nil }
    return isThousandths ? number / 1000 : number
  }

  /// The value as a number of bytes or a percentage.
  private var cut: FaultEffect.Cut? {
    guard value.hasSuffix("%") else { return size.map { .bytes($0) } }
    guard let share = Double(value.dropLast()), (0...100).contains(share) else { return nil }
    return .fraction(share / 100)
  }

  /// The value as a header line, such as `Content-Type: text/html`.
  private var header: FaultEffect? {
    guard let colon = value.firstIndex(of: ":"), colon != value.startIndex,
      !value.contains(where: \.isNewline)
    else { return nil }
    let content = value[value.index(after: colon)...].drop { $0 == " " }
    return .header(String(value[..<colon]), String(content))
  }
}
