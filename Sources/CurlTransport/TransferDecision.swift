import Base
import CCurl
import Glibc
import Transport

/// The next step of a transfer after one of its exchanges has ended.
enum TransferDecision {
  /// Complete the transfer.
  ///
  /// The body went to the sink, or the status is 304.
  case success(Response)
  /// Follow a redirect.
  ///
  /// The value is the `Location` field, or nil if there is none.
  case redirect(String?)
  /// Fetch the whole body, because the response does not continue the bytes in the sink.
  case mismatch
  /// Send the request without its condition, because the status is 412, or is 304 and refers to another version.
  case otherVersion
  /// Send the request again and let libcurl decode the body, because the server has chosen a coding other than gzip.
  case otherCoding
  /// The attempt failed.
  ///
  /// If the failure is final, there is no further attempt.
  case failure(TransferFailure, isFinal: Bool)
}

extension Exchange {
  /// Decides the next step.
  ///
  /// `code` is libcurl's result.
  func verdict(_ code: CURLcode, _ transfer: Transfer, now: UnixTime) -> TransferDecision {
    let verdict = plainVerdict(code, transfer, now: now)
    guard case .failure(var failure, let isFinal) = verdict else { return verdict }
    // A server that responds may have carried out the request.
    if reply.head != nil { failure.mayHaveBeenSent = true }
    return hasResumedInVain(failure, transfer) ? .mismatch : .failure(failure, isFinal: isFinal)
  }

  /// Whether an attempt may have failed because it tried to resume a body.
  ///
  /// This is possible if no byte of the rest was received. It is not the case if the status has another cause, for
  /// example 404 or 503.
  private func hasResumedInVain(_ failure: TransferFailure, _ transfer: Transfer) -> Bool {
    guard transfer.resume != nil, reply.refusal == nil, failure.mayHaveBeenSent,
      failure.reason != .deadline,
      reply.head.map({ !isBody($0.status) || reply.received == 0 }) ?? true
    else { return false }
    return ![401, 404, 410, 429, 503].contains(failure.status ?? 0)
  }

  private func plainVerdict(_ code: CURLcode, _ transfer: Transfer, now: UnixTime)
    -> TransferDecision
  {
    let outcome = easy.outcome()
    if reply.cannotResume { return .mismatch }
    if reply.hasOtherCoding { return .otherCoding }
    if let refusal = reply.refusal {
      var failure = transfer.failure(refusal.reason, detail: refusal.detail)
      failure.status = reply.head?.status
      failure.mayHaveBeenSent = true
      return .failure(failure, isFinal: true)
    }
    guard let head = reply.head, code == CURLE_OK || !isBody(head.status) else {
      return .failure(failure(code, outcome, transfer), isFinal: false)
    }
    switch head.status {
    case let status where (200...299).contains(status) && !isBody(status):
      var failure = transfer.failure(.http(status))
      failure.status = status
      return .failure(failure, isFinal: true)
    case 200...299 where reply.hasExcess:
      let failure = transfer.failure(.lengthMismatch, detail: "more bytes came than announced")
      return .failure(failure, isFinal: true)
    case 200...299 where reply.part.map { $0 != reply.received } ?? false:
      return .mismatch
    case 200...299 where reply.gunzip?.isWhole == false:
      // The server's program can have died while it was writing, so that the next attempt may get the whole body.
      let failure = transfer.failure(.truncated, detail: "its gzip data ends too early")
      return .failure(failure, isFinal: false)
    case 200...299
    where head.isEncoded && reply.received > BombGuard.limit(ofPacked: ByteCount(outcome.wire)):
      return .failure(transfer.failure(.tooLarge, detail: BombGuard.words), isFinal: true)
    case 200...299:
      return .success(response(head, outcome, transfer))
    case 304 where transfer.validators != nil && confirms(head, transfer):
      return .success(response(head, outcome, transfer))
    case 304 where transfer.validators != nil, 412 where transfer.validators != nil:
      return .otherVersion
    case 304:
      return .failure(
        transfer.failure(.badResponse, detail: "304 to an unconditional request"),
        isFinal: true
      )
    case 416 where transfer.resume != nil:
      return .mismatch
    case let status
    where RedirectPolicy.isRedirect(status) && transfer.request.isRepeatable
      && transfer.request.signing == nil:
      return .redirect(head.headers["Location"])
    case let status:
      var failure = transfer.failure(
        status == 407 && transfer.proxy != nil ? .proxyAuth : .http(status)
      )
      failure.status = status
      failure.retryAfter = head.headers["Retry-After"].flatMap {
        RetryAfter.seconds($0, now: now)
      }
      failure.refusal = reply.refusalBody
      failure.headers = head.headers
      if transfer.request.isRepeatable, transfer.request.signing == nil,
        let seconds = failure.longWait
      {
        failure.ask(toWait: seconds, from: now)
        return .failure(failure, isFinal: true)
      }
      return .failure(failure, isFinal: false)
    }
  }

  /// Whether a 304 can refer to the cached version.
  private func confirms(_ head: ResponseHead, _ transfer: Transfer) -> Bool {
    transfer.condition?.isMet(by: Validators(head.headers)) ?? false
  }

  private func response(
    _ head: ResponseHead,
    _ outcome: larder_outcome,
    _ transfer: Transfer
  ) -> Response {
    Response(
      head: head,
      bodyBytes: reply.received,
      wireBytes: ByteCount(outcome.wire),
      attempts: transfer.attempts,
      firstByte: Double(outcome.first_byte) / 1e6,
      total: Double(outcome.total) / 1e6,
      connectionReused: outcome.connections == 0,
      connectionIsOpen: reply.isConnected
    )
  }

  private func failure(
    _ code: CURLcode,
    _ outcome: larder_outcome,
    _ transfer: Transfer
  ) -> TransferFailure {
    let detail = errorDetail
    let text = detail.isEmpty ? String(cString: larder_easy_strerror(code)) : detail
    if let (reason, detail) = proxyTrouble(code, outcome, transfer, text) {
      return transfer.failure(reason, detail: detail)
    }
    let reason = reason(code, outcome, text)
    var failure = transfer.failure(
      reason,
      // For a refused address, libcurl's message would say only that it could not open a socket.
      detail: reason == .addressRefused ? ProxyAdmission.notPublic : text
    )
    failure.isHostOfDataOnly = reason == .addressRefused
    failure.status = reply.head?.status
    // If only the `CONNECT` request to a proxy was sent, the origin has received nothing.
    let hasTunnel = transfer.proxy == nil || transfer.url.scheme == .http || outcome.secured > 0
    failure.mayHaveBeenSent =
      outcome.request > 0 && (outcome.connections == 0 || hasTunnel)
    transfer.wantsFreshConnection = outcome.connections == 0 && outcome.request > 0
    return failure
  }

  private func reason(
    _ code: CURLcode,
    _ outcome: larder_outcome,
    _ text: String
  ) -> FailureReason {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .dnsFailed
    case CURLE_ABORTED_BY_CALLBACK: .addressRefused
    case CURLE_COULDNT_CONNECT:
      gate.hasRefusedAll
        ? .addressRefused
        : Int32(outcome.error_number) == ECONNREFUSED ? .connectRefused : .connectFailed
    case CURLE_OPERATION_TIMEDOUT: timeout(outcome)
    case CURLE_PARTIAL_FILE: .truncated
    case CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2_STREAM, CURLE_HTTP2: .reset
    case CURLE_RECV_ERROR:
      reply.head.map { LibcurlWords.tellBrokenChunks(text, $0) } ?? false ? .badResponse : .reset
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_PEER_FAILED_VERIFICATION: verification(outcome)
    // `reset` is retried and `tlsFailed` is not. So a handshake that was interrupted is distinguished from a handshake
    // that one side refused.
    case CURLE_SSL_CONNECT_ERROR:
      Self.cuts.contains(Int32(outcome.error_number)) || LibcurlWords.tellCutHandshake(text)
        ? .reset : .tlsFailed
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED:
      .tlsFailed
    case CURLE_URL_MALFORMAT: .urlInvalid
    // libcurl also uses this code if a header line exceeds its own limit.
    case CURLE_OUT_OF_MEMORY: reply.head == nil ? .tooLongHeader : .outOfMemory
    default: .badResponse
    }
  }

  /// The values of `errno` if the other side closed the connection.
  private static let cuts: Set<Int32> = [ECONNRESET, ECONNABORTED, EPIPE]

  private func timeout(_ outcome: larder_outcome) -> FailureReason {
    // libcurl's measured total time may be a little shorter than its time limit, so 50 ms are added.
    let slack = 50
    let isOver =
      timeLimit.milliseconds > 0 && Int(outcome.total) / 1000 + slack >= timeLimit.milliseconds
    if isOver, timeLimit.isDeadline { return .deadline }
    if outcome.request == 0 { return .timeoutConnect }
    return isOver ? .timeoutTotal : .timeoutIdle
  }

  /// The reason for an error in the verification of a certificate, from the result of OpenSSL (`X509_V_ERR_…`).
  ///
  /// If the result is 0 or 1, OpenSSL found no error, and libcurl itself refused the host name.
  private func verification(_ outcome: larder_outcome) -> FailureReason {
    switch outcome.verification {
    case 0, 1, 62, 64: .tlsHost
    case 9, 10: .tlsExpired
    default: .tlsUntrusted
    }
  }
}

extension TransferFailure {
  /// The result of the failed attempt, in terms of its host's availability.
  func outcome(since start: MonotonicTime, retry: RetryPolicy) -> TransferSchedule.Outcome {
    switch reason {
    case .askedToWait: return .closed
    case .http(429), .http(503):
      let wait = retryAfter.map { min(Duration.seconds(min($0, 86_400)), retry.longestRetryAfter) }
      return .overloaded(since: start, wait: wait)
    case .dnsFailed, .connectRefused, .connectFailed, .timeoutConnect, .timeoutIdle, .reset,
      .proxyFailed:
      return status == nil ? .unreachable(since: start) : .answered
    case .deadline, .cancelled, .bytesLimit, .keepFree:
      return .abandoned
    default:
      return .answered
    }
  }
}

extension Exchange {
  /// The reason and message if the proxy failed before any byte was sent to the origin.
  ///
  /// Nil if the proxy did not fail.
  func proxyTrouble(
    _ code: CURLcode,
    _ outcome: larder_outcome,
    _ transfer: Transfer,
    _ text: String
  ) -> (FailureReason, String)? {
    guard let proxy = transfer.proxy, outcome.connections > 0 || outcome.request == 0 else {
      return nil
    }
    switch code {
    case CURLE_COULDNT_RESOLVE_PROXY:
      return (.proxyFailed, "the name of the proxy \(proxy) does not resolve")
    case CURLE_PROXY:
      return socksTrouble(proxy, outcome, text)
    case CURLE_OPERATION_TIMEDOUT:
      return nil
    case CURLE_PEER_FAILED_VERIFICATION where outcome.proxy_verification != 0:
      return (.proxyFailed, "the certificate of the proxy \(proxy) cannot be trusted: \(text)")
    default:
      break
    }
    switch outcome.proxy_status {
    case 200...299:
      return nil
    case 407:
      return (.proxyAuth, "the proxy \(proxy) rejects the user name or password")
    case 502...504:
      return (.connectFailed, "the proxy \(proxy) answered \(outcome.proxy_status) to CONNECT")
    case 100...:
      return (.proxyRefused, "the proxy \(proxy) answered \(outcome.proxy_status) to CONNECT")
    default:
      break
    }
    if code == CURLE_COULDNT_CONNECT {
      return (.proxyFailed, "the proxy \(proxy) refuses connections: \(text)")
    }
    // Without a status, the only remaining failure of a proxy is a tunnel that was not opened.
    guard proxy.tunnels(to: transfer.url), outcome.secured == 0, reply.head == nil,
      proxy.scheme == .http || proxy.scheme == .https
    else { return nil }
    return (.proxyFailed, "the proxy \(proxy) could not open a tunnel: \(text)")
  }

  private func socksTrouble(_ proxy: Proxy, _ outcome: larder_outcome, _ text: String)
    -> (FailureReason, String)
  {
    switch CURLproxycode(UInt32(outcome.proxy_error)) {
    case CURLPX_REPLY_CONNECTION_REFUSED:
      (.connectRefused, "the proxy \(proxy) says that the connection was refused")
    case CURLPX_REPLY_HOST_UNREACHABLE, CURLPX_REPLY_NETWORK_UNREACHABLE, CURLPX_REPLY_TTL_EXPIRED,
      CURLPX_REPLY_GENERAL_SERVER_FAILURE:
      (.connectFailed, "the proxy \(proxy) cannot reach it: \(text)")
    case CURLPX_REPLY_NOT_ALLOWED:
      (.proxyRefused, "the proxy \(proxy) does not allow it")
    case CURLPX_NO_AUTH, CURLPX_USER_REJECTED, CURLPX_REQUEST_FAILED, CURLPX_GSSAPI:
      (.proxyAuth, "the proxy \(proxy) rejects the user name or password")
    default:
      (.proxyFailed, "the proxy \(proxy) could not open a tunnel: \(text)")
    }
  }
}

/// Recognizes two failures by libcurl's error message, because the error code alone is not sufficient.
///
/// The messages are those of libcurl 7.88.1 to 8.14. A test causes each failure, and fails if the message has changed.
enum LibcurlWords {
  /// Whether the cause of the error `CURLE_RECV_ERROR` is an invalid chunk, and not a connection that was reset.
  ///
  /// libcurl's transfer.c returns this code in both cases. `CURLINFO_OS_ERRNO` does not help, because it is 0 with TLS.
  static func tellBrokenChunks(_ text: String, _ head: ResponseHead) -> Bool {
    head.headers.contains("Transfer-Encoding") && text.contains("chunk")
  }

  /// Whether the cause of the error `CURLE_SSL_CONNECT_ERROR` is a connection that was closed during the handshake.
  ///
  /// Such a transfer is retried, but not if the server refused the handshake. If the connection was closed, `errno` is
  /// not set and OpenSSL has no error message. Then libcurl's vtls/openssl.c writes `SSL_connect: ` and the state of
  /// the handshake. In all other cases, it writes the error message of OpenSSL.
  static func tellCutHandshake(_ text: String) -> Bool { text.contains("SSL_connect: ") }
}
