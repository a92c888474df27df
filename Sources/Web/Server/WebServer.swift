import Glibc
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Transport

/// The server: hummingbird's, on threads of its own.
package final class WebServer: Sendable {
  /// Where it listens, such as `http://127.0.0.1:8080`.
  package let url: String
  /// The address that it is bound to.
  package let address: String
  /// The port that it listens on.
  package let port: Int

  /// Whether only this machine can reach it.
  package var isLoopback: Bool { LoopbackAddress.isOne(address) }

  private let group: MultiThreadedEventLoopGroup
  private let server: Server<ServerChannel>
  private let running: Task<Void, any Error>
  private let site: Site
  private let loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>]

  /// Starts a server; it accepts connections when this returns.
  ///
  /// - Parameters:
  ///   - content: What it serves.
  ///   - bind: The address to listen on, or a name of one.
  ///   - port: The port, 0 for any that is free.
  ///   - hosts: Names of this server besides those of loopback and the address that a connection comes to.
  ///   - limits: How much a client may have.
  ///   - threads: How many event loops.
  /// - Throws: ``ServerError`` when it cannot listen.
  package init(
    _ content: ServerContent,
    bind: String,
    port: Int,
    hosts: [String] = [],
    limits: ServerLimits = ServerLimits(),
    threads: Int = min(4, System.coreCount)
  ) async throws(ServerError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, threads))
    let shared = LoopConnections.Shared(content.clock)
    let site = Site(content, hosts: hosts, limits: limits)
    var loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>] = [:]
    for loop in group.makeIterator() {
      loops[ObjectIdentifier(loop)] = try? await loop.submit {
        LoopConnections.start(shared, limits, on: loop)
      }.get()
    }
    site.metrics.connections = { shared.count.load(ordering: .relaxed) }
    let bound = AsyncStream<any Channel>.makeStream()
    let server = Server(
      childChannelSetup: ServerChannel(site: site, loops: loops),
      configuration: ServerConfiguration(address: .hostname(bind, port: port), backlog: 1024),
      onServerRunning: { channel in
        bound.continuation.yield(channel)
        bound.continuation.finish()
      },
      eventLoopGroup: group,
      logger: Logger(label: "larder.web") { _ in SwiftLogNoOpLogHandler() }
    )
    let running = Task {
      defer { bound.continuation.finish() }
      try await server.run()
    }
    var channel: (any Channel)?
    for await listening in bound.stream { channel = listening }
    guard let local = channel?.localAddress, let port = local.port, let address = local.ipAddress
    else {
      let refusal =
        switch await running.result {
        case .success: ServerError(bind: bind, port: port, cause: "it closed at once")
        case .failure(let error as IOError): ServerError(bind: bind, port: port, error.errnoCode)
        case .failure(is SocketAddressError.UnknownHost): ServerError(unknownHost: bind)
        case .failure(let error): ServerError(bind: bind, port: port, cause: "\(error)")
        }
      try? await group.shutdownGracefully()
      throw refusal
    }
    (self.group, self.server, self.running) = (group, server, running)
    (self.site, self.loops) = (site, loops)
    (self.address, self.port) = (address, port)
    url = "http://\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }

  /// Stops: takes no new connection, closes the idle ones, and the others as soon as their answers are sent or their
  /// time is over.
  package func stop() async {
    site.stop()
    let overtime = group.next().scheduleTask(in: TimeAmount(site.limits.stopTime)) { [loops] in
      for connections in loops.values {
        connections.eventLoop.execute { connections.value.shutAll() }
      }
    }
    try? await server.shutdownGracefully()
    _ = await running.result
    overtime.cancel()
    site.finish()
    try? await group.shutdownGracefully()
  }
}

/// Why a server cannot listen.
package struct ServerError: Error, CustomStringConvertible {
  /// What went wrong and what to do.
  package let description: String

  init(bind: String, port: Int, cause: String) {
    description =
      "cannot listen on \(bind):\(port): \(cause); choose another port, or 0 for any that is free"
  }

  init(bind: String, port: Int, _ code: Int32) {
    let advice =
      code == EADDRNOTAVAIL
      ? "name an address of this machine, such as 127.0.0.1"
      : "choose another port, or 0 for any that is free"
    description = "cannot listen on \(bind):\(port): \(systemWords(code)); \(advice)"
  }

  init(unknownHost bind: String) {
    description =
      "cannot listen on \(bind): no such host; name an address of this machine, such as 127.0.0.1"
  }
}
