/// An absolute `http` or `https` URL, exactly as it is sent in a request.
///
/// A ``URLParsing`` makes URLs from text. So the checks of a URL and the connection use the same host. Characters that
/// were percent-encoded stay percent-encoded. A URL has no fragment.
package struct WebURL: Hashable, Sendable {
  /// The schemes that larder supports.
  package enum Scheme: String, Sendable {
    /// Without encryption.
    case http
    /// With TLS.
    case https

    /// The port of URLs that do not contain a port. (RFC 9110, section 4.2)
    package var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// The whole URL without user information, for example `https://shop.example/a.jpg?v=1`.
  ///
  /// It contains the other parts, which are found when they are needed, so that a URL is small in memory.
  package let text: String
  /// The offset of the path in the UTF-8 of `text`.
  package let pathStart: Int
  /// The user name and password as `user:password`, percent-encoded as in the URL.
  ///
  /// They must not be printed.
  package let userInfo: String?

  /// The scheme.
  package var scheme: Scheme { text.hasPrefix("https:") ? .https : .http }
  /// The host in lower case.
  ///
  /// International names are in punycode, and IPv6 addresses have no brackets.
  package var host: String {
    let authority = authority
    let name =
      authority.first == UInt8(ascii: "[")
      ? authority.dropFirst().prefix { $0 != UInt8(ascii: "]") }
      : authority.prefix { $0 != UInt8(ascii: ":") }
    return String(Substring(name))
  }
  /// The port, or the default port of the scheme if the URL contains none.
  package var port: Int {
    // The text after the last colon of an IPv6 address is no number, because of the bracket.
    let authority = authority
    let colon = authority.lastIndex(of: UInt8(ascii: ":"))
    return colon.flatMap { Int(Substring(authority[$0...].dropFirst())) } ?? scheme.defaultPort
  }

  /// The host and the port as in the text, for example `shop.example` or `[::1]:8080`.
  private var authority: Substring.UTF8View {
    text.utf8.prefix(pathStart).dropFirst(scheme.rawValue.utf8.count + 3)
  }

  /// Makes a URL from parts that a parser has validated and encoded.
  ///
  /// - Parameters:
  ///   - scheme: The scheme.
  ///   - userInfo: The user name and password as `user:password`, percent-encoded, or nil if there are none.
  ///   - host: The host in lower case and punycode, without brackets.
  ///   - port: A port from 1 to 65535; nil if the URL has the default port of the scheme.
  ///   - path: The path, which starts with a slash.
  ///   - query: The query without its question mark, or nil if there is none.
  package init(
    scheme: Scheme,
    userInfo: String? = nil,
    host: String,
    port: Int? = nil,
    path: String = "/",
    query: String? = nil
  ) {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    let ending = port.map { $0 == scheme.defaultPort ? "" : ":\($0)" } ?? ""
    let origin = "\(scheme.rawValue)://\(name)\(ending)"
    text = origin + path + (query.map { "?" + $0 } ?? "")
    pathStart = origin.utf8.count
    self.userInfo = userInfo
  }

  /// A copy of the URL with other user information, or without user information.
  package func with(userInfo: String?) -> WebURL {
    WebURL(text: text, pathStart: pathStart, userInfo: userInfo)
  }

  /// A copy of the URL with another path and query.
  ///
  /// - Parameter text: The whole URL, encoded, which begins with the ``origin`` of this one.
  /// - Returns: The URL.
  package func with(text: String) -> WebURL {
    WebURL(text: text, pathStart: pathStart, userInfo: userInfo)
  }

  private init(text: String, pathStart: Int, userInfo: String?) {
    self.text = text
    self.pathStart = pathStart
    self.userInfo = userInfo
  }

  /// The path with its leading slash.
  package var path: String {
    let rest = text.utf8.dropFirst(pathStart)
    return String(Substring(rest.prefix { $0 != UInt8(ascii: "?") }))
  }

  /// The text after the question mark, or nil if the URL has no query.
  package var query: String? {
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return String(text[text.utf8.index(after: mark)...])
  }

  /// The scheme, host and port, for example `https://shop.example`.
  ///
  /// URLs with the same origin are allowed to share credentials. (RFC 9110, section 4.3.1)
  package var origin: String { String(Substring(text.utf8.prefix(pathStart))) }

  /// The URL without its query.
  package var place: String { origin + path }

  /// The host and the port.
  package var hostPort: HostPort { HostPort(host: host, port: port) }
}

/// A host and a port, for example `shop.example:443`.
package struct HostPort: Hashable, Sendable, CustomStringConvertible {
  /// The host in lower case.
  ///
  /// IPv6 addresses have no brackets.
  package let host: String
  /// The port.
  package let port: Int

  /// Makes a value.
  ///
  /// The host is converted to lower case.
  package init(host: String, port: Int) {
    self.host = host.lowercased()
    self.port = port
  }

  /// The host and port as text, for example `shop.example:443` or `[::1]:8080`.
  package var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension WebURL {
  /// Whether the host's name or address means this machine, for example `localhost` or `127.0.0.1`. (RFC 6761, section
  /// 6.3; RFC 1122)
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" || host.hasSuffix(".localhost") { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

extension WebURL: CustomStringConvertible {
  /// The same as `redacted`, so that a log never contains a secret by mistake.
  package var description: String { redacted }

  /// The URL for logs and reports, where `***` replaces each query value that may be a secret.
  ///
  /// For example, the result for `https://shop.example/a?id=1&token=x` is `https://shop.example/a?id=1&token=***`.
  package var redacted: String {
    guard let query else { return text }
    let parts = query.split(separator: "&", omittingEmptySubsequences: false).map { part in
      let name = part.prefix { $0 != "=" }
      return name.count < part.count && Self.isSecret(name) ? name + "=***" : part
    }
    return place + "?" + parts.joined(separator: "&")
  }

  /// The host for display, with the port if it is not the default port of the scheme.
  package var shownHost: String {
    String(Substring(authority))
  }

  /// Whether the value of a query parameter with this name may be a secret.
  private static func isSecret(_ name: Substring) -> Bool {
    let name = name.lowercased()
    let exact: Set<String> = ["key", "sig", "auth", "pass", "pwd", "sas", "code", "jwt"]
    let within = [
      "token", "secret", "signature", "password", "credential", "apikey", "api_key", "api-key",
      "access_key", "session",
    ]
    return exact.contains(name) || within.contains { name.contains($0) }
  }
}

extension WebURL {
  /// The URL without the query parameters of a signature.
  ///
  /// It identifies the resource, and is allowed to be stored.
  ///
  /// Object stores sign URLs with query parameters that may be different in each response. The signature is in
  /// `X-Amz-Signature` (Amazon S3), `Signature` (older S3, CloudFront), `X-Goog-Signature` (Google Cloud Storage) or
  /// `sig` (Azure).
  package var resource: String {
    guard let query else { return text }
    let members = query.split(separator: "&", omittingEmptySubsequences: false)
    let names = members.map { $0.prefix { $0 != "=" }.lowercased() }
    guard names.contains(where: Self.signatures.contains) else { return text }
    let kept = zip(names, members).filter { name, _ in
      !Self.signatures.contains(name) && !Self.besideSignatures.contains(name)
        && !name.hasPrefix("x-amz-") && !name.hasPrefix("x-goog-")
    }
    let rest = kept.map(\.1).joined(separator: "&")
    return rest.isEmpty ? place : place + "?" + rest
  }

  private static let signatures: Set = ["x-amz-signature", "x-goog-signature", "signature", "sig"]

  /// Further query parameters of signed URLs, for example the name of the key and the time of expiry.
  private static let besideSignatures: Set = [
    "awsaccesskeyid", "googleaccessid", "expires", "policy", "key-pair-id", "se", "st", "sp",
    "spr", "sv", "sr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]
}

/// Parses URLs.
package protocol URLParsing: Sendable {
  /// Parses an absolute URL, or a URL relative to `base`. (RFC 3986, section 5)
  ///
  /// White space around the text and the fragment are removed. In the path and the query, characters that are not
  /// allowed in a URL are percent-encoded, for example spaces, braces and characters outside ASCII. A backslash in the
  /// path becomes a slash. Text that is already percent-encoded, and variables such as `${NAME}`, are not changed.
  ///
  /// - Parameters:
  ///   - text: The text, for example from a catalog file, a shop's response or a `Location` field.
  ///   - base: The URL that a relative URL refers to.
  /// - Returns: The URL as it is sent in a request.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL
}
