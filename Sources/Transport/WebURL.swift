/// An absolute `http` or `https` URL, exactly as it will be sent.
///
/// URLs are made by a ``URLParsing``, so that the check of a URL and the connection see the same host. Bytes that
/// were percent-encoded stay percent-encoded. A URL has no fragment, and `text` has no user information.
package struct WebURL: Hashable, Sendable {
  /// The two schemes that larder supports.
  package enum Scheme: String, Sendable {
    /// Unencrypted.
    case http
    /// Over TLS.
    case https

    /// The port when the URL names none. (RFC 9110, section 4.2)
    package var defaultPort: Int { self == .http ? 80 : 443 }
  }

  /// The whole URL without user information and fragment.
  package let text: String
  /// The part before the path, in a shared object, so that copies of a URL are small.
  private let authority: Authority

  /// `http` or `https`.
  package var scheme: Scheme { authority.scheme }
  /// The host in lower case, with international names as punycode and IPv6 literals without brackets.
  package var host: String { authority.host }
  /// The port; the scheme's default when the URL names none.
  package var port: Int { authority.port }
  /// `user:password` as written in the URL, still percent-encoded; never print it.
  package var userInfo: String? { authority.userInfo }
  /// The offset of the path in the UTF-8 of `text`.
  package var pathStart: Int { authority.length }

  /// Makes a URL from parts that a parser has already validated and encoded.
  ///
  /// - Parameters:
  ///   - scheme: The scheme.
  ///   - userInfo: `user:password`, percent-encoded, if there was any.
  ///   - host: The host in lower case, as punycode, without brackets.
  ///   - port: 1 to 65535, or nil for the scheme's default.
  ///   - path: The path, which starts with a slash.
  ///   - query: The query without its question mark.
  package init(
    scheme: Scheme,
    userInfo: String? = nil,
    host: String,
    port: Int? = nil,
    path: String = "/",
    query: String? = nil
  ) {
    let port = port ?? scheme.defaultPort
    var text = Self.origin(scheme, host, port)
    authority = Authority(
      scheme: scheme,
      host: host,
      port: port,
      userInfo: userInfo,
      length: text.utf8.count
    )
    text += path
    if let query {
      text += "?"
      text += query
    }
    self.text = text
  }

  /// The same URL with other user information, or none.
  package func with(userInfo: String?) -> WebURL {
    WebURL(copying: self, authority: authority.with(userInfo: userInfo))
  }

  private init(copying other: WebURL, authority: Authority) {
    text = other.text
    self.authority = authority
  }

  /// The path with its leading slash.
  package var path: String {
    let rest = text.utf8.dropFirst(pathStart)
    return String(Substring(rest.prefix { $0 != UInt8(ascii: "?") }))
  }

  /// The text after the question mark; nil if the URL has no query.
  package var query: String? {
    guard let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return String(text[text.utf8.index(after: mark)...])
  }

  /// Scheme, host and port: two URLs with one origin may share credentials. (RFC 9110, section 4.3.1)
  package var origin: String { String(Substring(text.utf8.prefix(pathStart))) }

  /// The URL without its query, which may be a signature that is new each time.
  package var place: String { origin + path }

  /// The host and the port: with this name, a user allows a host to have a private address.
  package var hostPort: HostPort { HostPort(host: host, port: port) }

  private static func origin(_ scheme: Scheme, _ host: String, _ port: Int) -> String {
    let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    let start = scheme.rawValue + "://" + name
    return port == scheme.defaultPort ? start : "\(start):\(port)"
  }
}

extension WebURL {
  /// The part of a URL before its path.
  private final class Authority: Hashable, Sendable {
    let scheme: Scheme
    let host: String
    let port: Int
    let userInfo: String?
    /// The number of bytes before the path in the URL's text.
    let length: Int

    init(scheme: Scheme, host: String, port: Int, userInfo: String?, length: Int) {
      self.scheme = scheme
      self.host = host
      self.port = port
      self.userInfo = userInfo
      self.length = length
    }

    func with(userInfo: String?) -> Authority {
      Authority(scheme: scheme, host: host, port: port, userInfo: userInfo, length: length)
    }

    static func == (left: Authority, right: Authority) -> Bool {
      left === right
        || left.userInfo == right.userInfo && left.length == right.length
          && left.scheme == right.scheme && left.host == right.host && left.port == right.port
    }

    /// Hashes only the user information, because the hash of the URL's text covers the other parts.
    func hash(into hasher: inout Hasher) {
      hasher.combine(userInfo)
    }
  }
}

/// A host and a port, as a user names them.
package struct HostPort: Hashable, Sendable, CustomStringConvertible {
  /// The host in lower case, IPv6 literals without brackets.
  package let host: String
  /// The port.
  package let port: Int

  /// Names a host and a port; the name is converted to lower case.
  package init(host: String, port: Int) {
    self.host = host.lowercased()
    self.port = port
  }

  /// `host:port`, IPv6 literals in brackets.
  package var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}

extension WebURL {
  /// Whether the host is this machine, judged by its name alone. (RFC 6761, section 6.3; RFC 1122)
  package var isLoopback: Bool {
    if host == "localhost" || host == "::1" || host.hasSuffix(".localhost") { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

extension WebURL: CustomStringConvertible {
  /// The same as `redacted`, so that no log line can show more.
  package var description: String { redacted }

  /// The URL for logs and reports: query values that look like secrets are `***`.
  package var redacted: String {
    guard let query else { return text }
    var parts: [Substring] = []
    var changed = false
    for part in query.split(separator: "&", omittingEmptySubsequences: false) {
      let name = part.prefix { $0 != "=" }
      if name.count < part.count, Self.isSecret(name) {
        parts.append(name + "=***")
        changed = true
      } else {
        parts.append(part)
      }
    }
    guard changed else { return text }
    return origin + path + "?" + parts.joined(separator: "&")
  }

  /// The host, and the port unless it is the scheme's default: a short form for display, without secrets.
  package var shownHost: String {
    String(Substring(text.utf8.prefix(pathStart).dropFirst(scheme.rawValue.utf8.count + 3)))
  }

  /// Whether a query parameter's name shows that its value is a secret: a name in the signed URLs of large clouds, or
  /// a usual name of a key.
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
  /// The URL as the name of a resource: without a signature, which may differ each time and must not be stored.
  ///
  /// Storage services sign a URL in its query, with parameters of their own: Amazon S3 `X-Amz-Signature`, older S3
  /// and CloudFront `Signature`, Google Cloud Storage `X-Goog-Signature`, Azure `sig`.
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

  /// The parameters that a signature covers besides the resource: the signer and the expiry.
  private static let besideSignatures: Set = [
    "awsaccesskeyid", "googleaccessid", "expires", "policy", "key-pair-id", "se", "st", "sp",
    "spr", "sv", "sr", "skoid", "sktid", "skt", "ske", "sks", "skv",
  ]
}

/// Turns text into a URL that can be fetched.
package protocol URLParsing: Sendable {
  /// Parses an absolute URL, or one that is relative to `base`. (RFC 3986, section 5)
  ///
  /// White space around the text is dropped. Characters that are not allowed in a URL, such as spaces, braces and raw
  /// UTF-8, are percent-encoded in path and query. A backslash in the path becomes a slash. Encoded characters and
  /// `${NAME}` are not changed. The fragment is dropped.
  ///
  /// - Parameters:
  ///   - text: Text from a catalog, a feed or a `Location` header.
  ///   - base: The base of relative text.
  /// - Returns: The URL as it will be sent.
  /// - Throws: ``TransferFailure`` with the reason `url-invalid` or `scheme-refused`.
  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL
}
