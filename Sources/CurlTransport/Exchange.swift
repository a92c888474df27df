import Base
import CCurl
import Glibc
import Transport

/// One request and its response on one libcurl handle; reused for the next request when done.
///
/// An exchange is used on the transfer thread only. It collects the header lines as bytes, judges the head, and
/// passes on the body.
final class Exchange {
  /// The body of a refusal or redirect is read up to this size, so that the connection stays usable.
  private static let discardLimit: ByteCount = 65_536
  private static let refusalLimit = 8 << 10

  let easy: EasyHandle
  let policy: ExchangePolicy
  private let meter: ByteMeter
  let gate: AddressGate
  private let excess: ExcessDetector
  private let errorText: UnsafeMutablePointer<CChar>
  private var way = ProxyWay()
  private var headerKey: HeaderKey?
  private var headerList = HeaderList()
  private var configured = Configured()

  private(set) var transfer: Transfer?
  /// The index of this exchange among the running exchanges.
  var slot = 0
  /// The header lines of the current response, which may be an interim one.
  private var lines: [UInt8] = []
  private var headerBytes = 0
  private(set) var status = 0
  private(set) var version = HTTPVersion.http11
  private(set) var head: ResponseHead?
  /// The number of body bytes after decoding.
  private(set) var received: ByteCount = 0
  /// The error for which a callback stopped the transfer; it overrides libcurl's error code.
  private(set) var refusal: (reason: FailureReason, detail: String)?
  /// The first bytes of a refusal's body.
  private(set) var refusalBody: [UInt8] = []
  /// Whether the server's 206 does not continue the bytes in the sink.
  private(set) var cannotResume = false
  /// Whether the server sent more than its `Content-Length` promised.
  private(set) var hasExcess = false
  /// Whether the connection was open at the end; see ``Response/connectionIsOpen``.
  private(set) var isConnected = true
  /// The length that a body for the sink must have.
  private var promised: ByteCount?
  /// The length of the rest of a resumed body, from `Content-Range`.
  private(set) var part: ByteCount?
  private var body = Body.none
  /// Whether the body is decoded as it is received.
  private(set) var isPacked = false
  /// The announced length of an encoded body.
  private var announced: ByteCount?
  private(set) var startedAt = MonotonicTime(nanoseconds: 0)
  /// The time limit of this attempt, and whether a deadline rather than the options set it.
  private(set) var timeLimit: (milliseconds: Int64, isDeadline: Bool) = (0, false)

  private enum Body {
    case none
    case sink(any BodySink, limit: ByteCount)
    case discard
  }

  /// The options that the handle has now; comparing them costs less than setting an option again.
  private struct Configured {
    var isPost = false
    var codings: String?
    var isFresh = false
    var timeLimit: Int64 = -1
    var isShared = false
    var signing: RequestSigning?
  }

  init(
    _ policy: ExchangePolicy,
    _ meter: ByteMeter,
    _ multi: borrowing MultiHandle
  ) throws(OutOfMemory) {
    easy = try EasyHandle()
    self.policy = policy
    self.meter = meter
    gate = AddressGate()
    excess = ExcessDetector(multi.watch)
    errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    // SAFETY: unretained: `self` owns the handle and outlives every call that it makes.
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

  /// Prepares the handle, which must not be in a multi handle, for the transfer's current hop.
  func prepare(_ transfer: Transfer, at now: MonotonicTime, deadline: MonotonicTime?) {
    self.transfer = transfer
    startedAt = now
    headerBytes = 0
    lines.removeAll(keepingCapacity: true)
    status = 0
    head = nil
    received = 0
    refusal = nil
    refusalBody.removeAll()
    cannotResume = false
    hasExcess = false
    isConnected = true
    promised = nil
    part = nil
    body = .none
    errorText.pointee = 0
    gate.prepare(
      isOpen: transfer.isTrusted || policy.options.allowPrivateAddresses || transfer.proxy != nil
    )
    excess.prepare(easy)
    easy.set(CURLOPT_URL, transfer.url.text)
    if policy.options.proxy != nil { way.set(transfer, policy, on: easy) }
    prepareHeaders(transfer)
    prepareSharing(transfer)
    prepareMethod(transfer)
    prepareSigning(transfer)
    prepareTimes(transfer, now, deadline)
  }

  /// Releases the transfer; the handle is then free for another transfer.
  func clear() {
    transfer = nil
    body = .none
    head = nil
  }

  /// The error text of libcurl.
  var errorDetail: String { String(cString: errorText) }

  /// Whether the host had addresses, and all of them were refused.
  var wasAddressRefused: Bool { gate.hasRefusedAll }

  /// Records whether the server sent more than it promised; must be called before the handle leaves the multi handle.
  ///
  /// `isQuiet` says that no other transfer can have used the connection since this transfer ended.
  func findExcess(isQuiet: Bool) {
    guard promised != nil, version != .http2, refusal == nil else { return }
    hasExcess = excess.hasExcess(easy, mayPeek: isQuiet)
  }

  /// Records whether the connection outlives the transfer, which matters only for HTTP/2.
  ///
  /// Must be called before the handle leaves the multi handle.
  func noteConnection() {
    isConnected = version != .http2 || easy.isConnected
  }

  private func prepareHeaders(_ transfer: Transfer) {
    if let headerKey, headerKey.fits(transfer) { return }
    let key = HeaderKey(transfer)
    headerKey = key
    let list = key.list(userAgent: policy.options.userAgent)
    easy.set(headers: list)
    headerList = list
    guard configured.codings != key.codings else { return }
    configured.codings = key.codings
    _ = easy.set(CURLOPT_ACCEPT_ENCODING, key.codings)
  }

  /// Makes a transfer wait until its host's first connection shows whether it can carry further transfers too.
  ///
  /// With TLS, the handshake shows it. Without TLS only HTTP/1.1 is used, and libcurl would wait for the first
  /// response. So a response that hangs would hold up all other transfers to the host.
  private func prepareSharing(_ transfer: Transfer) {
    let isShared = transfer.url.scheme == .https
    guard isShared != configured.isShared else { return }
    easy.set(CURLOPT_PIPEWAIT, isShared)
    configured.isShared = isShared
  }

  private func prepareMethod(_ transfer: Transfer) {
    let isPost = transfer.isPost
    if isPost || configured.isPost {
      easy.set(post: isPost ? transfer.request.body ?? [] : nil)
      configured.isPost = isPost
    }
    // If a reused connection turns out to be dead, libcurl repeats the request, even a POST. So a POST that may not
    // be repeated opens a connection of its own.
    let isFresh =
      isPost && !transfer.request.isRepeatable || transfer.wantsFreshConnection
    if isFresh != configured.isFresh {
      easy.set(CURLOPT_FRESH_CONNECT, isFresh)
      configured.isFresh = isFresh
    }
  }

  /// Sets the signature and the verb for an object store.
  ///
  /// Must be called after `prepareMethod`, whose settings it overrides.
  private func prepareSigning(_ transfer: Transfer) {
    let signing = transfer.request.signing
    guard signing !== configured.signing else { return }
    configured.signing = signing
    easy.set(signing: signing, userAgent: policy.options.userAgent)
  }

  private func prepareTimes(_ transfer: Transfer, _ now: MonotonicTime, _ deadline: MonotonicTime?)
  {
    timeLimit = (policy.options.transferTimeout.wholeMilliseconds, false)
    let moments = [deadline, transfer.request.deadline].compactMap { $0 }
    if let moment = moments.min() {
      // libcurl takes the milliseconds as an int, so a deadline that is weeks away is capped.
      let left = min(max(1, (moment - now) / 1_000_000), 1_000_000_000)
      if timeLimit.milliseconds == 0 || left < timeLimit.milliseconds { timeLimit = (left, true) }
    }
    if configured.timeLimit != timeLimit.milliseconds {
      easy.set(CURLOPT_TIMEOUT_MS, Int(timeLimit.milliseconds))
      configured.timeLimit = timeLimit.milliseconds
    }
  }
}

extension Exchange {
  // SAFETY: libcurl passes the context that `init` set: this exchange, alive while its handle is.
  private static let onHeader: larder_data_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
    // This call saves a retain and a release for each header line.
    return Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.receive(headerLine: line) ? size * count : 0
    }
  }

  // SAFETY: as above; the bytes are libcurl's and valid for the call, which a RawSpan cannot outlive.
  private static let onBody: larder_data_callback = { bytes, size, count, context in
    guard let bytes, let context else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return Unmanaged<Exchange>.fromOpaque(context)._withUnsafeGuaranteedRef {
      $0.receive(bodyBytes: piece) ? size * count : 0
    }
  }

  private func refuse(_ reason: FailureReason, _ detail: String = "") -> Bool {
    refusal = (reason, detail)
    return false
  }

  private func receive(headerLine line: UnsafeRawBufferPointer) -> Bool {
    headerBytes += line.count
    guard headerBytes <= policy.options.headerLimit else { return refuse(.tooLongHeader) }
    // Trailers count towards the size limit, and are otherwise ignored.
    guard head == nil else { return true }
    var end = line.count
    while end > 0, line[end - 1] == 10 || line[end - 1] == 13 { end -= 1 }
    if end == 0 { return headEnded() }
    if status == 0 || (lines.isEmpty && line.starts(with: "HTTP/".utf8)) {
      return receive(statusLine: UnsafeRawBufferPointer(rebasing: line[..<end]))
    }
    if line[0] == 0x20 || line[0] == 0x09, lines.last == 10 {
      // A folded line continues the previous line. (RFC 9112, section 5.2)
      lines[lines.count - 1] = 0x20
    }
    lines.append(contentsOf: UnsafeRawBufferPointer(rebasing: line[..<end]))
    lines.append(10)
    return true
  }

  private func receive(statusLine line: UnsafeRawBufferPointer) -> Bool {
    lines.removeAll(keepingCapacity: true)
    guard line.starts(with: "HTTP/".utf8), let space = line.firstIndex(of: 0x20) else {
      return refuse(.badResponse, "no status line")
    }
    let digits = line[(space + 1)...].prefix(3)
    guard digits.count == 3, digits.allSatisfy(\.isDigit),
      line.count == space + 4 || line[space + 4] == 0x20
    else { return refuse(.badResponse, "no status code") }
    status = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    version =
      switch line[5] {
      case UInt8(ascii: "2"): .http2
      case UInt8(ascii: "3"): .http3
      default: space == 8 && line[7] == UInt8(ascii: "0") ? .http10 : .http11
      }
    return true
  }

  private func headEnded() -> Bool {
    guard let transfer else { return false }
    if status < 200 {
      // Interim responses (1xx) are ignored, in any number. (RFC 9110, section 15.2)
      lines.removeAll(keepingCapacity: true)
      status = 0
      return true
    }
    let framing = HeadFraming(lines)
    let isEncoded = framing.isEncoded && !transfer.takesCodedBytes
    let head = ResponseHead(
      status: status,
      headers: Headers(lines: lines),
      url: transfer.url,
      version: version,
      contentLength: isEncoded ? nil : framing.length,
      isEncoded: isEncoded,
      redirects: transfer.redirects
    )
    self.head = head
    announced = isEncoded ? framing.length : nil
    body = .discard
    if framing.isContradictory { return refuse(.lengthMismatch, "contradictory Content-Length") }
    guard isBody(status) else { return true }
    guard begin(head, transfer) else { return false }
    if transfer.request.method == .get, !transfer.request.asksForHead,
      let length = head.contentLength
    {
      promised = length
      if version != .http2 {
        excess.expect(
          length,
          close: version == .http10 || framing.closes,
          isPlain: transfer.url.scheme == .http && transfer.proxy?.scheme != .https,
          easy
        )
      }
      if length == 0 { excess.bodyEnded() }
    }
    return true
  }

  /// Whether the body that follows a head with this status is the one that was requested.
  func isBody(_ status: Int) -> Bool {
    transfer.map { $0.request.isAnswered(by: status) } ?? false
  }

  private func begin(_ head: ResponseHead, _ transfer: Transfer) -> Bool {
    var offset: ByteCount = 0
    if let resume = transfer.resume, status == 206 {
      guard !head.isEncoded, resume.isContinued(by: head) else {
        cannotResume = true
        return refuse(.badResponse, "the range does not continue the partial file")
      }
      offset = resume.offset
      part = resume.remainder(by: head)
    } else if status == 206, !transfer.request.asksForPart {
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
    body = .sink(transfer.sink, limit: limit)
    isPacked = head.isEncoded
    if case .refuse(let reason) = transfer.sink.begin(head, at: offset) { return refuse(reason) }
    return true
  }

  /// The maximum number of bytes of an encoded body that may have been received so far.
  ///
  /// libcurl counts a chunk only after it has decoded all of it.
  private var sentByNow: ByteCount {
    let most = easy.wireBytes + ByteCount(ExchangePolicy.bufferSize)
    return announced.map { min($0, most) } ?? most
  }

  private func receive(bodyBytes piece: UnsafeRawBufferPointer) -> Bool {
    received += ByteCount(piece.count)
    if let reason = meter.count(piece.count) { return refuse(reason) }
    switch body {
    case .sink(let sink, let limit):
      guard part.map({ received <= $0 }) ?? true else {
        cannotResume = true
        return refuse(.lengthMismatch)
      }
      guard received <= limit else { return refuse(.tooLarge) }
      if isPacked, received > BombGuard.limit(ofPacked: sentByNow) {
        return refuse(.tooLarge, BombGuard.words)
      }
      if case .refuse(let reason) = sink.receive(piece.bytes) { return refuse(reason) }
      if received == promised { excess.bodyEnded() }
      return true
    case .discard:
      if refusalBody.count < Self.refusalLimit {
        refusalBody.append(contentsOf: piece.prefix(Self.refusalLimit - refusalBody.count))
      }
      return received <= Self.discardLimit
    case .none:
      return refuse(.badResponse, "the body came before the head")
    }
  }
}

/// The options that are set once on every handle of a transport.
final class ExchangePolicy {
  /// The number of bytes that libcurl reads at once.
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
    // Quit at once on Ctrl-C, even while a resolver thread waits for a dead name server.
    easy.set(CURLOPT_QUICK_EXIT, true)
    easy.set(CURLOPT_BUFFERSIZE, Self.bufferSize)
    easy.set(CURLOPT_DNS_CACHE_TIMEOUT, 600)
    easy.set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
    easy.set(CURLOPT_CONNECTTIMEOUT_MS, Int(options.connectTimeout.wholeMilliseconds))
    easy.set(CURLOPT_LOW_SPEED_LIMIT, options.lowSpeed)
    let idleSeconds = (options.idleTimeout.wholeMilliseconds + 999) / 1000
    easy.set(CURLOPT_LOW_SPEED_TIME, Int(idleSeconds))
    // This User-Agent is for the CONNECT request to a proxy, which does not get the header lines of the actual
    // request.
    if options.proxy != nil { _ = easy.set(CURLOPT_USERAGENT, options.userAgent) }
    setConnectTo(easy)
  }

  /// Sets the connect-to entries of the options on a handle.
  func setConnectTo(_ easy: borrowing EasyHandle) {
    easy.set(CURLOPT_CONNECT_TO, context: options.connectTo.isEmpty ? nil : connectTo.raw)
  }

  private func configureSafety(_ easy: borrowing EasyHandle) {
    _ = easy.set(CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are not followed by libcurl, because each one has to be judged.
    easy.set(CURLOPT_FOLLOWLOCATION, false)
    easy.set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
    easy.set(CURLOPT_SSL_VERIFYPEER, true)
    easy.set(CURLOPT_SSL_VERIFYHOST, 2)
    easy.set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    let trusted = options.caFile ?? TrustStore.file
    if let trusted { _ = easy.set(CURLOPT_CAINFO, trusted) }
    // With empty texts, libcurl does not read the proxy variables of the environment.
    _ = easy.set(CURLOPT_PROXY, "")
    _ = easy.set(CURLOPT_NOPROXY, "")
    easy.set(CURLOPT_PROXY_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
    if let trusted { _ = easy.set(CURLOPT_PROXY_CAINFO, trusted) }
    easy.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
    easy.set(CURLOPT_HTTP09_ALLOWED, false)
    easy.set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
  }
}

/// The system's file of trusted certificates.
///
/// libcurl looks at the path that its own distribution uses. A binary that bundles libcurl also runs on other
/// distributions.
enum TrustStore {
  /// The paths on Debian, Ubuntu, Arch and Gentoo; on new and old releases of Fedora and its relatives; on openSUSE;
  /// on Alpine and Void.
  private static let places = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
  ]

  /// The file to give to libcurl; nil if libcurl's default file exists, or if no file does.
  ///
  /// - Parameters:
  ///   - builtIn: The file that libcurl uses by default.
  ///   - isReadable: Whether a file exists and can be read.
  /// - Returns: The path.
  static func file(builtIn: String?, isReadable: (String) -> Bool) -> String? {
    if let builtIn, isReadable(builtIn) { return nil }
    return places.first(where: isReadable)
  }

  /// The file for this process, looked up once.
  static let file = file(builtIn: builtIn) { access($0, R_OK) == 0 }

  private static let builtIn = CurlTransport.library?.trust
}
