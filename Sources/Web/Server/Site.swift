import Base
import Cache
import NIOCore
import NIOHTTP1
import Synchronization

/// The server's router: checks a request, and passes it to the web store, the JSON interface or the pictures.
///
/// The router runs on the event loops, so slow work is passed to a ``WorkPool``.
final class Site: Sendable {
  typealias Route = RequestRecord.Route

  /// The outcome of a request.
  enum Outcome {
    /// An answer that is ready.
    case now(Answer, Route)
    /// An answer that takes time.
    ///
    /// The connection calls the function with a callback. The callback is called exactly once with the answer, on any
    /// thread.
    case later(Route, (@escaping @Sendable (Answer) -> Void) -> Void)
  }

  let limits: ServerLimits
  let metrics = ServerMetrics()
  let connections: LoopConnections.Shared
  private let hosts: HostRule
  private let rate: ClientRates
  private let store: Storefront
  private let catalog: OpenCatalog
  private let images: ImageRoutes
  private let interface: InterfaceRoutes
  private let pool = WorkPool()
  private let log: @Sendable (RequestRecord) -> Void
  private let isStopping = Atomic<Bool>(false)

  init(_ content: ServerContent, hosts: [String], limits: ServerLimits) {
    self.limits = limits
    self.hosts = HostRule(names: hosts)
    rate = ClientRates(limits)
    connections = LoopConnections.Shared(content.clock)
    catalog = content.catalog
    store = Storefront(content)
    images = ImageRoutes(content, pool)
    interface = InterfaceRoutes(content, pool)
    log = content.log
  }

  /// Makes `/healthz` report that the server is about to end.
  func stop() { isStopping.store(true, ordering: .relaxed) }

  /// Ends background work; blocks briefly.
  ///
  /// Call this after the last request.
  func finish() { images.stop() }

  /// Counts and logs an answered request.
  func note(_ record: RequestRecord) {
    metrics.note(record)
    log(record)
  }

  /// Checks a request and begins to answer it.
  ///
  /// - Parameters:
  ///   - incoming: The request.
  ///   - local: The server's own address on this connection.
  ///   - client: The client's address.
  /// - Returns: The outcome.
  func outcome(
    of incoming: IncomingRequest,
    at local: SocketAddress?,
    from client: SocketAddress?
  ) -> Outcome {
    do throws(Refusal) {
      let request = try read(incoming, at: local)
      if let wait = rate.refusal(of: client) {
        let words = "too many requests; try again in \(wait) s"
        throw Refusal(429, words, [("Retry-After", "\(wait)")], closes: false)
      }
      guard request.method != .post || isOwn(request, at: local) else {
        let words = "another site's page sent this; open the form here and send it again"
        throw Refusal(403, words, closes: false)
      }
      return route(request)
    } catch {
      return .now(error.answer, .refused)
    }
  }

  /// The answer to a request that is refused.
  private struct Refusal: Error {
    let answer: Answer

    /// Creates the answer; `closes` tells whether the connection is closed after it.
    init(
      _ status: Int,
      _ words: String,
      _ fields: [(name: String, value: String)] = [],
      closes: Bool = true
    ) {
      var answer = Answer.problem(status, words, fields)
      answer.closes = closes
      self.answer = answer
    }
  }

  /// Whether the client is allowed to send the body that it has announced.
  ///
  /// If so, the connection sends `100 Continue`.
  func wantsBody(of incoming: IncomingRequest, at local: SocketAddress?) -> Bool {
    guard let request = try? read(incoming, at: local) else { return false }
    return request.method != .post || isOwn(request, at: local)
  }

  /// Parses a request as far as it was received, and checks that it is meant for this server.
  private func read(
    _ incoming: IncomingRequest,
    at local: SocketAddress?
  ) throws(Refusal) -> ServerRequest {
    let head = incoming.head
    guard head.version.major == 1 else { throw Refusal(505, "only HTTP/1.1 is supported") }
    guard !incoming.isTooLong else {
      throw Refusal(413, "the body is longer than \(limits.body) bytes")
    }
    guard head.uri.utf8.count <= RequestTarget.limit else {
      throw Refusal(414, "the URL is too long")
    }
    guard let method = ServerRequest.Method(rawValue: head.method.rawValue) else {
      let isData = Self.data.contains { head.uri.hasPrefix($0) }
      let methods = isData ? "GET, HEAD" : "GET, HEAD, POST"
      throw Refusal(405, "method not allowed", [("Allow", methods)])
    }
    let names = head.headers["Host"]
    guard let target = RequestTarget(head.uri), names.count == 1 else {
      throw Refusal(400, "the URL or the Host field is malformed")
    }
    // If the target is a whole URL, the host in the URL counts. (RFC 9112, section 3.2.2)
    guard hosts.admits(target.authority ?? names[0], at: local), hosts.admits(names[0], at: local)
    else {
      let words =
        "this server has another name; use the address that it printed when it started, or give it this name "
        + "at its start"
      throw Refusal(421, words, closes: false)
    }
    return ServerRequest(
      method: method,
      target: target,
      headers: head.headers,
      body: incoming.body
    )
  }

  /// The prefixes of paths that are not pages.
  private static let data = ["/api/", "/images/", "/openapi.json", "/healthz", "/metrics"]

  /// Whether a POST comes from a page of this server, judged by the fields `Sec-Fetch-Site` and `Origin`.
  ///
  /// Browsers set these fields. A program that sends neither is accepted.
  private func isOwn(_ request: ServerRequest, at local: SocketAddress?) -> Bool {
    if let site = request.single("Sec-Fetch-Site"), site != "same-origin", site != "none" {
      return false
    }
    guard let origin = request.list("Origin") else { return true }
    guard let target = RequestTarget(origin), let authority = target.authority else {
      return false
    }
    return hosts.admits(authority, at: local)
  }

  private func route(_ request: ServerRequest) -> Outcome {
    let segments = request.target.segments
    switch segments.first {
    case "images": return readOnly(request, .image) { images.outcome(of: $0) }
    case "api", "openapi.json":
      return readOnly(request, .openapi) { interface.outcome(of: $0) }
    case "healthz" where segments.count == 1:
      return readOnly(request, .health) { _ in
        .later(.health) { [self] done in pool.make({ [self] in health() }, done) }
      }
    case "metrics" where segments.count == 1:
      return readOnly(request, .metrics) { _ in
        let open = connections.count.load(ordering: .relaxed)
        return .now(metrics.answer(images.counts, connections: open), .metrics)
      }
    default: return store.outcome(of: request)
    }
  }

  private func readOnly(
    _ request: ServerRequest,
    _ route: Route,
    _ outcome: (ServerRequest) -> Outcome
  ) -> Outcome {
    guard request.method != .post else {
      return .now(.problem(405, "this is read-only", [("Allow", "GET, HEAD")]), route)
    }
    return outcome(request)
  }

  private func health() -> Answer {
    let fields = [
      (name: "Content-Type", value: "text/plain; charset=utf-8"),
      (name: "Cache-Control", value: "no-store"),
    ]
    func answer(_ status: Int, _ words: String) -> Answer {
      Answer(status, fields + SafetyFields.data, .bytes(ByteBuffer(string: words + "\n")))
    }
    if isStopping.load(ordering: .relaxed) { return answer(503, "stopping") }
    do throws(LarderError) {
      try catalog.demandReadable()
      return answer(200, "ok")
    } catch {
      return answer(503, "the catalog cannot be read").caused(by: error)
    }
  }
}

/// Decides which host names a request is allowed to use for this server, as a protection against DNS rebinding.
///
/// An attacker can make the host name of a web page resolve to this machine. The page can then make a visitor's browser
/// send requests to this server under that name. Such a request is refused, because the name is not one of the server's.
/// A numeric address cannot be misused in this way. It is accepted if it is the address that the client connected to.
struct HostRule: Sendable {
  private let names: Set<String>
  private static let loopbackNames: Set<String> = ["localhost", "127.0.0.1", "::1"]

  /// Creates a rule that accepts the server's addresses and these names, which the user gives with `--host`.
  init(names: [String]) {
    self.names = Set(names.map { $0.lowercased() })
  }

  /// Whether a host name is one of this server's.
  ///
  /// - Parameters:
  ///   - authority: The host, with or without a port, such as `localhost:8080`.
  ///   - local: The server's own address on this connection.
  /// - Returns: Whether the server accepts requests under this host name.
  func admits(_ authority: String, at local: SocketAddress?) -> Bool {
    guard let host = Self.host(of: authority) else { return false }
    if names.contains(host) { return true }
    guard let own = local?.ipAddress else { return false }
    if LoopbackAddress.isOne(own), Self.loopbackNames.contains(host) { return true }
    return host == own || "::ffff:" + host == own
  }

  /// The host in lower case, without port, brackets and trailing dot: `::1` for `[::1]:80`; nil if it is malformed.
  private static func host(of authority: String) -> String? {
    let bytes = authority.utf8
    guard !bytes.isEmpty, bytes.count <= 261 else { return nil }
    var host: Substring
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      rest = authority[authority.index(after: end)...]
    } else {
      let end = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<end]
      rest = authority[end...]
      if host.hasSuffix(".") { host = host.dropLast() }
    }
    if !rest.isEmpty {
      guard rest.hasPrefix(":") else { return nil }
      rest = rest.dropFirst()
      guard rest.utf8.count <= 5, rest.utf8.allSatisfy({ (48...57).contains($0) }) else {
        return nil
      }
    }
    let isFit = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: ":"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return host.isEmpty || !isFit ? nil : host.lowercased()
  }
}

/// Limits the requests of each client.
///
/// Each address has a token bucket. A request takes a token from it. Tokens are added at the allowed rate, until the
/// bucket has the tokens of two seconds.
final class ClientRates: Sendable {
  private struct Bucket {
    var tokens: Double
    var filled: NIODeadline
  }

  private let rates: (remote: Double?, all: Double?)
  private let buckets = Mutex<[String: Bucket]>([:])

  /// At most this many clients are remembered.
  ///
  /// Beyond that, clients with full buckets are forgotten. If no bucket is full, all clients are forgotten.
  private static let most = 10_000

  init(_ limits: ServerLimits) {
    rates = (limits.perClient, limits.perAnyClient)
  }

  /// Takes a token for a request.
  ///
  /// - Returns: Nil if the request is allowed, otherwise the seconds until the next request is allowed.
  func refusal(of client: SocketAddress?, at now: NIODeadline = .now()) -> Int? {
    guard let address = client?.ipAddress,
      let rate = rates.all ?? (LoopbackAddress.isOne(address) ? nil : rates.remote)
    else { return nil }
    // The owner of one IPv6 address has a whole network of addresses, whose first 64 bits are equal.
    let key =
      address.contains(":") && !address.hasPrefix("::ffff:") ? Self.network(address) : address
    let room = max(1, 2 * rate)
    return buckets.withLock { buckets in
      if buckets.count >= Self.most, buckets[key] == nil {
        buckets = buckets.filter { bucket in
          bucket.value.tokens + rate * Self.seconds(bucket.value.filled, now) < room
        }
        if buckets.count >= Self.most { buckets = [:] }
      }
      var bucket = buckets[key] ?? Bucket(tokens: room, filled: now)
      bucket.tokens = min(room, bucket.tokens + rate * Self.seconds(bucket.filled, now))
      bucket.filled = now
      let isAdmitted = bucket.tokens >= 1
      if isAdmitted { bucket.tokens -= 1 }
      buckets[key] = bucket
      return isAdmitted ? nil : max(1, Int(((1 - bucket.tokens) / rate).rounded(.up)))
    }
  }

  private static func seconds(_ from: NIODeadline, _ to: NIODeadline) -> Double {
    Double((to - from).nanoseconds) / 1e9
  }

  /// The first 64 bits of an IPv6 address.
  private static func network(_ address: String) -> String {
    guard let socket = try? SocketAddress(ipAddress: address, port: 0), case .v6(let six) = socket
    else { return address }
    return withUnsafeBytes(of: six.address.sin6_addr) {
      $0.prefix(8).map(String.init).joined(separator: ".")
    }
  }
}

/// Recognizes loopback addresses. (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3)
enum LoopbackAddress {
  /// Whether an IP address, as the system writes it, is a loopback address, such as `::1` or `::ffff:127.0.0.1`.
  static func isOne(_ address: String) -> Bool {
    address == "::1" || address.hasPrefix("127.") || address.hasPrefix("::ffff:127.")
  }
}
