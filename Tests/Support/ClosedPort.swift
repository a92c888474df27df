import Glibc

/// A port that refuses connections and stays reserved as long as this object lives.
package final class ClosedPort: Sendable {
  private let port: LoopbackPort

  /// Binds a socket that never listens, so connections are refused.
  package init() throws {
    port = try LoopbackPort()
  }

  deinit { close(port.descriptor) }

  /// The port's number.
  package var number: UInt16 { port.number }

  /// A URL with this port.
  package var baseURL: String { "http://127.0.0.1:\(number)" }
}
