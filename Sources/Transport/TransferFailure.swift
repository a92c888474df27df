/// A transfer that did not succeed: why, where, and after how many tries.
package struct TransferFailure: Error, Sendable, CustomStringConvertible {
  /// The short word for reports.
  package var reason: FailureReason
  /// Where, fit for logs and reports.
  package var url: String
  /// What the transport or the operating system said about it, without secrets; may be empty.
  package var detail: String
  /// Tries made, 0 when none was.
  package var attempts: Int
  /// The final status, when there was a response.
  package var status: Int?
  /// Seconds that the server asked to be left alone, as it said them.
  package var retryAfter: Int64?
  /// Whether the server may have seen the request; a POST is then ambiguous.
  package var mayHaveBeenSent: Bool
  /// Whether the host was refused because only fetched data names it.
  package var isHostOfDataOnly = false
  /// The first bytes, at most 8 KiB, of a refusal's body; may hold what the server echoes.
  package var refusal: [UInt8]
  /// The header fields of a refusal.
  package var headers = Headers()

  /// Makes a failure; the transport does, and tests.
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
