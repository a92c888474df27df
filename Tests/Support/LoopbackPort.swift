import Glibc

/// A socket bound to a port that stays reserved while the socket is open.
struct LoopbackPort {
  let descriptor: Int32
  let number: UInt16

  /// Binds a new socket that does not listen yet; the caller closes it.
  ///
  /// - Parameters:
  ///   - host: A loopback address, IPv4 or IPv6.
  ///   - port: The port; 0 takes a free one.
  /// - Throws: ``NoPort`` if the port is in use.
  init(_ host: String = "127.0.0.1", port: Int = 0) throws(NoPort) {
    let isIPv6 = host.contains(":")
    descriptor = socket(
      isIPv6 ? AF_INET6 : AF_INET,
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue),
      0
    )
    var address = sockaddr_in6()
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    if isIPv6 {
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = in_port_t(port).bigEndian
      inet_pton(AF_INET6, host, &address.sin6_addr)
    } else {
      var short = sockaddr_in()
      short.sin_family = sa_family_t(AF_INET)
      short.sin_port = in_port_t(port).bigEndian
      inet_pton(AF_INET, host, &short.sin_addr)
      size = socklen_t(MemoryLayout<sockaddr_in>.size)
      withUnsafeMutableBytes(of: &address) { $0.storeBytes(of: short, as: sockaddr_in.self) }
    }
    let bound = descriptor
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { address in
        bind(bound, address.baseAddress, size) == 0
          && getsockname(bound, address.baseAddress, &size) == 0
      }
    }
    // The port is at the same offset in both kinds of address.
    number = UInt16(bigEndian: address.sin6_port)
    guard isBound else {
      let code = errno
      close(bound)
      throw NoPort(code: code)
    }
  }

  struct NoPort: Error { let code: Int32 }
}
