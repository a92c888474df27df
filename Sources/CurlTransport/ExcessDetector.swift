import Base
import CCurl
import Transport

/// Detects that a server sent more bytes than it announced in `Content-Length`.
///
/// In this case, libcurl delivers only the announced number of bytes and reports no error. So a picture would be
/// truncated without notice.
///
/// The additional bytes may arrive together with the last announced bytes. libcurl ignores them, but passes them to its
/// debug callback, which counts them. If they arrive later, they stay unread in the socket. The detector looks for
/// unread bytes when libcurl closes the socket, or when the transfer has ended and no other transfer uses the
/// connection yet. Bytes that arrive even later cannot be detected.
///
/// With TLS, the socket is not checked, because its unread bytes may belong to TLS itself.
final class ExcessDetector {
  /// Becomes 1 when additional bytes were found.
  private let flag: UnsafeMutablePointer<Int32>
  private let watch: UnsafeMutablePointer<larder_excess_watch>
  /// Whether the server closes the connection after the body.
  private var closes = false
  /// Whether the connection is without TLS.
  private var isPlain = false
  /// The announced length of the body.
  private var promised: ByteCount = 0
  /// The number of body bytes that were received, including additional bytes.
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
    // SAFETY: the pointer is unretained. The exchange owns both this detector and the handle that calls it.
    easy.set(CURLOPT_DEBUGDATA, context: Unmanaged.passUnretained(self).toOpaque())
  }

  /// Prepares the detector for a transfer.
  func prepare(_ easy: borrowing EasyHandle) {
    disarm()
    flag.pointee = 0
    closes = false
    easy.set(CURLOPT_VERBOSE, false)
  }

  /// Starts to count the bytes of a body with an announced length.
  ///
  /// - Parameters:
  ///   - length: The announced length.
  ///   - close: Whether the server closes the connection after the body.
  ///   - isPlain: Whether the connection is without TLS.
  ///   - easy: The handle of the transfer.
  func expect(_ length: ByteCount, close: Bool, isPlain: Bool, _ easy: borrowing EasyHandle) {
    closes = close
    self.isPlain = isPlain
    promised = length
    arrived = 0
    // The debug callback is switched on only now. For a small transfer, libcurl's messages before the body would take
    // more time than the transfer itself.
    easy.set(CURLOPT_VERBOSE, true)
  }

  /// Records that the announced number of bytes was received.
  ///
  /// If the server closes the connection after the body, the next socket that libcurl closes is the socket of this
  /// transfer.
  func bodyEnded() {
    if closes, isPlain { watch.pointee.armed = flag }
  }

  /// Whether the server sent more bytes than it announced.
  ///
  /// This must be called after the transfer has ended, and before the handle leaves the multi handle. `mayPeek` is true
  /// if no other transfer can have used the connection since then.
  func hasExcess(_ easy: borrowing EasyHandle, mayPeek: Bool) -> Bool {
    flag.pointee != 0 || (!closes && isPlain && mayPeek && easy.hasUnread)
  }

  private func disarm() {
    if watch.pointee.armed == flag { watch.pointee.armed = nil }
  }

  // SAFETY: the context is the detector, which exists as long as its handle.
  private static let onDebug: larder_debug_callback = { _, type, _, count, context in
    guard type == CURLINFO_DATA_IN, let context else { return 0 }
    let detector = Unmanaged<ExcessDetector>.fromOpaque(context).takeUnretainedValue()
    detector.arrived += ByteCount(count)
    if detector.arrived > detector.promised { detector.flag.pointee = 1 }
    return 0
  }
}

/// The length and the coding of a body, as the header fields announce them.
struct HeadFraming {
  /// The value of `Content-Length`.
  ///
  /// Nil if there is none, or if the body is chunked. (RFC 9112, section 6.3)
  let length: ByteCount?
  /// Whether there are several different values of `Content-Length`, or a value that is not a number.
  let isContradictory: Bool
  /// The content codings of the body, such as `gzip`, in lower case. (RFC 9110, section 8.4.1)
  ///
  /// `identity` and `none`, which change nothing, are left out.
  let codings: [String]
  /// Whether the server closes the connection after the body. (RFC 9112, section 9.6)
  let closes: Bool

  init(_ headers: Headers) {
    // A field can contain the same length several times, for example `12, 12`. (RFC 9110, section 8.6)
    let lengths = headers.all("Content-Length").flatMap { value in
      value.split(separator: ",", omittingEmptySubsequences: false).map { Int64(digits: $0) }
    }
    isContradictory = Set(lengths).count > 1 || lengths.contains(nil)
    // `Transfer-Encoding` takes precedence over `Content-Length`. (RFC 9112, section 6.3)
    length = headers.contains("Transfer-Encoding") ? nil : lengths.first?.map(ByteCount.init(_:))
    codings = headers.all("Content-Encoding").joined(separator: ",").lowercased()
      .split { ", \t".contains($0) }.map(String.init)
      .filter { $0 != "identity" && $0 != "none" }
    closes = headers.all("Connection").contains { !$0.equalsIgnoringCase("keep-alive") }
  }
}
