import Glibc

/// A socket bound to a port of this machine that nobody else is given as long as it is open.
struct LoopbackPort {
  let descriptor: Int32
  let number: UInt16

  /// Binds a new socket, which does not listen yet; whoever makes it closes it.
  init() throws(NoPort) {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = descriptor
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { address in
        bind(bound, address.baseAddress, size) == 0
          && getsockname(bound, address.baseAddress, &size) == 0
      }
    }
    number = UInt16(bigEndian: address.sin_port)
    guard isBound else {
      let code = errno
      close(bound)
      throw NoPort(code: code)
    }
  }

  struct NoPort: Error { let code: Int32 }
}
