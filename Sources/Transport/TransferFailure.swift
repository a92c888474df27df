import Base

/// The error of a failed transfer.
package struct TransferFailure: Error, Sendable, CustomStringConvertible {
  /// The reason, for example `http-404`.
  package var reason: FailureReason
  /// The URL without secrets, for logs and reports.
  package var url: String
  /// The message of the transport or the operating system, without secrets.
  ///
  /// It may be empty.
  package var detail: String
  /// The number of attempts.
  ///
  /// It is 0 if the transfer failed before its first attempt.
  package var attempts: Int
  /// The status of the final response, if there was one.
  package var status: Int?
  /// The number of seconds in the server's `Retry-After` field, without a limit.
  package var retryAfter: Int64?
  /// Whether the server may have received the request.
  ///
  /// If so, a POST may have had an effect.
  package var mayHaveBeenSent: Bool
  /// Whether the host's address was refused because only fetched data names the host.
  package var isHostOfDataOnly = false
  /// The first 8 KiB of the response's body.
  ///
  /// These bytes can contain secrets, because a server can repeat the request in the body.
  package var refusal: [UInt8] = []
  /// The header fields of the response.
  package var headers = Headers()

  /// Makes a failure.
  ///
  /// Only transports and tests call this.
  package init(
    reason: FailureReason,
    url: String,
    detail: String = "",
    attempts: Int = 0,
    status: Int? = nil,
    mayHaveBeenSent: Bool = false
  ) {
    self.reason = reason
    self.url = url
    self.detail = detail
    self.attempts = attempts
    self.status = status
    self.mayHaveBeenSent = mayHaveBeenSent
  }

  /// The error message, for example `cannot fetch https://shop.example/a.jpg: reset (Connection reset by peer)`.
  package var description: String {
    let what = url.isEmpty ? "anything" : url
    return "cannot fetch \(what): \(reason)" + (detail.isEmpty ? "" : " (\(detail))")
  }
}

/// The reason for which a transfer failed.
///
/// It is a short word such as `reset`, for reports and scripts.
///
/// Other modules can define further reasons.
package struct FailureReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The word that reports contain.
  package let rawValue: String

  /// Makes a reason.
  package init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// The word that reports contain.
  package var description: String { rawValue }

  /// The reason for a status that is not a success, for example `http-404`.
  package static func http(_ status: Int) -> FailureReason {
    FailureReason(rawValue: "http-\(status)")
  }

  /// The status if the reason is ``http(_:)``.
  ///
  /// Nil for any other reason.
  package var status: Int? {
    rawValue.hasPrefix("http-") ? Int(rawValue.dropFirst(5)) : nil
  }

  /// Whether a later request is likely to fail for the same reason.
  ///
  /// This is true if the server refuses the request with a status such as 403 or 404, or if the body cannot be used.
  package var isLasting: Bool {
    if let status { return (400...499).contains(status) && ![408, 425, 429].contains(status) }
    return self == .notAPicture || self == .tooLarge
  }

  /// Whether the server refused the request because of wrong or missing credentials, with the status 401 or 403.
  package var isUnauthorized: Bool { status == 401 || status == 403 }

  // The requested resource cannot be fetched.

  /// The text is not a URL.
  package static let urlInvalid = FailureReason(rawValue: "url-invalid")
  /// The scheme is neither http nor https.
  package static let schemeRefused = FailureReason(rawValue: "scheme-refused")
  /// The host has a private address, and only fetched data names the host.
  package static let addressRefused = FailureReason(rawValue: "address-refused")
  /// A redirect leads to a URL that was requested before.
  package static let redirectLoop = FailureReason(rawValue: "redirect-loop")
  /// There are more redirects than ``RedirectPolicy/limit``.
  package static let tooManyRedirects = FailureReason(rawValue: "too-many-redirects")
  /// A redirect from https to http.
  package static let redirectDowngrade = FailureReason(rawValue: "redirect-downgrade")
  /// A redirect has no valid `Location` field.
  package static let redirectInvalid = FailureReason(rawValue: "redirect-invalid")

  // The host cannot be reached.

  /// The host's name cannot be resolved.
  package static let dnsFailed = FailureReason(rawValue: "dns-failed")
  /// The host refused the connection.
  package static let connectRefused = FailureReason(rawValue: "connect-refused")
  /// The connection failed for another reason.
  package static let connectFailed = FailureReason(rawValue: "connect-failed")
  /// The connection could not be opened within the time limit.
  package static let timeoutConnect = FailureReason(rawValue: "timeout-connect")
  /// Several requests to the host failed in a row, so no request is sent to it for a while.
  ///
  /// See ``CircuitBreaker``.
  package static let circuitOpen = FailureReason(rawValue: "circuit-open")
  /// The server asked with `Retry-After` for a longer wait than a run makes.
  package static let askedToWait = FailureReason(rawValue: "asked-to-wait")
  /// The certificate has expired or is not yet valid.
  package static let tlsExpired = FailureReason(rawValue: "tls-expired")
  /// The certificate is for another host.
  package static let tlsHost = FailureReason(rawValue: "tls-host")
  /// The certificate is not signed by a trusted authority.
  package static let tlsUntrusted = FailureReason(rawValue: "tls-untrusted")
  /// TLS failed for another reason.
  package static let tlsFailed = FailureReason(rawValue: "tls-failed")

  /// The proxy cannot be reached, or its responses are invalid.
  package static let proxyFailed = FailureReason(rawValue: "proxy-failed")
  /// The proxy requires a user name and a password, or rejects them.
  package static let proxyAuth = FailureReason(rawValue: "proxy-auth")
  /// The proxy refuses the request.
  package static let proxyRefused = FailureReason(rawValue: "proxy-refused")

  // The transfer was interrupted.

  /// The connection was closed or reset.
  package static let reset = FailureReason(rawValue: "reset")
  /// The transfer was slower than the lowest allowed speed for too long.
  package static let timeoutIdle = FailureReason(rawValue: "timeout-idle")
  /// The transfer took longer than the time limit.
  package static let timeoutTotal = FailureReason(rawValue: "timeout-total")
  /// The body is shorter than the server announced.
  package static let truncated = FailureReason(rawValue: "truncated")

  // The response is invalid or too large.

  /// The response is not valid HTTP.
  package static let badResponse = FailureReason(rawValue: "bad-response")
  /// The body cannot be decoded.
  package static let badEncoding = FailureReason(rawValue: "bad-encoding")
  /// The body does not have the announced length, or the header fields announce different lengths.
  package static let lengthMismatch = FailureReason(rawValue: "length-mismatch")
  /// The header fields are longer than the limit.
  package static let tooLongHeader = FailureReason(rawValue: "too-long-header")
  /// The body is longer than the limit of the request.
  package static let tooLarge = FailureReason(rawValue: "too-large")
  /// The body is not a picture in a format that larder stores.
  package static let notAPicture = FailureReason(rawValue: "not-a-picture")

  // The run ended before the transfer.

  /// The caller cancelled the request.
  package static let cancelled = FailureReason(rawValue: "cancelled")
  /// The deadline of the run has passed.
  package static let deadline = FailureReason(rawValue: "deadline")
  /// The run has received as many bytes as it is allowed to receive.
  package static let bytesLimit = FailureReason(rawValue: "bytes-limit")
  /// The disk has less free space than must remain for other programs.
  package static let keepFree = FailureReason(rawValue: "keep-free")

  // This machine failed.

  /// The body could not be written to disk.
  package static let disk = FailureReason(rawValue: "disk")
  /// There is too little memory for the transfer.
  package static let outOfMemory = FailureReason(rawValue: "out-of-memory")
  /// libcurl is missing or too old, or refuses an option that the transfer needs.
  package static let libraryRefused = FailureReason(rawValue: "library-refused")
}

extension TransferFailure {
  /// The seconds of a `Retry-After` with status 429 or 503 that is longer than a run waits; nil if there is none.
  package var longWait: Int64? {
    guard status == 429 || status == 503 else { return nil }
    return retryAfter.flatMap { RetryPolicy.isFollowed($0) ? nil : $0 }
  }

  /// Changes this failure to the reason `asked-to-wait`, because `Retry-After` is longer than a run waits.
  package mutating func ask(toWait seconds: Int64, from now: UnixTime) {
    reason = .askedToWait
    retryAfter = seconds
    detail =
      "the host asks to wait until \((now + min(seconds, 31_536_000)).rfc3339) (Retry-After)"
  }
}
