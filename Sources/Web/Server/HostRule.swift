import NIOCore

/// Which names of this server a request may use.
///
/// A page anywhere on the web can let a name of its own lead to this machine and have the visitor's browser ask
/// here under that name (DNS rebinding). Such a request names that host, and no other server would know it.
/// An address in digits cannot be rebound: it is taken when the connection came to it.
struct HostRule: Sendable {
  private let names: Set<String>
  private static let loopbackNames: Set<String> = ["localhost", "127.0.0.1", "::1"]

  /// A rule for the names that the user gave.
  init(names: [String]) {
    self.names = Set(names.map { $0.lowercased() })
  }

  /// Whether a `Host` field's value, or an authority, is of this server.
  ///
  /// - Parameters:
  ///   - authority: Host and port.
  ///   - local: The address that the connection came to.
  /// - Returns: Whether the request may be answered.
  func admits(_ authority: String, at local: SocketAddress?) -> Bool {
    guard let host = Self.host(of: authority) else { return false }
    if names.contains(host) { return true }
    guard let own = local?.ipAddress else { return false }
    if LoopbackAddress.isOne(own), Self.loopbackNames.contains(host) { return true }
    return host == own || "::ffff:" + host == own
  }

  /// The host of an authority in lower case, without port, brackets and the dot at its end; nil when it is malformed.
  private static func host(of authority: String) -> String? {
    let bytes = authority.utf8
    guard !bytes.isEmpty, bytes.count <= 261 else { return nil }
    var host: Substring
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[authority.index(after: authority.startIndex)..<end]
      rest = authority[authority.index(after: end)...]
    } else {
      let end = authority.firstIndex(of: ":") ?? authority.endIndex
      host = authority[..<end]
      rest = authority[end...]
      if host.hasSuffix(".") { host = host.dropLast() }
    }
    if !rest.isEmpty {
      guard rest.hasPrefix(":") else { return nil }
      rest = rest.dropFirst()
      guard rest.utf8.count <= 5, rest.utf8.allSatisfy({ (48...57).contains($0) }) else {
        return nil
      }
    }
    let isFit = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: ":"), UInt8(ascii: "_"):
        true
      default: false
      }
    }
    return host.isEmpty || !isFit ? nil : host.lowercased()
  }
}
