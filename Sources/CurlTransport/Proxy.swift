import Base
import CCurl
import Transport

/// A proxy that the user named.
///
/// Its address may be private.
package struct Proxy: Hashable, Sendable, CustomStringConvertible {
  /// The proxy's protocol.
  package enum Scheme: String, Sendable, CaseIterable {
    /// HTTP: the proxy passes on requests for `http` and tunnels those for `https`. (RFC 9110, section 9.3.6)
    case http
    /// The same as `http`, but the connection to the proxy uses TLS.
    case https
    /// SOCKS 5; the proxy resolves host names. (RFC 1928)
    case socks5h
    /// SOCKS 5; this machine resolves host names.
    case socks5
  }

  /// The proxy's protocol.
  package let scheme: Scheme
  /// The host and port at which it listens.
  package let place: HostPort
  /// The credentials as `user:password`, percent-encoded; never print them.
  let userInfo: String?

  /// Parses a proxy as curl does: the default scheme is `http`; the default port is 1080, or 443 for `https`.
  ///
  /// - Parameters:
  ///   - text: The proxy's URL.
  ///   - name: Its name in error messages.
  /// - Throws: ``LarderError`` of code `usage`. It does not repeat the text, because the text may contain a password.
  package init(parsing text: String, named name: String = "the proxy") throws(LarderError) {
    func refusal(_ reason: String) -> LarderError {
      LarderError(.usage, "cannot use \(name): its URL \(reason)")
    }
    let trimmed = text.filter { !$0.isWhitespace }
    let mark = trimmed.firstRange(of: "://")
    let word = mark.map { trimmed[..<$0.lowerBound].lowercased() } ?? Scheme.http.rawValue
    guard let scheme = Scheme(rawValue: word) else {
      throw refusal("begins with http://, https://, socks5h:// or socks5://")
    }
    let rest = mark.map { trimmed[$0.upperBound...] } ?? trimmed[...]
    guard let plain = try? CurlURLParser.parse("http://\(rest)"),
      let secure = try? CurlURLParser.parse("https://\(rest)"), plain.path == "/",
      plain.query == nil
    else { throw refusal("is a scheme, a host and a port, as in http://proxy:3128") }
    self.scheme = scheme
    // The parser gives the same port for both schemes only if the text names a port.
    let port = plain.port == secure.port ? plain.port : scheme == .https ? 443 : 1080
    place = HostPort(host: plain.host, port: port)
    userInfo = plain.userInfo
  }

  /// The proxy without user and password.
  package var description: String { "\(scheme.rawValue)://\(place)" }

  /// The user name, decoded.
  var user: String? { userInfo.map { Self.decoded($0.prefix { $0 != ":" }) } }

  /// The password, decoded.
  var password: String? {
    userInfo.map { Self.decoded($0.drop { $0 != ":" }.dropFirst()) }
  }

  /// Whether a request for a URL goes through a tunnel, so that the proxy knows only the host and port.
  func tunnels(to url: WebURL) -> Bool {
    switch scheme {
    case .http, .https: url.scheme == .https
    case .socks5h, .socks5: true
    }
  }

  private static func decoded(_ text: Substring) -> String {
    PercentEncoding.lenientText(text)
  }
}

/// Chooses the proxy for each request, if there is one.
package struct ProxyRoute: Hashable, Sendable {
  private let http: Proxy?
  private let https: Proxy?
  private let exceptions: ProxyExceptions

  /// One proxy for all hosts, except those in the variable `no_proxy`.
  package init(_ proxy: Proxy, variables: [String: String] = [:]) {
    http = proxy
    https = proxy
    exceptions = ProxyExceptions(Self.noProxy(variables))
  }

  /// The proxies of the environment, from the variables that curl reads.
  ///
  /// A scheme's own variable has precedence over `all_proxy`, and a name in lower case over one in capitals.
  /// `HTTP_PROXY` is not read: a web server sets it for its CGI scripts from a header field of the request.
  /// (CVE-2016-5385)
  ///
  /// - Parameters:
  ///   - variables: The environment.
  ///   - name: The proxy's name in error messages.
  /// - Throws: ``LarderError`` of code `usage` when a variable is set but is not a valid proxy.
  package init(
    environment variables: [String: String],
    named name: String = "the proxy"
  ) throws(LarderError) {
    http = try Self.proxy(variables, ["http_proxy", "all_proxy", "ALL_PROXY"], name)
    https = try Self.proxy(
      variables,
      ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
      name
    )
    exceptions = ProxyExceptions(Self.noProxy(variables))
  }

  /// The proxy for a URL; nil for a direct connection.
  package func proxy(for url: WebURL) -> Proxy? {
    guard let proxy = url.scheme == .http ? http : https, !exceptions.contain(url.host) else {
      return nil
    }
    return proxy
  }

  private static func noProxy(_ variables: [String: String]) -> String {
    variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
  }

  private static func proxy(
    _ variables: [String: String],
    _ candidates: [String],
    _ name: String
  ) throws(LarderError) -> Proxy? {
    for variable in candidates {
      guard let text = variables[variable], !text.isEmpty else { continue }
      return try Proxy(parsing: text, named: "\(name): the variable \(variable) names none")
    }
    return nil
  }
}

/// Hosts that are reached without a proxy: the value of `no_proxy`.
///
/// A list of names and addresses, separated by commas or white space. A name stands for itself and its subdomains, an
/// address may have a prefix length (`10.0.0.0/8`), and a single star stands for every host.
struct ProxyExceptions: Hashable, Sendable {
  private let isEverything: Bool
  private var names: [String] = []
  private var networks: [Network] = []

  private struct Network: Hashable {
    let address: IPAddress
    let bits: Int
  }

  init(_ text: String) {
    let words = text.split { $0 == "," || $0.isWhitespace }
    isEverything = words == ["*"]
    for word in words {
      let parts = word.split(separator: "/", omittingEmptySubsequences: false)
      let literal = parts[0].filter { $0 != "[" && $0 != "]" }
      if let address = IPAddress(literal: literal) {
        let whole = address.bytes.count * 8
        guard parts.count < 3, let bits = parts.count == 1 ? whole : Int(parts[1]),
          (0...whole).contains(bits)
        else { continue }
        networks.append(Network(address: address, bits: bits))
      } else {
        let name = word.drop { $0 == "." }.lowercased()
        names.append(name.hasSuffix(".") ? String(name.dropLast()) : name)
      }
    }
  }

  /// Whether a host, in the form of a ``WebURL``'s host, needs no proxy.
  func contain(_ host: String) -> Bool {
    if isEverything { return true }
    if let address = IPAddress(literal: host) {
      return networks.contains { $0.address.shares(bits: $0.bits, with: address) }
    }
    let host = host.hasSuffix(".") ? host.dropLast() : host[...]
    return names.contains { !$0.isEmpty && (host == $0 || host.hasSuffix("." + $0)) }
  }
}

extension IPAddress {
  /// Whether the first `bits` bits of both addresses are the same.
  fileprivate func shares(bits: Int, with other: IPAddress) -> Bool {
    guard bytes.count == other.bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == other.bytes[bit / 8] & mask
    }
  }
}

/// The route of a handle's transfers: direct, or through a proxy to a target.
///
/// The route is kept because setting an option again costs more than comparing. The handle uses the connect-to list,
/// so the list must exist as long as the handle.
struct ProxyWay: ~Copyable {
  private var proxy: Proxy?
  private var target: String?
  private var list = HeaderList()

  /// Sets the route of a transfer's current hop on a handle.
  mutating func set(_ transfer: Transfer, _ policy: ExchangePolicy, on easy: borrowing EasyHandle)
  {
    if proxy != transfer.proxy {
      proxy = transfer.proxy
      _ = easy.set(CURLOPT_PROXY, proxy?.description ?? "")
      _ = easy.set(CURLOPT_PROXYUSERNAME, proxy?.user)
      _ = easy.set(CURLOPT_PROXYPASSWORD, proxy?.password)
    }
    let target = transfer.pin.map { address in
      let url = transfer.url
      return "\(url.host):\(url.port):\(HostPort(host: address.text, port: url.port))"
    }
    guard target != self.target else { return }
    self.target = target
    guard let target else { return policy.setConnectTo(easy) }
    var fresh = HeaderList()
    fresh.append(line: target)
    easy.set(CURLOPT_CONNECT_TO, context: fresh.raw)
    list = fresh
  }
}
