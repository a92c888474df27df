import Transport

/// Which proxy a request goes through, if through any.
package struct ProxyRoute: Hashable, Sendable {
  private let http: Proxy?
  private let https: Proxy?
  private let exceptions: ProxyExceptions

  /// One proxy for everything but what `no_proxy` among the variables names.
  package init(_ proxy: Proxy, variables: [String: String] = [:]) {
    http = proxy
    https = proxy
    exceptions = ProxyExceptions(Self.noProxy(variables))
  }

  /// What the environment says, in the variables that curl reads.
  ///
  /// A scheme's own variable wins over `all_proxy`, a name in lower case over one in capitals. `HTTP_PROXY` is not
  /// read: a web server sets it for its scripts from a header of the request. (CVE-2016-5385)
  ///
  /// - Throws: ``ProxyError`` when a variable that is set names no proxy.
  package init(environment variables: [String: String]) throws(ProxyError) {
    http = try Self.proxy(variables, ["http_proxy", "all_proxy", "ALL_PROXY"])
    https = try Self.proxy(variables, ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])
    exceptions = ProxyExceptions(Self.noProxy(variables))
  }

  /// The proxy for a URL; nil goes direct.
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
    _ names: [String]
  ) throws(ProxyError) -> Proxy? {
    for name in names {
      guard let text = variables[name], !text.isEmpty else { continue }
      do {
        return try Proxy(parsing: text)
      } catch {
        throw ProxyError("the variable \(name) names none: \(error.description)")
      }
    }
    return nil
  }
}

/// Hosts that are reached without a proxy, in the words of `no_proxy`.
///
/// A list of names and addresses with commas or white space between: a name stands for itself and everything below
/// it, an address may end with a slash and the bits that count, and a star alone stands for every host.
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

  /// Whether a host, as a ``WebURL`` has it, needs no proxy.
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
  /// Whether the first bits of both are the same.
  fileprivate func shares(bits: Int, with other: IPAddress) -> Bool {
    guard bytes.count == other.bytes.count else { return false }
    return (0..<bits).allSatisfy { bit in
      let mask: UInt8 = 0x80 >> UInt8(bit % 8)
      return bytes[bit / 8] & mask == other.bytes[bit / 8] & mask
    }
  }
}
