/// A JSON text rewritten so that values which simdjson cannot hold do not spoil the rest.
///
/// Numbers beyond `Int` and `Double` become strings of the same digits; half a surrogate pair becomes
/// U+FFFD. Everything else stays as it is, faults included.
struct JSONRepair {
  /// The rewritten text.
  private(set) var bytes: ArraySlice<UInt8>

  /// Rewrites a text; nil when there is nothing to mend.
  ///
  /// - Parameters:
  ///   - original: The text.
  ///   - wholeLimit: The largest whole number that stays one, for readers who hold it in a `Double`.
  init?(_ original: ArraySlice<UInt8>, wholeLimit: Int = .max) {
    var output: [UInt8] = []
    output.reserveCapacity(original.count + 64)
    var isChanged = false
    var index = original.startIndex
    while index < original.endIndex {
      let byte = original[index]
      if byte == UInt8(ascii: "\"") {
        let end = Self.endOfString(original, from: index)
        let string = Self.mended(original[index..<end])
        isChanged = isChanged || string != nil
        output += string ?? original[index..<end]
        index = end
      } else if Self.isNumeric(byte) {
        let end = original[index...].firstIndex { !Self.isNumeric($0) } ?? original.endIndex
        let number = original[index..<end]
        // A number in a name's place stays what it is: a fault.
        if Self.isTooLarge(number, wholeLimit), !Self.isFollowedByColon(original, end) {
          output += [UInt8(ascii: "\"")] + number + [UInt8(ascii: "\"")]
          isChanged = true
        } else {
          output += number
        }
        index = end
      } else {
        output.append(byte)
        index += 1
      }
    }
    guard isChanged else { return nil }
    bytes = output[...]
  }

  private static func endOfString(_ bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var index = start + 1
    while index < bytes.endIndex {
      if bytes[index] == UInt8(ascii: "\"") { return index + 1 }
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    return bytes.endIndex
  }

  private static func isFollowedByColon(_ bytes: ArraySlice<UInt8>, _ end: Int) -> Bool {
    bytes[end...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } == UInt8(ascii: ":")
  }

  private static func isNumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"),
      UInt8(ascii: "."), UInt8(ascii: "e"), UInt8(ascii: "E"):
      true
    default: false
    }
  }

  /// Whether a token is a number that fits neither an `Int` nor a `Double`.
  private static func isTooLarge(_ token: ArraySlice<UInt8>, _ wholeLimit: Int) -> Bool {
    // `22.e9` is no number, though Swift would take it for one: it stays, to be refused.
    guard token.isJSONNumber else { return false }
    let text = String(decoding: token, as: UTF8.self)
    let isWhole = !token.contains { ".eE".utf8.contains($0) }
    guard isWhole else { return Double(text)?.isInfinite == true }
    return Int(text).map { wholeLimit < .max && $0.magnitude > wholeLimit.magnitude } ?? true
  }

  /// The string with its unusable escapes replaced; nil when it has none.
  private static func mended(_ string: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard string.contains(UInt8(ascii: "\\")) else { return nil }
    var output = string
    var isChanged = false
    var index = string.startIndex
    while index < string.endIndex {
      guard string[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      guard let unit = escapedUnit(string, at: index) else {
        index += 2
        continue
      }
      let isPair =
        (0xD800..<0xDC00).contains(unit)
        && escapedUnit(string, at: index + 6).map { (0xDC00..<0xE000).contains($0) } == true
      if !isPair, (0xD800..<0xE000).contains(unit) {
        output.replaceSubrange(index..<index + 6, with: "\\ufffd".utf8)
        isChanged = true
      }
      index += isPair ? 12 : 6
    }
    return isChanged ? output : nil
  }

  /// The UTF-16 unit that a `\uXXXX` at an index names.
  private static func escapedUnit(_ string: ArraySlice<UInt8>, at index: Int) -> UInt16? {
    guard index + 6 <= string.endIndex, string[index] == UInt8(ascii: "\\"),
      string[index + 1] == UInt8(ascii: "u")
    else { return nil }
    let digits = String(decoding: string[index + 2..<index + 6], as: UTF8.self)
    // A sign is no digit, though Swift would take one.
    return digits.allSatisfy(\.isHexDigit) ? UInt16(digits, radix: 16) : nil
  }
}
