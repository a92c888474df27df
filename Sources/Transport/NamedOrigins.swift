/// The origins that the user named: only they may have private addresses and receive secrets.
///
/// The host of a URL decides, not the author of the URL. A URL from a body may be a next page, a detail or a picture.
/// It reaches a private address only at a host and port that the user named too. It carries the catalog's headers and
/// user information only to an origin for which the user gave them.
package struct NamedOrigins: Sendable {
  /// The hosts, with their ports, that may have private addresses.
  package private(set) var hosts: Set<HostPort> = []
  /// The origins that get the catalog's headers.
  private var credentialOrigins: Set<String> = []
  /// The user information (`user:password`) that the user gave, by origin.
  private var userInfo: [String: String] = [:]

  /// The headers for requests for pictures.
  package var pictureHeaders = PictureHeaders()

  /// Makes an empty set.
  package init() {}

  /// Names a host; no secrets are sent to it.
  package mutating func name(_ url: WebURL) {
    hosts.insert(url.hostPort)
  }

  /// Names a host and port; no secrets are sent to it.
  package mutating func name(_ host: HostPort) {
    hosts.insert(host)
  }

  /// Names a host, and lets the catalog's headers and the URL's user information go to its origin.
  package mutating func allowCredentials(_ url: WebURL) {
    name(url)
    credentialOrigins.insert(url.origin)
    if let given = url.userInfo { userInfo[url.origin] = given }
  }

  /// Whether the catalog's headers go to a URL.
  package func mayGetCredentials(_ url: WebURL) -> Bool { credentialOrigins.contains(url.origin) }

  /// The user information that the user gave for any origin.
  package var givenUserInfo: [String] { Array(userInfo.values) }

  /// Whether a request for a URL carries user information: the URL's own, or that given for its origin.
  package func hasUserInfo(for url: WebURL) -> Bool {
    url.userInfo != nil || givenUserInfo(for: url) != nil
  }

  /// The user information given for the origin of a URL.
  private func givenUserInfo(for url: WebURL) -> String? {
    // Skip the look-up in the usual case that no user information was given.
    userInfo.isEmpty ? nil : userInfo[url.origin]
  }

  /// Who named the host that a URL leads to.
  package func trust(in url: WebURL) -> Request.Trust {
    hosts.contains(url.hostPort) ? .named : .discovered
  }

  /// A request for a URL, with the trust and the secrets of its origin.
  ///
  /// - Parameters:
  ///   - url: The target, from any source.
  ///   - secrets: The catalog's headers, which only an origin of ``allowCredentials(_:)`` gets.
  /// - Returns: A GET request with the other defaults.
  package func request(for url: WebURL, carrying secrets: Headers = Headers()) -> Request {
    var url = url
    if let given = givenUserInfo(for: url) { url = url.with(userInfo: given) }
    var request = Request(url)
    request.trust = trust(in: url)
    if !secrets.isEmpty, mayGetCredentials(url) { request.credentials = secrets }
    return request
  }

  /// The fields that a request for a picture carries besides the usual ones; they are sent only to the origin of the
  /// URL.
  ///
  /// Fields that the user gave for the URL's host win over the catalog's.
  package func pictureFields(for url: WebURL) -> Headers {
    guard !pictureHeaders.isEmpty else { return Headers() }
    var fields = mayGetCredentials(url) ? pictureHeaders.catalog : Headers()
    for field in pictureHeaders.hosts[url.hostPort]?.fields ?? [] {
      fields[field.name] = field.value
    }
    return fields
  }

  /// A request for a picture, with the trust and the secrets of its origin.
  ///
  /// - Parameter url: The target, from any source.
  /// - Returns: A GET request with the other defaults.
  package func pictureRequest(for url: WebURL) -> Request {
    var request = request(for: url)
    request.accept = .picture
    request.mayGetCredentials = mayGetCredentials(url)
    request.credentials = pictureFields(for: url)
    return request
  }
}

/// The fields that requests for pictures carry to origins that the user named.
package struct PictureHeaders: Sendable {
  /// The catalog's headers, for origins that may get credentials.
  package var catalog: Headers
  /// Headers for one host and port.
  package private(set) var hosts: [HostPort: Headers] = [:]

  /// Makes headers for origins that may get credentials, and none for others.
  package init(catalog: Headers = Headers()) {
    self.catalog = catalog
  }

  /// Whether there are no fields.
  package var isEmpty: Bool { catalog.isEmpty && hosts.isEmpty }

  /// Gives headers to the pictures of a host and port.
  package mutating func give(_ headers: Headers, to host: HostPort) {
    hosts[host] = headers
  }

  /// All fields as bytes, so that a digest shows whether they have changed.
  package var lines: [UInt8] {
    var lines = catalog.lines
    for (host, headers) in hosts.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      lines += Array("\(host)\n".utf8) + headers.lines
    }
    return lines
  }

  /// The values, which must not be shown.
  package var values: [String] {
    ([catalog] + hosts.values).flatMap { $0.fields.map(\.value) }
  }
}

extension WebURL {
  /// The URL of a page, with https instead of http if the page that names it was fetched over https.
  ///
  /// Servers behind a TLS proxy often name their next page with http. If that page were fetched over http, an
  /// attacker could forge the rest of a listing that began over https. (RFC 6797 does the same for hosts that ask for
  /// it.)
  ///
  /// - Parameter page: The page that names this one.
  /// - Returns: The URL with https, if `page` was fetched over https from the same host and both use default ports;
  ///   otherwise the URL unchanged.
  package func asSecure(as page: WebURL) -> WebURL {
    guard scheme == .http, port == 80, page.scheme == .https, page.port == 443, host == page.host
    else { return self }
    return WebURL(scheme: .https, userInfo: userInfo, host: host, path: path, query: query)
  }
}

/// An IPv4 or IPv6 address in network byte order.
package struct IPAddress: Hashable, Sendable {
  /// 4 or 16 bytes.
  package let bytes: [UInt8]

  /// Takes 4 bytes for IPv4, or 16 bytes for IPv6; nil for any other number of bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == 4 || bytes.count == 16 else { return nil }
    self.bytes = bytes
  }
}

/// Decides which addresses are allowed for a host that appears only in fetched data.
///
/// The resolved address is judged on every connection, because the text of a URL proves nothing about where it leads.
/// Addresses that are not globally reachable in the IANA special-purpose registries (RFC 6890) are refused.
package enum AddressPolicy {
  /// Whether the address belongs to the public Internet.
  package static func isPublic(_ address: IPAddress) -> Bool {
    address.bytes.count == 4 ? isPublic4(address.bytes[...]) : isPublic6(address.bytes)
  }

  private static func isPublic4(_ bytes: ArraySlice<UInt8>) -> Bool {
    let word = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return !refused4.contains { word >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
  }

  private static func isPublic6(_ bytes: [UInt8]) -> Bool {
    // Only 2000::/3 is global unicast (RFC 4291, section 2.4). The guard refuses ::, ::1, IPv4-mapped and
    // -compatible, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard-only 100::/64, SRv6 5f00::/16, unique local,
    // link-local, site-local and multicast, and with them the metadata address fd00:ec2::254.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    return !refused6.contains { prefix, bits in
      (0..<bits).allSatisfy { bit in
        let mask: UInt8 = 0x80 >> UInt8(bit % 8)
        return bytes[bit / 8] & mask == prefix[bit / 8] & mask
      }
    }
  }

  private static let refused4: [(prefix: UInt32, bits: UInt32)] = [
    (0x0000_0000, 8),  // "this network", RFC 791
    (0x0A00_0000, 8),  // private, RFC 1918
    (0x6440_0000, 10),  // carrier-grade NAT, RFC 6598; holds the metadata address 100.100.100.200
    (0x7F00_0000, 8),  // loopback, RFC 1122
    (0xA9FE_0000, 16),  // link-local, RFC 3927; holds the metadata address 169.254.169.254
    (0xAC10_0000, 12),  // private, RFC 1918
    (0xC000_0000, 24),  // protocol assignments, RFC 6890
    (0xC000_0200, 24),  // documentation, RFC 5737
    (0xC058_6300, 24),  // 6to4 relays, RFC 7526
    (0xC0A8_0000, 16),  // private, RFC 1918
    (0xC612_0000, 15),  // benchmarking, RFC 2544
    (0xC633_6400, 24),  // documentation, RFC 5737
    (0xCB00_7100, 24),  // documentation, RFC 5737
    (0xA83F_8110, 32),  // metadata of one large cloud, 168.63.129.16
    (0xE000_0000, 4),  // multicast, RFC 5771
    (0xF000_0000, 4),  // reserved and broadcast, RFC 1112
  ]

  private static let refused6: [(prefix: [UInt8], bits: Int)] = [
    ([0x20, 0x01, 0x00], 23),  // protocol assignments with Teredo, ORCHID, benchmarking; RFC 2928
    ([0x20, 0x01, 0x0D, 0xB8], 32),  // documentation, RFC 3849
    ([0x20, 0x02], 16),  // 6to4, which may hide a private IPv4 address; RFC 3056
    ([0x3F, 0xFE], 16),  // the former 6bone, RFC 3701
    ([0x3F, 0xFF, 0x00], 20),  // documentation, RFC 9637
  ]
}
