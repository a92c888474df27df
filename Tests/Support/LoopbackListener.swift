import Glibc
import Synchronization

/// Accepts connections on a loopback port and serves each on its own thread.
package final class LoopbackListener: Sendable {
  private struct State {
    var open: Set<Int32> = []
    var accepted = 0
    var isClosed = false
  }

  /// The port.
  package let port: Int
  private let listener: Int32
  private let state = Mutex(State())

  /// Listens on a loopback address; connections are served after ``start(_:)``.
  ///
  /// - Parameters:
  ///   - host: The address, IPv4 or IPv6.
  ///   - port: The port; 0 takes a free one.
  /// - Throws: ``LoopbackPort/NoPort`` if the port is in use.
  package init(on host: String = "127.0.0.1", port: Int = 0) throws {
    let bound = try LoopbackPort(host, port: port)
    guard listen(bound.descriptor, 128) == 0 else { fatalError("cannot listen") }
    listener = bound.descriptor
    self.port = Int(bound.number)
  }

  /// The number of connections so far.
  package var connections: Int { state.withLock { $0.accepted } }

  /// Passes each connection, numbered from 1, to `serve` and closes it afterwards.
  package func start(_ serve: @escaping @Sendable (_ connection: Int32, _ number: Int) -> Void) {
    startThread { [self] in
      while let (connection, number) = next() {
        startThread { [self] in
          serve(connection, number)
          state.withLock { _ = $0.open.remove(connection) }
          Glibc.close(connection)
        }
      }
      Glibc.close(listener)
    }
  }

  /// Stops all threads; call it at the end of the test.
  package func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      Glibc.shutdown(listener, Int32(SHUT_RDWR))
      for connection in state.open { Glibc.shutdown(connection, Int32(SHUT_RDWR)) }
    }
  }

  /// Waits for the next connection; nil after the listener is closed.
  private func next() -> (connection: Int32, number: Int)? {
    let connection = accept(listener, nil, nil)
    guard connection >= 0 else { return nil }
    let number: Int? = state.withLock { state in
      guard !state.isClosed else { return nil }
      state.open.insert(connection)
      state.accepted += 1
      return state.accepted
    }
    guard let number else {
      Glibc.close(connection)
      return nil
    }
    return (connection, number)
  }
}

/// Sends all of the bytes; false if the client is gone.
func send(all bytes: [UInt8], to connection: Int32) -> Bool {
  var sent = 0
  while sent < bytes.count {
    let count = bytes.withUnsafeBytes {
      Glibc.send(
        connection,
        $0.baseAddress.map { $0 + sent },
        bytes.count - sent,
        Int32(MSG_NOSIGNAL)
      )
    }
    guard count > 0 else { return false }
    sent += count
  }
  return true
}
