import Transport

/// What a head says about its body's length and coding, read from the raw lines in one pass.
struct HeadFraming {
  /// The one length that every `Content-Length` names. (RFC 9112, section 6.3)
  private(set) var length: Int64?
  /// Whether lengths differ from each other or are no numbers.
  private(set) var isContradictory = false
  /// Whether a content coding other than `identity` was applied.
  private(set) var isEncoded = false
  /// Whether the server closes the connection after the body. (RFC 9112, section 9.6)
  private(set) var closes = false

  init(_ lines: [UInt8]) {
    var isChunked = false
    var start = 0
    while start < lines.count {
      let end = lines[start...].firstIndex(of: 10) ?? lines.count
      let line = lines[start..<end]
      switch line.first.map(\.asciiLowercased) {
      case UInt8(ascii: "c"):
        if let value = Self.value(of: "content-length", in: line) { add(length: value) }
        if let value = Self.value(of: "content-encoding", in: line) {
          isEncoded =
            isEncoded
            || !(value.isEmpty || Self.equals(value, "identity") || Self.equals(value, "none"))
        }
        if let value = Self.value(of: "connection", in: line) {
          closes = closes || !Self.equals(value, "keep-alive")
        }
      case UInt8(ascii: "t"):
        if Self.value(of: "transfer-encoding", in: line) != nil { isChunked = true }
      default: break
      }
      start = end + 1
    }
    // A transfer coding overrides the length. (RFC 9112, section 6.3)
    if isChunked { length = nil }
  }

  private mutating func add(length value: ArraySlice<UInt8>) {
    // One field may hold the same length several times. (RFC 9110, section 8.6)
    for part in value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      let digits = Self.trim(part)
      guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
        isContradictory = true
        return
      }
      let number = Int64(saturatingDigits: digits)
      if let length, length != number { isContradictory = true }
      length = number
    }
  }

  private static func value(of name: StaticString, in line: ArraySlice<UInt8>) -> ArraySlice<
    UInt8
  >? {
    let count = name.utf8CodeUnitCount
    guard line.count > count, line[line.startIndex + count] == UInt8(ascii: ":"),
      equals(line.prefix(count), name)
    else { return nil }
    return trim(line.dropFirst(count + 1))
  }

  private static func equals(_ bytes: ArraySlice<UInt8>, _ word: StaticString) -> Bool {
    word.withUTF8Buffer { wanted in
      bytes.count == wanted.count && zip(bytes, wanted).allSatisfy { $0.asciiLowercased == $1 }
    }
  }

  private static func trim(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var bytes = bytes
    while let first = bytes.first, first.isBlank { bytes.removeFirst() }
    while let last = bytes.last, last.isBlank { bytes.removeLast() }
    return bytes
  }
}
