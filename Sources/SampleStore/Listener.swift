import NIOCore
import NIOPosix
import Synchronization

/// Accepts connections on a port, on two threads of its own.
///
/// ``init(host:port:_:)`` and ``stop(_:)`` block their thread.
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
  func stop(_ connections: OpenConnections) {
    isStopped.withLock { isStopped in
      guard !isStopped else { return }
      isStopped = true
      server.close(promise: nil)
      connections.close()
    }
    // If another call has begun this, it waits for the same end.
    try? group.syncShutdownGracefully()
  }
}

/// The open connections of a store, which are closed when the store stops.
final class OpenConnections: Sendable {
  private struct Channels {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isClosed = false
  }

  private let state = Mutex(Channels())

  /// Registers a connection; returns false if the store has stopped.
  func add(_ channel: any Channel) -> Bool {
    state.withLock { state in
      if !state.isClosed { state.open[ObjectIdentifier(channel)] = channel }
      return !state.isClosed
    }
  }

  func remove(_ channel: any Channel) {
    state.withLock { $0.open[ObjectIdentifier(channel)] = nil }
  }

  /// Closes every connection, and refuses new ones.
  func close() {
    let open = state.withLock { state in
      state.isClosed = true
      defer { state.open = [:] }
      return Array(state.open.values)
    }
    for channel in open { channel.pipeline.fireUserInboundEventTriggered(SampleConnection.Stop()) }
  }
}
