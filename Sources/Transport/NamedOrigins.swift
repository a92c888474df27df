/// What the user named: the one judge of which URL may lead to a private address, and which gets secrets.
///
/// It asks not who wrote a URL but whom it names. Whatever a body names, be it a next page, a detail or a
/// picture, reaches a private address only at a host and port that the user named too, and carries the
/// catalog's headers and user information only to an origin that the user gave them for.
package struct NamedOrigins: Sendable {
  /// The hosts, with their ports, that may have private addresses.
  package private(set) var hosts: Set<HostPort> = []
  /// The origins that get the catalog's headers.
  private var entrusted: Set<String> = []
  /// The user information that some of them were named with.
  private var userInfo: [String: String] = [:]

  /// Names nothing.
  package init() {}

  /// Names a host; nothing secret goes there.
  package mutating func name(_ url: WebURL) {
    hosts.insert(url.hostPort)
  }

  /// Names a host, and lets the catalog's headers and the URL's user information go to its origin.
  package mutating func entrust(_ url: WebURL) {
    name(url)
    entrusted.insert(url.origin)
    if let given = url.userInfo { userInfo[url.origin] = given }
  }

  /// Whether the catalog's headers go to a URL.
  package func isEntrusted(_ url: WebURL) -> Bool { entrusted.contains(url.origin) }

  /// The user information that origins were named with.
  package var givenUserInfo: [String] { Array(userInfo.values) }

  /// Whether a request for a URL carries user information, the URL's own or what its origin was named with.
  package func hasUserInfo(for url: WebURL) -> Bool {
    url.userInfo != nil || givenUserInfo(for: url) != nil
  }

  /// What the origin of a URL was named with.
  private func givenUserInfo(for url: WebURL) -> String? {
    // Seldom is there any: most URLs are not looked up.
    userInfo.isEmpty ? nil : userInfo[url.origin]
  }

  /// Who named the host that a URL leads to.
  package func trust(in url: WebURL) -> Request.Trust {
    hosts.contains(url.hostPort) ? .named : .discovered
  }

  /// A request for a URL, with the trust and the secrets that are due to it.
  ///
  /// - Parameters:
  ///   - url: Where to; whoever named it.
  ///   - secrets: The catalog's headers, which only an entrusted origin gets.
  /// - Returns: A GET request with the other defaults.
  package func request(for url: WebURL, carrying secrets: Headers = Headers()) -> Request {
    var url = url
    if let given = givenUserInfo(for: url) { url = url.with(userInfo: given) }
    var request = Request(url)
    request.trust = trust(in: url)
    if !secrets.isEmpty, isEntrusted(url) { request.credentials = secrets }
    return request
  }
}

extension WebURL {
  /// The page that a body names, read over the same scheme as that body.
  ///
  /// Servers behind a proxy that speaks TLS for them often name their next page over http. Read so, the rest of
  /// a listing could be forged on the way although its beginning could not. (RFC 6797 does the same
  /// for hosts that ask for it.)
  ///
  /// - Parameter page: The page that names this one.
  /// - Returns: The URL over https when the page came so from the same host, both at the schemes' own
  ///   ports; else the URL as it is.
  package func asSecure(as page: WebURL) -> WebURL {
    guard scheme == .http, port == 80, page.scheme == .https, page.port == 443, host == page.host
    else { return self }
    return WebURL(scheme: .https, userInfo: userInfo, host: host, path: path, query: query)
  }
}
