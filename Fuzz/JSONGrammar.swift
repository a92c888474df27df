/// Checks whether bytes are a JSON text by the grammar of RFC 8259; this code is independent of larder's parser.
struct JSONGrammar {
  /// The deepest level to which arrays and objects are nested.
  private(set) var depth = 0
  private var rest: ArraySlice<UInt8>

  /// Reads a text; nil if it is not JSON.
  init?(_ bytes: [UInt8]) {
    rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    guard String(validating: rest, as: UTF8.self) != nil, value(inside: 0), rest.isEmpty else {
      return nil
    }
  }

  private mutating func value(inside level: Int) -> Bool {
    blanks()
    defer { blanks() }
    switch rest.first {
    case UInt8(ascii: "{"): return list(until: UInt8(ascii: "}"), level, named: true)
    case UInt8(ascii: "["): return list(until: UInt8(ascii: "]"), level, named: false)
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "t"): return skip("true")
    case UInt8(ascii: "f"): return skip("false")
    case UInt8(ascii: "n"): return skip("null")
    default: return number()
    }
  }

  private mutating func list(until end: UInt8, _ level: Int, named: Bool) -> Bool {
    depth = max(depth, level + 1)
    rest.removeFirst()
    blanks()
    if rest.first == end { return rest.popFirst() != nil }
    while true {
      blanks()
      if named {
        guard string() else { return false }
        blanks()
        guard skip(":") else { return false }
      }
      guard value(inside: level + 1) else { return false }
      if rest.first == end { return rest.popFirst() != nil }
      guard skip(",") else { return false }
    }
  }

  private mutating func string() -> Bool {
    guard skip("\"") else { return false }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      guard byte >= 0x20 else { return false }
      guard byte == UInt8(ascii: "\\") else { continue }
      guard let escape = rest.popFirst(), "\"\\/bfnrtu".utf8.contains(escape) else { return false }
      guard escape == UInt8(ascii: "u") else { continue }
      let digits = rest.prefix(4)
      guard digits.count == 4, digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit })
      else { return false }
      rest = rest.dropFirst(4)
    }
    return false
  }

  private mutating func number() -> Bool {
    _ = skip("-")
    if !skip("0"), !digits() { return false }
    if skip("."), !digits() { return false }
    if skip("e") || skip("E") {
      if !skip("+") { _ = skip("-") }
      return digits()
    }
    return true
  }

  private mutating func digits() -> Bool {
    let count = rest.count
    rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return rest.count < count
  }

  private mutating func blanks() {
    rest = rest.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
  }

  private mutating func skip(_ word: String) -> Bool {
    guard rest.starts(with: word.utf8) else { return false }
    rest = rest.dropFirst(word.utf8.count)
    return true
  }
}
