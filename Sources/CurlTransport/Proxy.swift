import Base
import Transport

/// A proxy that the user named.
///
/// It is allowed to have a private address.
package struct Proxy: Hashable, Sendable, CustomStringConvertible {
  /// The protocol of the proxy.
  package enum Scheme: String, Sendable, CaseIterable {
    /// HTTP.
    ///
    /// The proxy forwards `http` requests, and opens a tunnel (`CONNECT`) for `https` requests. (RFC 9110, section
    /// 9.3.6)
    case http
    /// HTTP over TLS.
    ///
    /// It is otherwise the same as `http`.
    case https
    /// SOCKS 5, where the proxy resolves host names. (RFC 1928)
    case socks5h
    /// SOCKS 5, where this machine resolves host names.
    case socks5
  }

  /// The protocol.
  package let scheme: Scheme
  /// The host and port of the proxy.
  package let place: HostPort
  /// The user name and password as `user:password`, percent-encoded.
  ///
  /// They must not be printed.
  let userInfo: String?

  /// Parses the URL of a proxy, for example `http://proxy.example:3128`.
  ///
  /// As in curl, the default scheme is `http`. The default port is 443 for `https` and 1080 for all other schemes.
  ///
  /// - Parameters:
  ///   - text: The URL of the proxy.
  ///   - name: The name of the proxy in error messages, for example `--proxy`.
  /// - Throws: ``LarderError`` with the code `usage`. The message lacks the URL, because the URL may contain a
  ///   password.
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
    let parser = CurlURLParser()
    guard let plain = try? parser.parse("http://\(rest)", relativeTo: nil),
      let secure = try? parser.parse("https://\(rest)", relativeTo: nil), plain.path == "/",
      plain.query == nil
    else { throw refusal("is a scheme, a host and a port, as in http://proxy:3128") }
    self.scheme = scheme
    // The ports of the two URLs are the same only if the text contains a port.
    let port = plain.port == secure.port ? plain.port : scheme == .https ? 443 : 1080
    place = HostPort(host: plain.host, port: port)
    userInfo = plain.userInfo
  }

  /// The URL of the proxy without user name and password.
  package var description: String { "\(scheme.rawValue)://\(place)" }

  /// The user name, without percent-encoding.
  var user: String? {
    userInfo.map { PercentEncoding.lenientText($0.prefix { $0 != ":" }) }
  }

  /// The password, without percent-encoding.
  var password: String? {
    userInfo.map { PercentEncoding.lenientText($0.drop { $0 != ":" }.dropFirst()) }
  }

  /// Whether a request for a URL goes through a tunnel.
  ///
  /// Then the proxy learns only the host and port.
  func tunnels(to url: WebURL) -> Bool {
    switch scheme {
    case .http, .https: url.scheme == .https
    case .socks5h, .socks5: true
    }
  }
}

/// The rules that decide which proxy a request goes through.
package struct ProxyRoute: Sendable {
  private let http: Proxy?
  private let https: Proxy?
  private let exceptions: ProxyExceptions

  /// Makes rules with one proxy for all hosts, except the hosts in the environment variable `no_proxy`.
  package init(_ proxy: Proxy, variables: [String: String] = [:]) {
    http = proxy
    https = proxy
    exceptions = ProxyExceptions(Self.noProxy(variables))
  }

  /// Makes rules from the environment variables that curl reads too.
  ///
  /// For example, `https_proxy` takes precedence over `HTTPS_PROXY`, and both take precedence over `all_proxy`.
  /// `HTTP_PROXY` is not read, because a web server sets it for CGI scripts to the value of a header field.
  /// (CVE-2016-5385)
  ///
  /// - Parameters:
  ///   - variables: The environment.
  ///   - name: The name of the proxy in error messages.
  /// - Throws: ``LarderError`` with the code `usage` if a variable is not the URL of a proxy.
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

  /// The proxy for requests to a URL, or nil for a direct connection.
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

/// The hosts for which no proxy is used: the value of the environment variable `no_proxy`.
///
/// The value is a list of names and addresses, separated by commas or white space, for example `shop.example,
/// 10.0.0.0/8`. A name matches the host with this name and its subdomains. An address can have a prefix length. The
/// value `*` matches every host.
struct ProxyExceptions: Sendable {
  private let isEverything: Bool
  private var names: [String] = []
  /// The networks: an address, and the length of its prefix.
  private var networks: [(bytes: [UInt8], bits: Int)] = []

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
        networks.append((address.bytes, bits))
      } else {
        let name = word.drop { $0 == "." }.lowercased()
        names.append(name.hasSuffix(".") ? String(name.dropLast()) : name)
      }
    }
  }

  /// Whether no proxy is used for a host.
  ///
  /// The host is in the form of ``WebURL/host``.
  func contain(_ host: String) -> Bool {
    if isEverything { return true }
    if let address = IPAddress(literal: host) {
      return networks.contains {
        $0.bytes.count == address.bytes.count && address.begins(with: $0.bytes, bits: $0.bits)
      }
    }
    let host = host.hasSuffix(".") ? host.dropLast() : host[...]
    return names.contains { !$0.isEmpty && (host == $0 || host.hasSuffix("." + $0)) }
  }
}
