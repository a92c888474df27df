import Glibc

/// A port of this machine at which nobody listens and that nobody else is given, as long as this lives.
package final class ClosedPort: Sendable {
  private let port: LoopbackPort

  /// Binds a socket to it that never listens: whoever connects is refused.
  package init() throws {
    port = try LoopbackPort()
  }

  deinit { close(port.descriptor) }

  /// Its number.
  package var number: UInt16 { port.number }

  /// Where nobody answers.
  package var baseURL: String { "http://127.0.0.1:\(number)" }
}
