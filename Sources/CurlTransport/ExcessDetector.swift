import Base
import CCurl
import Transport

/// Detects that a server sent more than its `Content-Length` promised.
///
/// In that case libcurl delivers only the promised bytes and reports no error, so a picture would be truncated.
/// Excess bytes may arrive together with the last promised ones. libcurl drops them, but its debug callback counts
/// them first. Excess bytes that arrive later are unread in the socket. They are found before the socket closes, or
/// on an open connection that no other transfer uses yet. Excess bytes that arrive after that cannot be detected.
/// With TLS the socket is not checked, because its unread bytes may be a close alert or a session ticket.
final class ExcessDetector {
  private let flag: UnsafeMutablePointer<Int32>
  private let watch: UnsafeMutablePointer<larder_excess_watch>
  private var closes = false
  private var isPlain = false
  private var isVerbose = false
  /// The length that the head promised, and below it the number of body bytes received since.
  private var promised: ByteCount = 0
  private var arrived: ByteCount = 0

  init(_ watch: UnsafeMutablePointer<larder_excess_watch>) {
    self.watch = watch
    flag = .allocate(capacity: 1)
    flag.initialize(to: 0)
  }

  deinit {
    disarm()
    flag.deallocate()
  }

  func guardHandle(_ easy: borrowing EasyHandle) {
    easy.set(watch: watch)
    easy.set(debug: Self.onDebug)
    // SAFETY: unretained: the exchange owns this detector and the handle that calls it, and frees them together.
    easy.set(CURLOPT_DEBUGDATA, context: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Prepares the detector for a transfer.
  func prepare(_ easy: borrowing EasyHandle) {
    disarm()
    flag.pointee = 0
    closes = false
    if isVerbose {
      easy.set(CURLOPT_VERBOSE, false)
      isVerbose = false
    }
  }

  /// Records that the head promised a length.
  ///
  /// `close` says whether the connection will close, and `isPlain` whether it is without TLS.
  func expect(_ length: ByteCount, close: Bool, isPlain: Bool, _ easy: borrowing EasyHandle) {
    closes = close
    self.isPlain = isPlain
    promised = length
    arrived = 0
    // Verbosity starts only now, because libcurl's messages before the body cost more than a small transfer.
    easy.set(CURLOPT_VERBOSE, true)
    isVerbose = true
  }

  /// Records that the promised end was received.
  ///
  /// If the connection will close, its socket is the next to close.
  func bodyEnded() {
    if closes, isPlain { watch.pointee.armed = flag }
  }

  /// Whether the server sent more than it promised.
  ///
  /// Must be called when libcurl is done, before the handle leaves the multi handle.
  func hasExcess(_ easy: borrowing EasyHandle, mayPeek: Bool) -> Bool {
    flag.pointee != 0 || (!closes && isPlain && mayPeek && easy.hasUnread)
  }

  private func disarm() {
    if watch.pointee.armed == flag { watch.pointee.armed = nil }
  }

  // SAFETY: the context is the detector, which lives as long as its handle.
  private static let onDebug: larder_debug_callback = { _, type, _, count, context in
    guard type == CURLINFO_DATA_IN, let context else { return 0 }
    let detector = Unmanaged<ExcessDetector>.fromOpaque(context).takeUnretainedValue()
    detector.arrived += ByteCount(count)
    if detector.arrived > detector.promised { detector.flag.pointee = 1 }
    return 0
  }
}

/// The length and coding of a body as its head announces them, read from the raw lines in one pass.
struct HeadFraming {
  /// The one length that every `Content-Length` names. (RFC 9112, section 6.3)
  private(set) var length: ByteCount?
  /// Whether the announced lengths differ from each other or are not numbers.
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
