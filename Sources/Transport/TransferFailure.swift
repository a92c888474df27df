import CGlibc

/// A transfer that did not succeed: why, where, and after how many attempts.
package struct TransferFailure: Error, Sendable, CustomStringConvertible {
  /// The short word for reports.
  package var reason: FailureReason
  /// The URL without secrets, for logs and reports.
  package var url: String
  /// The message of the transport or the operating system, without secrets; may be empty.
  package var detail: String
  /// The number of attempts made, which may be 0.
  package var attempts: Int
  /// The final status, when there was a response.
  package var status: Int?
  /// The server's `Retry-After` in seconds, not capped.
  package var retryAfter: Int64?
  /// Whether the server may have received the request; the effect of a POST is then unknown.
  package var mayHaveBeenSent: Bool
  /// Whether the host's address was refused because the host appears only in fetched data.
  package var isHostOfDataOnly = false
  /// The first bytes, at most 8 KiB, of a refusal's body; may contain echoed secrets.
  package var refusal: [UInt8]
  /// The header fields of a refusal.
  package var headers = Headers()

  /// Makes a failure; for transports and tests.
  package init(
    reason: FailureReason,
    url: String,
    detail: String = "",
    attempts: Int = 0,
    status: Int? = nil,
    retryAfter: Int64? = nil,
    mayHaveBeenSent: Bool = false,
    refusal: [UInt8] = []
  ) {
    self.reason = reason
    self.url = url
    self.detail = detail
    self.attempts = attempts
    self.status = status
    self.retryAfter = retryAfter
    self.mayHaveBeenSent = mayHaveBeenSent
    self.refusal = refusal
  }

  /// `cannot fetch URL: REASON (DETAIL)`.
  package var description: String {
    let what = url.isEmpty ? "anything" : url
    return "cannot fetch \(what): \(reason)" + (detail.isEmpty ? "" : " (\(detail))")
  }
}

/// Why a transfer failed: an open set of short words for reports and scripts.
package struct FailureReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word, as in reports.
  package let rawValue: String

  /// Makes another reason, for example in a sink.
  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// The word, as in reports.
  package var description: String { rawValue }

  /// A final status that is neither 2xx nor 304: `http-404`.
  package static func http(_ status: Int) -> FailureReason {
    FailureReason("http-\(status)")
  }

  /// The status of ``http(_:)``; nil for any other reason.
  package var status: Int? {
    rawValue.hasPrefix("http-") ? Int(rawValue.dropFirst(5)) : nil
  }

  /// Whether the next attempt is likely to end in the same way.
  ///
  /// This is true for a deliberate refusal, such as 404 or 403, and for a body that is not usable.
  package var isLasting: Bool {
    if let status { return (400...499).contains(status) && ![408, 425, 429].contains(status) }
    return self == .notAPicture || self == .tooLarge
  }

  /// Whether the credentials that were sent, or their absence, caused the refusal: 401 or 403.
  package var isUnauthorized: Bool { status == 401 || status == 403 }

  // The requested resource cannot be fetched.

  /// The text is not a URL.
  package static let urlInvalid = FailureReason("url-invalid")
  /// The scheme is neither http nor https.
  package static let schemeRefused = FailureReason("scheme-refused")
  /// The host's address is private, and the host appears only in fetched data.
  package static let addressRefused = FailureReason("address-refused")
  /// A redirect leads to a URL that was visited before.
  package static let redirectLoop = FailureReason("redirect-loop")
  /// There are more redirects than ``RedirectPolicy/limit``.
  package static let tooManyRedirects = FailureReason("too-many-redirects")
  /// A redirect from https to http.
  package static let redirectDowngrade = FailureReason("redirect-downgrade")
  /// A redirect without `Location`, or with one that cannot be parsed.
  package static let redirectInvalid = FailureReason("redirect-invalid")

  // The host cannot be reached.

  /// The name does not resolve.
  package static let dnsFailed = FailureReason("dns-failed")
  /// Nobody listens on the port.
  package static let connectRefused = FailureReason("connect-refused")
  /// The connection failed for another reason.
  package static let connectFailed = FailureReason("connect-failed")
  /// The connection was not open within the time limit.
  package static let timeoutConnect = FailureReason("timeout-connect")
  /// The host failed so often in a row that no request is sent to it for a while.
  package static let circuitOpen = FailureReason("circuit-open")
  /// The host's `Retry-After` is longer than a run is willing to wait.
  package static let askedToWait = FailureReason("asked-to-wait")
  /// The certificate has expired or is not yet valid.
  package static let tlsExpired = FailureReason("tls-expired")
  /// The certificate is for another host.
  package static let tlsHost = FailureReason("tls-host")
  /// The certificate is not signed by a trusted authority.
  package static let tlsUntrusted = FailureReason("tls-untrusted")
  /// TLS failed for another reason.
  package static let tlsFailed = FailureReason("tls-failed")

  /// The proxy cannot be reached, or its answers are not valid.
  package static let proxyFailed = FailureReason("proxy-failed")
  /// The proxy requires a user name and password, or rejects those given.
  package static let proxyAuth = FailureReason("proxy-auth")
  /// The proxy does not let the request through.
  package static let proxyRefused = FailureReason("proxy-refused")

  // The transfer broke.

  /// The connection was cut.
  package static let reset = FailureReason("reset")
  /// Too few bytes were received for too long.
  package static let timeoutIdle = FailureReason("timeout-idle")
  /// The transfer took longer than the time limit.
  package static let timeoutTotal = FailureReason("timeout-total")
  /// The body ended before the length that the server had announced.
  package static let truncated = FailureReason("truncated")

  // The response is not valid, or too large.

  /// The response is not HTTP, or not valid HTTP.
  package static let badResponse = FailureReason("bad-response")
  /// The content coding is unknown or broken.
  package static let badEncoding = FailureReason("bad-encoding")
  /// The lengths in the headers contradict each other, or the body has another length.
  package static let lengthMismatch = FailureReason("length-mismatch")
  /// The headers exceed the limit.
  package static let tooLongHeader = FailureReason("too-long-header")
  /// The body is, or would be, over the request's limit.
  package static let tooLarge = FailureReason("too-large")
  /// The sink refused the bytes because they are not a picture that larder keeps.
  package static let notAPicture = FailureReason("not-a-picture")

  // The run ended before the transfer.

  /// The caller cancelled.
  package static let cancelled = FailureReason("cancelled")
  /// The deadline of the run or the request has passed.
  package static let deadline = FailureReason("deadline")
  /// The run may transfer no more bytes.
  package static let bytesLimit = FailureReason("bytes-limit")
  /// The disk has no more than the free space that must remain for other programs.
  package static let keepFree = FailureReason("keep-free")

  // This machine failed.

  /// The sink could not write.
  package static let disk = FailureReason("disk")
  /// There is no memory for the transfer.
  package static let outOfMemory = FailureReason("out-of-memory")
  /// A library of this machine is too old, or refuses a setting that makes the transfer safe.
  package static let libraryRefused = FailureReason("library-refused")
}
