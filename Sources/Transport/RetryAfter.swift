/// How long a server asks to be left alone. (RFC 9110, section 10.2.3)
package enum RetryAfter {
  /// Reads either form; a date in the past is 0, junk is nil.
  ///
  /// - Parameters:
  ///   - value: The field's value: seconds or an HTTP date.
  ///   - now: What a date is compared with.
  /// - Returns: Seconds, never negative, saturating.
  package static func seconds(_ value: String, now: UnixTime) -> Int64? {
    var scanner = ByteScanner(value)
    scanner.skipBlanks()
    if let seconds = scanner.number() {
      scanner.skipBlanks()
      // Some servers send fractions; they are rounded up.
      if scanner.skip(UInt8(ascii: ".")), scanner.number() != nil {
        return scanner.isAtEnd ? seconds.addingClamped(1) : nil
      }
      return scanner.isAtEnd ? seconds : nil
    }
    return UnixTime(httpDate: value, now: now).map { max(0, $0 - now) }
  }
}
