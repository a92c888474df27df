/// The hosts that the user named, for example in the catalog file.
///
/// Only these hosts are allowed to have private addresses, and only they receive secrets.
///
/// The rules depend on the host in a URL, and not on the place where the URL was found. For example, the URL of a
/// picture is found in a shop's response. A request for the picture is allowed to go to a private address only if the
/// user also named the picture's host and port. The request carries the catalog's headers, and a user name and
/// password, only if the user gave them for the picture's origin.
package struct NamedOrigins: Sendable {
  /// The hosts and ports that are allowed to have private addresses.
  package private(set) var hosts: Set<HostPort> = []
  /// The origins that receive the catalog's headers.
  private var credentialOrigins: Set<String> = []
  /// The user information (`user:password`) that the user gave for each origin.
  private var userInfo: [String: String] = [:]

  /// The headers for requests for pictures.
  package var pictureHeaders = PictureHeaders()

  /// Makes an empty set.
  package init() {}

  /// Adds a host and port.
  ///
  /// The host is allowed to have a private address, but receives no secrets.
  package mutating func name(_ host: HostPort) {
    hosts.insert(host)
  }

  /// Adds the host of a URL, and lets the URL's origin receive the catalog's headers and the URL's user information.
  package mutating func allowCredentials(_ url: WebURL) {
    name(url.hostPort)
    credentialOrigins.insert(url.origin)
    if let given = url.userInfo { userInfo[url.origin] = given }
  }

  /// Whether a request for a URL carries the catalog's headers.
  package func mayGetCredentials(_ url: WebURL) -> Bool { credentialOrigins.contains(url.origin) }

  /// All user information that the user gave.
  package var givenUserInfo: [String] { Array(userInfo.values) }

  /// Whether a request for a URL carries user information.
  ///
  /// It is in the URL itself, or the user gave it for the URL's origin.
  package func hasUserInfo(for url: WebURL) -> Bool {
    url.userInfo != nil || givenUserInfo(for: url) != nil
  }

  /// The user information that the user gave for the origin of a URL.
  private func givenUserInfo(for url: WebURL) -> String? {
    // Usually there is no user information, and the origin need not be computed.
    userInfo.isEmpty ? nil : userInfo[url.origin]
  }

  /// Makes a request for a URL, with the trust and the secrets of the URL's origin.
  ///
  /// - Parameters:
  ///   - url: The URL, from any source.
  ///   - secrets: The catalog's headers. They are added only if ``allowCredentials(_:)`` was called for the origin.
  /// - Returns: A GET request. Its other properties have their default values.
  package func request(for url: WebURL, carrying secrets: Headers = Headers()) -> Request {
    var url = url
    if let given = givenUserInfo(for: url) { url = url.with(userInfo: given) }
    var request = Request(url)
    request.trust = hosts.contains(url.hostPort) ? .named : .discovered
    if !secrets.isEmpty, mayGetCredentials(url) { request.credentials = secrets }
    return request
  }

  /// The additional header fields of a request for a picture.
  ///
  /// They are sent only to the origin of the URL.
  ///
  /// If the user gave a field both for the URL's host and for the whole catalog, the field for the host is used.
  package func pictureFields(for url: WebURL) -> Headers {
    guard !pictureHeaders.isEmpty else { return Headers() }
    var fields = mayGetCredentials(url) ? pictureHeaders.catalog : Headers()
    for field in pictureHeaders.hosts[url.hostPort]?.fields ?? [] {
      fields[field.name] = field.value
    }
    return fields
  }

  /// Makes a request for a picture, with the trust and the secrets of the URL's origin.
  ///
  /// - Parameter url: The URL, from any source.
  /// - Returns: A GET request. Its other properties have their default values.
  package func pictureRequest(for url: WebURL) -> Request {
    var request = request(for: url)
    request.accept = .picture
    request.mayGetCredentials = mayGetCredentials(url)
    request.credentials = pictureFields(for: url)
    return request
  }
}

/// The additional header fields of requests for pictures, as the user gave them in the catalog file.
package struct PictureHeaders: Sendable {
  /// The catalog's headers, for origins that are allowed to receive credentials.
  package var catalog: Headers
  /// The headers for each host and port, for example a `Referer` for `cdn.example:443`.
  package var hosts: [HostPort: Headers] = [:]

  /// Makes a value with the catalog's headers only.
  package init(catalog: Headers = Headers()) {
    self.catalog = catalog
  }

  /// Whether there are no header fields.
  package var isEmpty: Bool { catalog.isEmpty && hosts.isEmpty }

  /// All header fields as bytes.
  ///
  /// A digest of them shows whether the fields have changed since an earlier run.
  package var lines: [UInt8] {
    var lines = catalog.lines
    for (host, headers) in hosts.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      lines += Array("\(host)\n".utf8) + headers.lines
    }
    return lines
  }

  /// The values of all fields.
  ///
  /// They may be secrets, and must not be shown.
  package var values: [String] {
    ([catalog] + hosts.values).flatMap { $0.fields.map(\.value) }
  }
}

extension WebURL {
  /// The URL with https instead of http, if the page that contains the URL was fetched over https.
  ///
  /// For example, a shop's list of items contains the URL of the list's next page. A server behind a TLS proxy often
  /// writes this URL with http. If larder used http, an attacker could forge the rest of the list. (RFC 6797 replaces
  /// http in the same way.)
  ///
  /// - Parameter page: The URL of the page that contains this URL.
  /// - Returns: The URL with https, if both URLs have the same host and the default port of their scheme. Otherwise the
  ///   URL without a change.
  package func asSecure(as page: WebURL) -> WebURL {
    guard scheme == .http, port == 80, page.scheme == .https, page.port == 443, host == page.host
    else { return self }
    return WebURL(scheme: .https, userInfo: userInfo, host: host, path: path, query: query)
  }
}

/// An IPv4 or IPv6 address.
package struct IPAddress: Hashable, Sendable {
  /// The 4 or 16 bytes of the address, in network byte order.
  package let bytes: [UInt8]

  /// Makes an IPv4 address from 4 bytes or an IPv6 address from 16 bytes.
  ///
  /// The result is nil for any other number.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }

  /// Whether the first `bits` bits of the address are those of `prefix`.
  package func begins(with prefix: [UInt8], bits: Int) -> Bool {
    (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == prefix[bit / 8] & mask
    }
  }
}

/// Decides which addresses are allowed for a host that the user did not name, for example the host in a picture's URL.
///
/// The resolved address is checked for every connection, because the name in a URL can lead to any address. An address
/// is refused if the IANA special-purpose registries list it as not globally reachable. (RFC 6890)
package enum AddressPolicy {
  /// Whether the address belongs to the public Internet.
  package static func isPublic(_ address: IPAddress) -> Bool {
    if address.bytes.count == 4 {
      return !refused4.contains { address.begins(with: $0.prefix, bits: $0.bits) }
    }
    // Only 2000::/3 is global unicast (RFC 4291, section 2.4). So the guard refuses the following addresses: ::, ::1,
    // IPv4-mapped and IPv4-compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only (100::/64), SRv6 (5f00::/16),
    // unique local (with the metadata address fd00:ec2::254), link-local, site-local and multicast.
    guard address.begins(with: [0x20], bits: 3) else { return false }
    return !refused6.contains { address.begins(with: $0.prefix, bits: $0.bits) }
  }

  private static let refused4: [(prefix: [UInt8], bits: Int)] = [
    ([0], 8),  // "this network", RFC 791
    ([10], 8),  // private, RFC 1918
    ([100, 64], 10),  // carrier-grade NAT, RFC 6598; holds the metadata address 100.100.100.200
    ([127], 8),  // loopback, RFC 1122
    ([169, 254], 16),  // link-local, RFC 3927; holds the metadata address 169.254.169.254
    ([172, 16], 12),  // private, RFC 1918
    ([192, 0, 0], 24),  // protocol assignments, RFC 6890
    ([192, 0, 2], 24),  // documentation, RFC 5737
    ([192, 88, 99], 24),  // 6to4 relays, RFC 7526
    ([192, 168], 16),  // private, RFC 1918
    ([198, 18], 15),  // benchmarking, RFC 2544
    ([198, 51, 100], 24),  // documentation, RFC 5737
    ([203, 0, 113], 24),  // documentation, RFC 5737
    ([168, 63, 129, 16], 32),  // metadata of one large cloud, 168.63.129.16
    ([224], 4),  // multicast, RFC 5771
    ([240], 4),  // reserved and broadcast, RFC 1112
  ]

  private static let refused6: [(prefix: [UInt8], bits: Int)] = [
    ([0x20, 0x01, 0x00], 23),  // protocol assignments with Teredo, ORCHID, benchmarking; RFC 2928
    ([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation, RFC 3849
    ([0x20, 0x02], 16),  // 6to4, which may hide a private IPv4 address; RFC 3056
    ([0x3F, 0xFE], 16),  // the former 6bone, RFC 3701
    ([0x3F, 0xFF, 0x00], 20),  // documentation, RFC 9637
  ]
}
