import Transport

/// What a head says about its body's length and coding, read from the raw lines in one pass.
struct HeadFraming {
  /// The one length that every `Content-Length` names. (RFC 9112, section 6.3)
  private(set) var length: ByteCount?
  /// Whether lengths differ from each other or are no numbers.
  private(set) var isContradictory = false
  /// Whether a content coding other than `identity` was applied.
  private(set) var isEncoded = false
  /// Whether the server closes the connection after the body. (RFC 9112, section 9.6)
  private(set) var closes = false

  init(_ lines: [UInt8]) {
    var isChunked = false
    lines.withUnsafeBufferPointer { bytes in
      for line in HeaderLines(bytes) {
        let value = UnsafeBufferPointer(rebasing: bytes[line.value])
        if line.isNamed("content-length") {
          add(length: value)
        } else if line.isNamed("content-encoding") {
          isEncoded =
            isEncoded
            || !(value.isEmpty || value.equalsIgnoringCase("identity")
              || value.equalsIgnoringCase("none"))
        } else if line.isNamed("connection") {
          closes = closes || !value.equalsIgnoringCase("keep-alive")
        } else if line.isNamed("transfer-encoding") {
          isChunked = true
        }
      }
    }
    // A transfer coding overrides the length. (RFC 9112, section 6.3)
    if isChunked { length = nil }
  }

  private mutating func add(length value: UnsafeBufferPointer<UInt8>) {
    if length == nil, (1...15).contains(value.count), value.allSatisfy(\.isDigit) {
      length = ByteCount(value.reduce(0 as Int64) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) })
      return
    }
    // One field may hold the same length several times. (RFC 9110, section 8.6)
    for part in Array(value).split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    {
      let digits = part.drop(while: \.isBlank)
      let end = digits.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? digits.startIndex
      let number = digits[..<end]
      guard !number.isEmpty, number.allSatisfy(\.isDigit) else {
        isContradictory = true
        return
      }
      let value = ByteCount(Int64(saturatingDigits: number))
      if let length, length != value { isContradictory = true }
      length = value
    }
  }
}
