import Base
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
  let connections: OpenConnections
  let clock: @Sendable () -> UnixTime
  private let hosts: HostRule
  private let rate: ClientRates
  private let store: Storefront
  private let catalog: OpenCatalog
  private let images: ImageRoutes
  private let interface: InterfaceRoutes
  private let pool = WorkPool()
  private let log: @Sendable (RequestRecord) -> Void

  init(_ content: ServerContent, hosts: [String], limits: ServerLimits) {
    self.limits = limits
    self.hosts = HostRule(names: hosts)
    rate = ClientRates(limits)
    connections = OpenConnections(most: limits.connections)
    clock = content.clock
    catalog = content.catalog
    store = Storefront(content)
    images = ImageRoutes(content, pool)
    interface = InterfaceRoutes(content, pool)
    log = content.log
  }

  /// Lets the open answers end, and then the background work; blocks.
  func stop() {
    connections.stop(within: limits.stopTime)
    images.stop()
  }

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
    do throws(Answer) {
      let request = try read(incoming, at: local)
      if let wait = rate.refusal(of: client) {
        let words = "too many requests; try again in \(wait) s"
        throw .problem(429, words, [("Retry-After", "\(wait)")])
      }
      return route(request)
    } catch {
      return .now(error, .refused)
    }
  }

  /// Whether the client is allowed to send the body that it has announced.
  ///
  /// If so, the connection sends `100 Continue`.
  func wantsBody(of incoming: IncomingRequest, at local: SocketAddress?) -> Bool {
    (try? !read(incoming, at: local).isForeign) ?? false
  }

  /// Parses a request as far as it was received, and checks that it is meant for this server.
  private func read(
    _ incoming: IncomingRequest,
    at local: SocketAddress?
  ) throws(Answer) -> ServerRequest {
    let head = incoming.head
    guard !incoming.isLonger(than: limits.body) else {
      throw .problem(413, "the body is longer than \(limits.body) bytes", closes: true)
    }
    guard head.uri.utf8.count <= RequestTarget.limit else {
      throw .problem(414, "the URL is too long", closes: true)
    }
    let names = head.headers["Host"]
    let parsed = RequestTarget(head.uri)
    guard let method = ServerRequest.Method(rawValue: head.method.rawValue) else {
      let route = parsed.flatMap { Self.readOnlyRoute(of: $0) }
      let methods = route == nil ? "GET, HEAD, POST" : "GET, HEAD"
      throw .problem(405, "method not allowed", [("Allow", methods)], closes: true)
    }
    // HTTP/1.0 has no Host field, and checks of load balancers use it. (RFC 9112, section 3.2)
    guard let target = parsed, names.count == 1 || names.isEmpty && head.version.minor == 0 else {
      throw .problem(400, "the URL or the Host field is malformed", closes: true)
    }
    // If the target is a whole URL, the host in the URL counts. (RFC 9112, section 3.2.2)
    let named = names + [target.authority].compactMap(\.self)
    guard named.allSatisfy({ hosts.admits($0, at: local) }) else {
      let words =
        "this server has another name; use the address that it printed when it started, or give it this name "
        + "at its start"
      throw .problem(421, words)
    }
    return ServerRequest(
      method: method,
      target: target,
      headers: head.headers,
      body: incoming.body
    )
  }

  private func route(_ request: ServerRequest) -> Outcome {
    guard let route = Self.readOnlyRoute(of: request.target) else {
      return store.outcome(of: request)
    }
    guard request.method != .post else {
      return .now(.problem(405, "this is read-only", [("Allow", "GET, HEAD")]), route)
    }
    switch route {
    case .image: return images.outcome(of: request)
    case .health:
      return .later(.health) { [self] done in pool.make({ [self] in health() }, done) }
    case .metrics:
      return .now(metrics.answer(images.counts, connections: connections.count), .metrics)
    default: return interface.outcome(of: request)
    }
  }

  /// The kind of a path that is not a page of the store; nil for a page.
  private static func readOnlyRoute(of target: RequestTarget) -> Route? {
    switch target.segments.first {
    case "images": .image
    case "api", "openapi.json": .openapi
    case "healthz" where target.segments.count == 1: .health
    case "metrics" where target.segments.count == 1: .metrics
    default: nil
    }
  }

  private func health() -> Answer {
    if connections.isStopping { return .text(503, "stopping\n") }
    do throws(LarderError) {
      try catalog.demandReadable()
      return .text(200, "ok\n")
    } catch {
      return .text(503, "the catalog cannot be read\n").caused(by: error)
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
    var host: Substring
    let port: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[..<end].dropFirst()
      port = authority[end...].dropFirst()
    } else {
      host = authority.prefix { $0 != ":" }
      port = authority[host.endIndex...]
      if host.hasSuffix(".") { host = host.dropLast() }
    }
    let isPort =
      port.utf8.count <= 6 && port.utf8.dropFirst().allSatisfy { (48...57).contains($0) }
    return isPort && (port.isEmpty || port.hasPrefix(":")) ? host.lowercased() : nil
  }
}

/// Limits the requests of each client.
///
/// Each address has a token bucket. A request takes a token from it. Tokens are added at the allowed rate, until the
/// bucket has the tokens of two seconds, or one token if that is more.
final class ClientRates: Sendable {
  private let rates: (remote: Double?, all: Double?)
  /// The time at which the bucket of each client is full again.
  private let buckets = Mutex<[String: NIODeadline]>([:])

  /// At most this many clients are remembered; when there are more, all are forgotten.
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
    // The time in which one token is added, at most eleven days.
    let pause = TimeAmount.nanoseconds(Int64(min(1e15, 1e9 / rate)))
    return buckets.withLock { buckets in
      let full = max(buckets[key] ?? now, now) + pause
      let wait = full - now - max(.seconds(2), pause)
      guard wait <= .zero else { return Int((wait.nanoseconds + 999_999_999) / 1_000_000_000) }
      if buckets.count >= Self.most, buckets[key] == nil { buckets = [:] }
      buckets[key] = full
      return nil
    }
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
