import Base
import CCurl
import Glibc
import Transport

/// One HTTP request and its response, sent with one libcurl handle.
///
/// When an exchange is done, it is used for another request.
///
/// An exchange is used only on the transfer thread. It collects the header lines, checks them, and passes the body to
/// the transfer's sink.
final class Exchange {
  /// The maximum number of bytes to read of the body of a redirect or an error response.
  ///
  /// If the body is longer, the connection cannot be used again.
  private static let discardLimit: ByteCount = 65_536
  /// The maximum number of bytes to store of the body of an error response.
  private static let refusalLimit = 8 << 10
  /// The content codings that are decoded. (RFC 9110, section 8.4.1)
  ///
  /// Some servers send pictures with `Content-Encoding: utf-8` or `aws-chunked`, although the bytes are not encoded.
  /// Browsers ignore unknown codings, and so does larder.
  private static let codings: Set = ["gzip", "x-gzip", "deflate", "br", "zstd"]

  let easy: EasyHandle
  let policy: ExchangePolicy
  private let meter: ByteMeter
  let gate: AddressGate
  private let excess: ExcessDetector
  private let errorText: UnsafeMutablePointer<CChar>
  /// The list that makes a proxy connect to the address that was checked.
  ///
  /// libcurl does not copy the list, so it must exist as long as the handle uses it.
  private var pinned = HeaderList()
  private var headerKey: HeaderKey?
  private var headerList = HeaderList()

  private(set) var transfer: Transfer?
  /// The part of the response to the current request that was received so far.
  private(set) var reply = Reply()
  private(set) var startedAt = MonotonicTime(nanoseconds: 0)
  /// The time limit of this attempt.
  ///
  /// `isDeadline` is true if the deadline of the run sets the limit, and false if the other options set it.
  private(set) var timeLimit: (milliseconds: Int64, isDeadline: Bool) = (0, false)

  init(
    _ policy: ExchangePolicy,
    _ meter: ByteMeter,
    _ multi: borrowing MultiHandle
  ) throws(TransferFailure) {
    easy = try EasyHandle()
    self.policy = policy
    self.meter = meter
    gate = AddressGate()
    excess = ExcessDetector(multi.watch)
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    // SAFETY: the pointer is unretained. `self` owns the handle, so it exists during every call that the handle makes.
    let context = Unmanaged.passUnretained(self).toOpaque()
    policy.configure(easy)
    easy.set(CURLOPT_ERRORBUFFER, context: errorText)
    easy.set(CURLOPT_PRIVATE, context: context)
    easy.set(CURLOPT_WRITEDATA, context: context)
    easy.set(CURLOPT_WRITEFUNCTION, callback: Self.onBody)
    easy.set(CURLOPT_HEADERDATA, context: context)
    easy.set(CURLOPT_HEADERFUNCTION, callback: Self.onHeader)
    gate.guardHandle(easy)
    excess.guardHandle(easy)
  }

  deinit {
    easy.set(CURLOPT_ERRORBUFFER, context: nil)
    errorText.deallocate()
  }

  /// Prepares the handle for the current request of a transfer.
  ///
  /// The handle must not be in the multi handle.
  func prepare(_ transfer: Transfer, at now: MonotonicTime, deadline: MonotonicTime?) {
    self.transfer = transfer
    startedAt = now
    reply = Reply()
    errorText.pointee = 0
    gate.prepare(
      isOpen: transfer.isTrusted || policy.options.allowPrivateAddresses || transfer.proxy != nil
    )
    excess.prepare(easy)
    easy.set(CURLOPT_URL, transfer.url.text)
    if policy.options.proxy != nil { prepareProxy(transfer) }
    prepareHeaders(transfer)
    // With TLS, a transfer waits for the first connection to its host, which may be able to carry it too: the handshake
    // shows whether the connection uses HTTP/2. Without TLS, larder uses only HTTP/1.1, but libcurl would wait for the
    // first response. So one slow response would delay all other transfers to the host.
    easy.set(CURLOPT_PIPEWAIT, transfer.url.scheme == .https)
    prepareMethod(transfer)
    // This must come after `prepareMethod`, because it replaces some options that `prepareMethod` sets.
    easy.set(signing: transfer.request.signing)
    prepareTimes(now, deadline)
  }

  /// Releases the transfer, so that the exchange can be used for another one.
  func clear() {
    transfer = nil
    reply = Reply()
  }

  /// libcurl's error message for the last transfer.
  ///
  /// It is empty if libcurl wrote none.
  var errorDetail: String { String(cString: errorText) }

  /// Checks whether an HTTP/2 connection is still open, and whether the server sent more bytes than it announced.
  ///
  /// This must be called before the handle leaves the multi handle.
  ///
  /// `isQuiet` is true if no other transfer can have used the connection since this transfer ended.
  func checkConnection(isQuiet: Bool) {
    reply.isConnected = reply.version != .http2 || easy.isConnected
    guard reply.promised != nil, reply.version != .http2, reply.refusal == nil else { return }
    reply.hasExcess = excess.hasExcess(easy, mayPeek: isQuiet)
  }

  private func prepareProxy(_ transfer: Transfer) {
    easy.set(CURLOPT_PROXY, transfer.proxy?.description ?? "")
    easy.set(CURLOPT_PROXYUSERNAME, transfer.proxy?.user)
    easy.set(CURLOPT_PROXYPASSWORD, transfer.proxy?.password)
    guard let address = transfer.pin else { return policy.setConnectTo(easy) }
    // For example, `shop.example:443:192.0.2.1:443`.
    let target = HostPort(host: address.text, port: transfer.url.port)
    var list = HeaderList()
    list.append(line: "\(transfer.url.host):\(transfer.url.port):\(target)")
    easy.set(CURLOPT_CONNECT_TO, context: list.raw)
    pinned = list
  }

  private func prepareHeaders(_ transfer: Transfer) {
    let key = HeaderKey(transfer)
    guard key != headerKey else { return }
    headerKey = key
    let list = key.list(userAgent: policy.options.userAgent)
    easy.set(CURLOPT_HTTPHEADER, context: list.raw)
    headerList = list
    easy.set(CURLOPT_HTTP_CONTENT_DECODING, key.letsLibcurlDecode)
  }

  private func prepareMethod(_ transfer: Transfer) {
    let isPost = transfer.isPost
    easy.set(post: isPost ? transfer.request.body ?? [] : nil)
    // If libcurl reuses a connection that the server has closed, it repeats the request, even if it is a POST. So a
    // POST that must not be repeated gets a new connection.
    easy.set(
      CURLOPT_FRESH_CONNECT,
      isPost && !transfer.request.isRepeatable || transfer.wantsFreshConnection
    )
  }

  private func prepareTimes(_ now: MonotonicTime, _ deadline: MonotonicTime?) {
    timeLimit = (policy.options.transferTimeout.wholeMilliseconds, false)
    if let deadline {
      // libcurl stores the milliseconds in an `int`, so they are limited to about eleven days.
      let left = min(max(1, (deadline - now) / 1_000_000), 1_000_000_000)
      if timeLimit.milliseconds == 0 || left < timeLimit.milliseconds { timeLimit = (left, true) }
    }
    easy.set(CURLOPT_TIMEOUT_MS, Int(timeLimit.milliseconds))
  }
}

extension Exchange {
  // SAFETY: libcurl passes the context that `init` set. It is the exchange, which exists as long as its handle.
  private static let onHeader: larder_data_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    // This avoids a retain and a release for each header line.
    return Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.receive(headerLine: line) ? size * count : 0
    }
  }

  // SAFETY: the context is the same as above. The bytes are valid during the call, and a RawSpan cannot exist longer.
  private static let onBody: larder_data_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.receive(bodyBytes: piece) ? size * count : 0
    }
  }

  private func refuse(_ reason: FailureReason, _ detail: String = "") -> Bool {
    reply.refusal = (reason, detail)
    return false
  }

  private func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
    reply.headerBytes += line.count
    guard reply.headerBytes <= policy.options.headerLimit else { return refuse(.tooLongHeader) }
    // Fields after the body (trailers) count towards the limit, but are ignored.
    guard reply.head == nil else { return true }
    var end = line.count
    while end > 0, line[end - 1] == 10 || line[end - 1] == 13 { end -= 1 }
    if end == 0 { return headEnded() }
    if reply.lines.isEmpty, line.starts(with: "HTTP/".utf8) {
      // libcurl has checked and parsed the status line.
      let isOld = line.starts(with: "HTTP/1.0".utf8)
      reply.version = line.starts(with: "HTTP/2".utf8) ? .http2 : isOld ? .http10 : .http11
      return true
    }
    if line[0] == 0x20 || line[0] == 0x09, reply.lines.last == 10 {
      // A line that begins with white space continues the previous line. (RFC 9112, section 5.2)
      reply.lines[reply.lines.count - 1] = 0x20
    }
    reply.lines.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[..<end]))
    reply.lines.append(10)
    return true
  }

  private func headEnded() -> Bool {
    guard let transfer else { return false }
    reply.status = easy.status
    if reply.status < 200 {
      // A server can send any number of interim responses, and they are ignored. (RFC 9110, section 15.2)
      reply.lines.removeAll(keepingCapacity: true)
      return true
    }
    let headers = Headers(lines: reply.lines)
    let framing = HeadFraming(headers)
    let codings = transfer.takesCodedBytes ? [] : framing.codings
    let isGzip = codings == ["gzip"] || codings == ["x-gzip"]
    let isKnown = !codings.isEmpty && Self.codings.isSuperset(of: codings)
    let isEncoded = transfer.letsLibcurlDecode ? !codings.isEmpty : isGzip
    let head = ResponseHead(
      status: reply.status,
      headers: headers,
      url: transfer.url,
      version: reply.version,
      contentLength: isEncoded ? nil : framing.length,
      isEncoded: isEncoded,
      redirects: transfer.redirects
    )
    reply.head = head
    reply.announced = isEncoded ? framing.length : nil
    reply.body = .discard
    if framing.isContradictory { return refuse(.lengthMismatch, "contradictory Content-Length") }
    if isGzip, !transfer.letsLibcurlDecode {
      guard let gunzip = try? Gunzip() else { return refuse(.outOfMemory) }
      reply.gunzip = gunzip
    }
    guard isBody(reply.status) else { return true }
    if isKnown, !isGzip, !transfer.letsLibcurlDecode, transfer.request.isRepeatable {
      reply.hasOtherCoding = true
      return false
    }
    guard begin(head, transfer) else { return false }
    if transfer.request.method == .get, !transfer.request.asksForHead,
      let length = head.contentLength
    {
      reply.promised = length
      if reply.version != .http2 {
        excess.expect(
          length,
          close: reply.version == .http10 || framing.closes,
          isPlain: transfer.url.scheme == .http && transfer.proxy?.scheme != .https,
          easy
        )
      }
      if length == 0 { excess.bodyEnded() }
    }
    return true
  }

  /// Whether the body of a response with this status is the one that was requested.
  func isBody(_ status: Int) -> Bool {
    transfer.map { $0.request.isAnswered(by: status) } ?? false
  }

  private func begin(_ head: ResponseHead, _ transfer: Transfer) -> Bool {
    var offset: ByteCount = 0
    if let resume = transfer.resume, reply.status == 206 {
      guard !head.isEncoded, let remainder = resume.remainder(by: head) else {
        reply.cannotResume = true
        return refuse(.badResponse, "the range does not continue the partial file")
      }
      offset = resume.offset
      reply.part = remainder
    } else if reply.status == 206, !transfer.request.asksForPart {
      return refuse(.badResponse, "the server sent a part that was not requested")
    } else if transfer.resume != nil || transfer.hasBegun {
      transfer.sink.restart()
      transfer.resume = nil
    }
    let limit = transfer.request.bodyLimit - offset
    if let length = head.contentLength, length > limit, !transfer.request.asksForHead {
      return refuse(.tooLarge, "\(length) bytes announced")
    }
    transfer.hasBegun = true
    reply.body = .sink(transfer.sink, limit: limit)
    if case .refuse(let reason) = transfer.sink.begin(head, at: offset) { return refuse(reason) }
    return true
  }

  /// An upper limit for the number of bytes of an encoded body that were received so far.
  ///
  /// libcurl counts the bytes of a piece only after it has decoded the whole piece, so one piece is added.
  private var sentByNow: ByteCount {
    let most = easy.wireBytes + ByteCount(ExchangePolicy.bufferSize)
    return reply.announced.map { min($0, most) } ?? most
  }

  private func receive(bodyBytes piece: UnsafeRawBufferPointer) -> Bool {
    guard let gunzip = reply.gunzip else { return receive(plainBytes: piece) }
    do {
      try gunzip.decompress(piece) { plain in
        guard receive(plainBytes: plain) else { throw Stop() }
      }
      return true
    } catch let fault as Gunzip.Fault {
      // The body of a refusal is not needed.
      if case .discard = reply.body { return true }
      return fault == .damaged
        ? refuse(.badEncoding, "its gzip data is damaged") : refuse(.outOfMemory)
    } catch {
      return false
    }
  }

  /// Ends the decompression of a piece, because the transfer ends.
  private struct Stop: Error {}

  private func receive(plainBytes piece: UnsafeRawBufferPointer) -> Bool {
    reply.received += ByteCount(piece.count)
    if let reason = meter.count(piece.count) { return refuse(reason) }
    switch reply.body {
    case .sink(let sink, let limit):
      guard reply.part.map({ reply.received <= $0 }) ?? true else {
        reply.cannotResume = true
        return refuse(.lengthMismatch)
      }
      guard reply.received <= limit else { return refuse(.tooLarge) }
      if reply.head?.isEncoded == true, reply.received > BombGuard.limit(ofPacked: sentByNow) {
        return refuse(.tooLarge, BombGuard.words)
      }
      if case .refuse(let reason) = sink.receive(piece.bytes) { return refuse(reason) }
      if reply.received == reply.promised { excess.bodyEnded() }
      return true
    case .discard:
      if reply.refusalBody.count < Self.refusalLimit {
        reply.refusalBody.append(
          contentsOf: piece.prefix(Self.refusalLimit - reply.refusalBody.count)
        )
      }
      return reply.received <= Self.discardLimit
    case .none:
      return refuse(.badResponse, "the body came before the head")
    }
  }
}

/// The part of the response to one request that an ``Exchange`` has received.
struct Reply {
  /// The header lines of the current response, which may be an interim response.
  var lines: [UInt8] = []
  var headerBytes = 0
  var status = 0
  var version = HTTPVersion.http11
  var head: ResponseHead?
  /// The number of body bytes that were received, after decoding.
  var received: ByteCount = 0
  /// The error for which a callback stopped the transfer.
  ///
  /// It replaces libcurl's error code.
  var refusal: (reason: FailureReason, detail: String)?
  /// The first bytes of the body of an error response.
  var refusalBody: [UInt8] = []
  /// Whether the transfer tried to resume a body, and the response does not continue the bytes in the sink.
  var cannotResume = false
  /// Whether the server sent more bytes than it announced in `Content-Length`.
  var hasExcess = false
  /// Whether the connection was open at the end.
  ///
  /// See ``Response/connectionIsOpen``.
  var isConnected = true
  /// The length of the body for the sink, as the server announced it.
  var promised: ByteCount?
  /// The number of bytes in the response if the body was resumed, as `Content-Range` announced it.
  var part: ByteCount?
  var body = Body.none
  /// Decompresses the body, unless libcurl does.
  var gunzip: Gunzip?
  /// Whether the body has a coding that only libcurl decodes.
  var hasOtherCoding = false
  /// The length of the body before decoding, as the server announced it.
  var announced: ByteCount?

  /// The destination of the body.
  enum Body {
    case none
    case sink(any BodySink, limit: ByteCount)
    case discard
  }
}

/// Sets the options that are the same for all transfers.
final class ExchangePolicy {
  /// The largest number of bytes that libcurl reads at once.
  static let bufferSize = 64 << 10

  let options: TransportOptions
  private var connectTo = HeaderList()

  init(_ options: TransportOptions) {
    self.options = options
    for entry in options.connectTo { connectTo.append(line: entry) }
  }

  func configure(_ easy: borrowing EasyHandle) {
    configureSafety(easy)
    easy.set(CURLOPT_NOSIGNAL, true)
    // With this option, Ctrl-C ends the program at once, even while a thread of libcurl waits for a name server.
    easy.set(CURLOPT_QUICK_EXIT, true)
    easy.set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 600)
    // Signed requests have no such line of their own. In other requests, the line in the list replaces this one.
    easy.set(CURLOPT_ACCEPT_ENCODING, "identity")
    easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout.wholeMilliseconds))
    easy.set(CURLOPT_LOW_SPEED_LIMIT, options.lowSpeed)
    let idleSeconds = (options.idleTimeout.wholeMilliseconds + 999) / 1000
    easy.set(CURLOPT_LOW_SPEED_TIME, Int(idleSeconds))
    // The User-Agent of signed requests, because libcurl would include a header line in the signature, and of CONNECT
    // requests to a proxy, which do not have the header lines of the actual request.
    easy.set(CURLOPT_USERAGENT, options.userAgent)
    setConnectTo(easy)
  }

  /// Sets the entries of ``TransportOptions/connectTo`` on a handle.
  func setConnectTo(_ easy: borrowing EasyHandle) {
    easy.set(CURLOPT_CONNECT_TO, context: options.connectTo.isEmpty ? nil : connectTo.raw)
  }

  private func configureSafety(_ easy: borrowing EasyHandle) {
    easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // libcurl must not follow redirects, because larder checks each redirect.
    easy.set(CURLOPT_FOLLOWLOCATION, false)
    easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
    easy.set(CURLOPT_SSL_VERIFYPEER, true)
    easy.set(CURLOPT_SSL_VERIFYHOST, 2)
    easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    let trusted = options.caFile ?? TrustStore.file
    if let trusted { easy.set(CURLOPT_CAINFO, trusted) }
    // If these options are empty strings, libcurl does not read environment variables such as `https_proxy`.
    easy.set(CURLOPT_PROXY, "")
    easy.set(CURLOPT_NOPROXY, "")
    easy.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let trusted { easy.set(CURLOPT_PROXY_CAINFO, trusted) }
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    easy.set(CURLOPT_HTTP09_ALLOWED, false)
    easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
  }
}

/// Finds the file with the certificates that the system trusts.
///
/// By default, libcurl uses the path of the Linux distribution that it was built for. But larder can be installed
/// together with its own libcurl on a distribution that has another path.
enum TrustStore {
  private static let places = [
    // Debian, Ubuntu, Arch and Gentoo.
    "/etc/ssl/certs/ca-certificates.crt",
    // New and old releases of Fedora and related distributions.
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/pki/tls/certs/ca-bundle.crt",
    // openSUSE.
    "/etc/ssl/ca-bundle.pem",
    // Alpine and Void.
    "/etc/ssl/cert.pem",
  ]

  /// Finds the file that libcurl must be told to use.
  ///
  /// - Parameters:
  ///   - builtIn: The path that libcurl uses by default.
  ///   - isReadable: Returns whether the file at the given path exists and can be read.
  /// - Returns: The path of the file, or nil if libcurl's default file exists, or if no file was found.
  static func file(builtIn: String?, isReadable: (String) -> Bool) -> String? {
    if let builtIn, isReadable(builtIn) { return nil }
    return places.first(where: isReadable)
  }

  /// The file for the libcurl of this process; nil if libcurl's default is used.
  static let file = file(builtIn: CurlTransport.trust) { access($0, R_OK) == 0 }
}
