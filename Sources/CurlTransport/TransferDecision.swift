import Base
import CCurl
import Glibc
import Transport

/// The outcome of one exchange.
enum TransferDecision {
  /// A 2xx whose body went to the sink, or a 304.
  case success(Response)
  /// A redirect of a repeatable request to the value of `Location`, which is nil if there is none.
  case redirect(String?)
  /// The partial response does not continue the bytes in the sink: fetch the whole body.
  case mismatch
  /// A 304 for another version than that of the condition, or a 412: fetch the whole body.
  case otherVersion
  /// The server names an unknown coding: take the bytes as they are.
  case unknownCoding
  /// Any other outcome; a final failure is not worth another attempt.
  case failure(TransferFailure, isFinal: Bool)
}

extension Exchange {
  /// Judges the exchange that libcurl says is done.
  func verdict(_ code: CURLcode, _ transfer: Transfer, now: UnixTime) -> TransferDecision {
    let verdict = plainVerdict(code, transfer, now: now)
    guard case .failure(let failure, _) = verdict, hasResumedInVain(failure, transfer) else {
      return verdict
    }
    return .mismatch
  }

  /// Whether the request's range may be the cause of a failure: the request was for the rest of a body, and no byte
  /// of that rest was received.
  ///
  /// False if the status is about the resource or about the server's load.
  private func hasResumedInVain(_ failure: TransferFailure, _ transfer: Transfer) -> Bool {
    guard transfer.resume != nil, refusal == nil, failure.mayHaveBeenSent,
      failure.reason != .deadline,
      head.map({ !isBody($0.status) || received == 0 }) ?? true
    else { return false }
    return ![401, 404, 410, 429, 503].contains(failure.status ?? 0)
  }

  private func plainVerdict(_ code: CURLcode, _ transfer: Transfer, now: UnixTime)
    -> TransferDecision
  {
    let outcome = easy.outcome()
    if cannotResume { return .mismatch }
    if let refusal {
      var failure = transfer.failure(refusal.reason, detail: refusal.detail)
      failure.status = head?.status
      failure.mayHaveBeenSent = true
      return .failure(failure, isFinal: true)
    }
    // Some stores send pictures with `Content-Encoding: utf-8` or `aws-chunked`, although the bytes are not encoded.
    if code == CURLE_BAD_CONTENT_ENCODING, received == 0, !transfer.takesCodedBytes,
      transfer.request.isRepeatable, let head,
      !ContentCodings.decodable.contains(all: head.headers)
    {
      return .unknownCoding
    }
    guard let head, code == CURLE_OK || !isBody(head.status) else {
      return .failure(failure(code, outcome, transfer), isFinal: false)
    }
    switch head.status {
    case let status where (200...299).contains(status) && !isBody(status):
      var failure = transfer.failure(.http(status))
      failure.status = status
      return .failure(failure, isFinal: true)
    case 200...299 where hasExcess:
      let failure = transfer.failure(.lengthMismatch, detail: "more bytes came than announced")
      return .failure(failure, isFinal: true)
    case 200...299 where part.map { $0 != received } ?? false:
      return .mismatch
    case 200...299
    where isPacked && received > BombGuard.limit(ofPacked: ByteCount(outcome.wire)):
      return .failure(transfer.failure(.tooLarge, detail: BombGuard.words), isFinal: true)
    case 200...299:
      return .success(response(head, outcome, transfer))
    case 304 where transfer.isConditional && isRight(transfer, head):
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
      failure.mayHaveBeenSent = true
      failure.refusal = refusalBody
      failure.headers = head.headers
      if transfer.request.isRepeatable, transfer.request.signing == nil,
        status == 429 || status == 503,
        let seconds = failure.retryAfter, !RetryPolicy.isFollowed(seconds)
      {
        failure.ask(toWait: seconds, from: now)
        return .failure(failure, isFinal: true)
      }
      return .failure(failure, isFinal: false)
    }
  }

  /// Whether a 304 may refer to the version of the condition.
  private func isRight(_ transfer: Transfer, _ head: ResponseHead) -> Bool {
    guard transfer.validators != nil, let condition = transfer.condition else { return true }
    return condition.isMet(by: Validators(head.headers))
  }

  private func response(
    _ head: ResponseHead,
    _ outcome: larder_outcome,
    _ transfer: Transfer
  ) -> Response {
    var timing = TransferTiming()
    timing.nameResolved = Double(outcome.resolved) / 1e6
    timing.connected = Double(outcome.connected) / 1e6
    timing.secured = Double(outcome.secured) / 1e6
    timing.firstByte = Double(outcome.first_byte) / 1e6
    timing.total = Double(outcome.total) / 1e6
    return Response(
      head: head,
      bodyBytes: received,
      wireBytes: ByteCount(outcome.wire),
      attempts: transfer.attempts,
      timing: timing,
      connectionReused: outcome.connections == 0,
      connectionIsOpen: isConnected
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
      // libcurl's own message says only that there was no socket.
      detail: reason == .addressRefused ? ProxyAdmission.notPublic : text
    )
    failure.isHostOfDataOnly = reason == .addressRefused
    failure.status = head?.status
    // The `CONNECT` request to a proxy does not count as sent to the origin.
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
      wasAddressRefused
        ? .addressRefused
        : Int32(outcome.error_number) == ECONNREFUSED ? .connectRefused : .connectFailed
    case CURLE_OPERATION_TIMEDOUT: timeout(outcome)
    case CURLE_PARTIAL_FILE: .truncated
    case CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2_STREAM, CURLE_HTTP2: .reset
    case CURLE_RECV_ERROR:
      head.map { LibcurlWords.tellBrokenChunks(text, $0) } ?? false ? .badResponse : .reset
    case CURLE_BAD_CONTENT_ENCODING: .badEncoding
    case CURLE_PEER_FAILED_VERIFICATION: verification(outcome)
    // Try again if the connection was cut during the handshake, but not if the handshake failed.
    case CURLE_SSL_CONNECT_ERROR:
      Self.cuts.contains(Int32(outcome.error_number)) || LibcurlWords.tellCutHandshake(text)
        ? .reset : .tlsFailed
    case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM,
      CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED:
      .tlsFailed
    case CURLE_URL_MALFORMAT: .urlInvalid
    // libcurl reports a header line beyond its own limit with this code as well.
    case CURLE_OUT_OF_MEMORY: status == 0 || head == nil ? .tooLongHeader : .outOfMemory
    default: .badResponse
    }
  }

  /// The system's errors for a connection that the other side cut.
  private static let cuts: Set<Int32> = [ECONNRESET, ECONNABORTED, EPIPE]

  private func timeout(_ outcome: larder_outcome) -> FailureReason {
    // libcurl starts the clock of its time limit before that of its total time, and rounds both.
    let slack = 50
    let isOver =
      timeLimit.milliseconds > 0 && Int(outcome.total) / 1000 + slack >= timeLimit.milliseconds
    if isOver, timeLimit.isDeadline { return .deadline }
    if outcome.request == 0 { return .timeoutConnect }
    return isOver ? .timeoutTotal : .timeoutIdle
  }

  /// The reason for OpenSSL's verification result.
  ///
  /// If the result is 0 or 1, libcurl itself refused the host name.
  private func verification(_ outcome: larder_outcome) -> FailureReason {
    switch outcome.verification {
    case 0, 1, 62, 64: .tlsHost
    case 9, 10: .tlsExpired
    default: .tlsUntrusted
    }
  }
}

extension Transfer {
  /// Whether the server may answer 304.
  var isConditional: Bool {
    validators != nil || request.headers.contains("If-None-Match")
      || request.headers.contains("If-Modified-Since")
      || request.credentials.contains("If-None-Match")
      || request.credentials.contains("If-Modified-Since")
  }
}

extension TransferFailure {
  /// Changes this failure into that of a host whose `Retry-After` is longer than a run is willing to wait.
  mutating func ask(toWait seconds: Int64, from now: UnixTime) {
    reason = .askedToWait
    retryAfter = seconds
    detail =
      "the host asks to wait until \((now + min(seconds, 31_536_000)).rfc3339) (Retry-After)"
  }

  /// The information that the attempt gives about its host.
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
  /// The failure of the proxy itself, before any byte reached the origin; nil if the proxy did not fail.
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
    // The tunnel was never established.
    guard proxy.tunnels(to: transfer.url), outcome.secured == 0, head == nil,
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

/// Recognizes two failures that only the wording of libcurl's message tells apart from others.
///
/// The wordings are those of libcurl 7.88.1 to 8.14. A test provokes each failure, and fails if the wording has
/// changed.
enum LibcurlWords {
  /// Whether a receive error (CURLE_RECV_ERROR) was caused by invalid chunks, and not by the connection.
  ///
  /// `Curl_httpchunk_read` returns a CHUNKcode, which transfer.c turns into CURLE_RECV_ERROR. A connection that was
  /// reset has the same code. No CURLINFO distinguishes the two: CURLINFO_OS_ERRNO stays 0 with TLS.
  static func tellBrokenChunks(_ text: String, _ head: ResponseHead) -> Bool {
    head.headers.contains("Transfer-Encoding") && text.contains("chunk")
  }

  /// Whether a failed handshake (CURLE_SSL_CONNECT_ERROR) ended because the connection was closed during it.
  ///
  /// Try again after a handshake that was cut, but not after one that the server refused. A reset has an errno; a
  /// close has none. After a close, OpenSSL has no error in its queue, and vtls/openssl.c prints `SSL_connect: ` and
  /// the state. Otherwise vtls/openssl.c prints OpenSSL's error text. libcurl's error code is the same, and
  /// CURLINFO_SSL_VERIFYRESULT is about certificates only.
  static func tellCutHandshake(_ text: String) -> Bool { text.contains("SSL_connect: ") }
}

/// Content codings by name. (RFC 9110, section 8.4.1)
///
/// libcurl has the same error code for an unknown coding and for a body that is not valid in its coding. The names in
/// the head tell the two apart.
struct ContentCodings: Equatable {
  /// The names in lower case.
  let names: Set<String>

  /// The codings that the loaded libcurl decodes.
  static let decodable: ContentCodings = {
    let features = larder_version_info(CURLVERSION_FIRST)?.pointee.features ?? 0
    return ContentCodings(
      zlib: features & CURL_VERSION_LIBZ != 0,
      brotli: features & CURL_VERSION_BROTLI != 0,
      zstandard: features & CURL_VERSION_ZSTD != 0
    )
  }()

  /// The codings that a libcurl with these libraries decodes. (content_encoding.c)
  init(zlib: Bool, brotli: Bool, zstandard: Bool) {
    var names: Set<String> = ["identity", "none"]
    if zlib { names.formUnion(["gzip", "x-gzip", "deflate"]) }
    if brotli { names.insert("br") }
    if zstandard { names.insert("zstd") }
    self.names = names
  }

  /// Whether each coding that `Content-Encoding` names is one of these.
  func contains(all headers: Headers) -> Bool {
    headers.all("Content-Encoding").allSatisfy { value in
      value.split { $0 == "," || $0 == " " || $0 == "\t" }
        .allSatisfy { names.contains($0.lowercased()) }
    }
  }
}
