import Transport

/// A proxy that the user named; it may have a private address.
package struct Proxy: Hashable, Sendable, CustomStringConvertible {
  /// How it is spoken to.
  package enum Scheme: String, Sendable, CaseIterable {
    /// HTTP: it passes on requests for `http` and tunnels those for `https`. (RFC 9110, section 9.3.6)
    case http
    /// The same, itself behind TLS.
    case https
    /// SOCKS 5 with names. (RFC 1928)
    case socks5h
    /// SOCKS 5 with addresses that are resolved here.
    case socks5
  }

  /// How it is spoken to.
  package let scheme: Scheme
  /// Where it listens.
  package let place: HostPort
  /// What it asks for, as `user:password`, percent-encoded; never print it.
  let userInfo: String?

  /// Reads a proxy as curl does: without a scheme it is `http`, without a port 1080, or 443 behind TLS.
  ///
  /// - Throws: ``ProxyError``, which does not repeat the text, for that may hold a password.
  package init(parsing text: String) throws(ProxyError) {
    let trimmed = text.filter { !$0.isWhitespace }
    let mark = trimmed.firstRange(of: "://")
    let name = mark.map { trimmed[..<$0.lowerBound].lowercased() } ?? Scheme.http.rawValue
    guard let scheme = Scheme(rawValue: name) else {
      throw ProxyError("its URL begins with http://, https://, socks5h:// or socks5://")
    }
    let rest = mark.map { trimmed[$0.upperBound...] } ?? trimmed[...]
    guard let plain = try? CurlURLParser.parse("http://\(rest)"),
      let secure = try? CurlURLParser.parse("https://\(rest)"), plain.path == "/",
      plain.query == nil
    else { throw ProxyError("its URL is a scheme, a host and a port, as in http://proxy:3128") }
    self.scheme = scheme
    // Two schemes read one port only when the text names it.
    let port = plain.port == secure.port ? plain.port : scheme == .https ? 443 : 1080
    place = HostPort(host: plain.host, port: port)
    userInfo = plain.userInfo
  }

  /// The proxy without user and password.
  package var description: String { "\(scheme.rawValue)://\(place)" }

  /// The user's name, decoded.
  var user: String? { userInfo.map { Self.decoded($0.prefix { $0 != ":" }) } }

  /// The password, decoded.
  var password: String? {
    userInfo.map { Self.decoded($0.drop { $0 != ":" }.dropFirst()) }
  }

  /// Whether a request for a URL goes through a tunnel, of which the proxy knows only where it ends.
  func tunnels(to url: WebURL) -> Bool {
    switch scheme {
    case .http, .https: url.scheme == .https
    case .socks5h, .socks5: true
    }
  }

  private static func decoded(_ text: Substring) -> String {
    String(decoding: percentDecoded(String(text)), as: UTF8.self)
  }
}

/// Why a proxy cannot be used, without what the user wrote.
package struct ProxyError: Error, CustomStringConvertible {
  /// What is wrong, and what would be right.
  package let description: String

  init(_ description: String) {
    self.description = description
  }
}
