/// Which part of a whole a 206 or 416 speaks of. (RFC 9110, section 14.4)
package struct ContentRange: Hashable, Sendable {
  /// The first and last byte's offset; nil in a 416.
  package let bytes: ClosedRange<ByteCount>?
  /// The whole's length; nil when the server does not know it.
  package let whole: ByteCount?

  /// Reads `bytes 7-9/20`, `bytes 7-9/*` or `bytes */20`; nil for anything else, contradictions too.
  package init?(_ value: String) {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    guard scanner.skip(word: "bytes") else { return nil }
    scanner.skipBlanks()
    var bytes: ClosedRange<ByteCount>?
    if !scanner.skip(UInt8(ascii: "*")) {
      guard let first = scanner.number(), scanner.skip(UInt8(ascii: "-")),
        let last = scanner.number(), first <= last, last < .max
      else { return nil }
      bytes = ByteCount(first)...ByteCount(last)
    }
    guard scanner.skip(UInt8(ascii: "/")) else { return nil }
    let isUnknown = scanner.skip(UInt8(ascii: "*"))
    whole = isUnknown ? nil : scanner.number().map(ByteCount.init(_:))
    scanner.skipBlanks()
    guard scanner.isAtEnd, isUnknown || whole != nil, bytes != nil || whole != nil else {
      return nil
    }
    if let bytes, let whole, bytes.upperBound >= whole { return nil }
    self.bytes = bytes
  }
}
