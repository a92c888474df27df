import NIOCore
import NIOPosix
import Synchronization

/// Accepts connections on a port, on two threads of its own.
///
/// ``init(host:port:_:)`` and ``stop()`` block their thread.
final class Listener: Sendable {
  let port: Int
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  private let server: any Channel
  private let isStopped = Mutex(false)

  /// Binds the port.
  ///
  /// - Parameters:
  ///   - host: The address to listen on.
  ///   - port: The port. Pass 0 to use any free port.
  ///   - setUp: Adds the handlers of a new connection.
  /// - Throws: ``SampleError`` when the store cannot listen.
  init(
    host: String,
    port: Int,
    _ setUp: @escaping @Sendable (any Channel) throws -> Void
  ) throws(SampleError) {
    do {
      server = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try setUp(channel) }
        }
        .bind(host: host, port: port).wait()
    } catch {
      try? group.syncShutdownGracefully()
      throw SampleError(
        .listen,
        "listen on \(host):\(port)",
        (error as? IOError).map { SampleError.words(for: $0.errnoCode) } ?? "\(error)",
        "choose another port, or 0 for any"
      )
    }
    self.port = server.localAddress?.port ?? port
  }

  /// Closes the port and the connections, and waits until everything is closed.
  func stop() {
    isStopped.withLock { isStopped in
      if isStopped { return }
      isStopped = true
      try? server.close().wait()
      // A connection that is being accepted now passes from one thread to another and back. When it finds the port
      // closed, it is closed itself. The threads must not end before that.
      for _ in 1...2 { for loop in group.makeIterator() { try? loop.submit {}.wait() } }
    }
    // If another call has begun this, it waits for the same end.
    try? group.syncShutdownGracefully()
  }
}
