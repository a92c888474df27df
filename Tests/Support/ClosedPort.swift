import Glibc

/// A port of this machine at which nobody listens and that nobody else is given, as long as this lives.
package final class ClosedPort: Sendable {
  /// Its number.
  package let number: UInt16
  private let descriptor: Int32

  /// Binds a socket to it that never listens: whoever connects is refused.
  package init() throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isBound = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { address in
        bind(bound, address.baseAddress, size) == 0
          && getsockname(bound, address.baseAddress, &size) == 0
      }
    }
    descriptor = bound
    number = UInt16(bigEndian: address.sin_port)
    guard isBound else { throw NoPort(code: errno) }
  }

  deinit { close(descriptor) }

  /// Where nobody answers.
  package var baseURL: String { "http://127.0.0.1:\(number)" }

  struct NoPort: Error { let code: Int32 }
}
