/// Why a transfer failed: an open set of short words for reports and scripts.
public struct FailureReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word, as in reports.
  public let rawValue: String

  /// Makes a reason of one's own; a sink may.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The word, as in reports.
  public var description: String { rawValue }

  /// A final status that is neither 2xx nor 304: `http-404`.
  public static func http(_ status: Int) -> FailureReason {
    FailureReason("http-\(status)")
  }

  // What was asked for cannot be fetched.

  /// The text is no URL.
  public static let urlInvalid = FailureReason("url-invalid")
  /// Neither http nor https.
  public static let schemeRefused = FailureReason("scheme-refused")
  /// The host's address is private, and only fetched data named the host.
  public static let addressRefused = FailureReason("address-refused")
  /// Redirects come back to where they were.
  public static let redirectLoop = FailureReason("redirect-loop")
  /// More redirects than anyone needs.
  public static let tooManyRedirects = FailureReason("too-many-redirects")
  /// A redirect from https to http.
  public static let redirectDowngrade = FailureReason("redirect-downgrade")
  /// A redirect that says nowhere, or nowhere that can be parsed.
  public static let redirectInvalid = FailureReason("redirect-invalid")

  // The host cannot be reached.

  /// The name does not resolve.
  public static let dnsFailed = FailureReason("dns-failed")
  /// Nobody listens on the port.
  public static let connectRefused = FailureReason("connect-refused")
  /// No connection for another cause.
  public static let connectFailed = FailureReason("connect-failed")
  /// No connection in time.
  public static let timeoutConnect = FailureReason("timeout-connect")
  /// The host failed so often in a row that nothing more is sent there for a while.
  public static let circuitOpen = FailureReason("circuit-open")
  /// The certificate has expired or is not yet valid.
  public static let tlsExpired = FailureReason("tls-expired")
  /// The certificate is for another host.
  public static let tlsHost = FailureReason("tls-host")
  /// Nobody trusted signed the certificate.
  public static let tlsUntrusted = FailureReason("tls-untrusted")
  /// TLS failed for another cause.
  public static let tlsFailed = FailureReason("tls-failed")

  /// The proxy cannot be reached, or its answers make no sense.
  public static let proxyFailed = FailureReason("proxy-failed")
  /// The proxy wants a user and a password, or others.
  public static let proxyAuth = FailureReason("proxy-auth")
  /// The proxy does not let the request through.
  public static let proxyRefused = FailureReason("proxy-refused")

  // The transfer broke.

  /// The connection was cut.
  public static let reset = FailureReason("reset")
  /// Too little came for too long.
  public static let timeoutIdle = FailureReason("timeout-idle")
  /// It took longer than one transfer may.
  public static let timeoutTotal = FailureReason("timeout-total")
  /// The body ended before the promised length.
  public static let truncated = FailureReason("truncated")

  // The response makes no sense, or is too much.

  /// Not HTTP, or not as it should be.
  public static let badResponse = FailureReason("bad-response")
  /// The content coding is unknown or broken.
  public static let badEncoding = FailureReason("bad-encoding")
  /// Lengths contradict each other or the body.
  public static let lengthMismatch = FailureReason("length-mismatch")
  /// Headers without end.
  public static let tooLongHeader = FailureReason("too-long-header")
  /// The body is, or would be, over the request's limit.
  public static let tooLarge = FailureReason("too-large")
  /// The bytes are no picture that larder keeps; sinks say so.
  public static let notAPicture = FailureReason("not-a-picture")
  /// The bytes are not the JSON that was expected; sinks say so.
  public static let notJSON = FailureReason("not-json")

  // The run ended first.

  /// The caller cancelled.
  public static let cancelled = FailureReason("cancelled")
  /// The run's, or the request's, deadline came.
  public static let deadline = FailureReason("deadline")
  /// The run may transfer no more bytes.
  public static let bytesLimit = FailureReason("bytes-limit")

  // This machine failed.

  /// The sink could not write.
  public static let disk = FailureReason("disk")
  /// No memory for the transfer.
  public static let outOfMemory = FailureReason("out-of-memory")
  /// A library of this machine is too old, or will not do what the transfer needs to be safe.
  public static let libraryRefused = FailureReason("library-refused")
}
