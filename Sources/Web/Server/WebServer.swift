import Base
import Cache
import Glibc
import HummingbirdCore
import Imaging
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Pipeline
import Synchronization

/// The HTTP server of `larder serve`: hummingbird's, on its own threads.
package final class WebServer: Sendable {
  /// The server's URL, such as `http://127.0.0.1:8080`.
  package let url: String
  /// The address that the server is bound to.
  package let address: String
  /// The port that the server listens on.
  package let port: Int

  /// Whether only this machine can reach the server.
  package var isLoopback: Bool { LoopbackAddress.isOne(address) }

  private let group: MultiThreadedEventLoopGroup
  private let server: Server<ServerChannel>
  private let running: Task<Void, any Error>
  private let site: Site
  private let loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>]

  /// Starts a server; it accepts connections when this returns.
  ///
  /// - Parameters:
  ///   - content: The content to serve.
  ///   - bind: The address or host name to listen on.
  ///   - port: The port; 0 for any free one.
  ///   - hosts: Further names of this server. The address to which a client connects is always accepted, and so are
  ///     loopback names on a loopback connection.
  ///   - limits: The limits for clients.
  ///   - threads: The number of event loops.
  /// - Throws: ``LarderError`` when the server cannot listen.
  package init(
    _ content: ServerContent,
    bind: String,
    port: Int,
    hosts: [String] = [],
    limits: ServerLimits = ServerLimits(),
    threads: Int = min(4, System.coreCount)
  ) async throws(LarderError) {
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
        case .success: LarderError(bind: bind, port: port, cause: "it closed at once")
        case .failure(let error as IOError): LarderError(bind: bind, port: port, error.errnoCode)
        case .failure(is SocketAddressError.UnknownHost): LarderError(unknownHost: bind)
        case .failure(let error): LarderError(bind: bind, port: port, cause: "\(error)")
        }
      try? await group.shutdownGracefully()
      throw refusal
    }
    (self.group, self.server, self.running) = (group, server, running)
    (self.site, self.loops) = (site, loops)
    (self.address, self.port) = (address, port)
    url = "http://\(address.contains(":") ? "[\(address)]" : address):\(port)"
  }

  /// Stops the server: accepts no new connections, and closes idle ones.
  ///
  /// A connection that is not idle is closed when its answer is sent, or after ``ServerLimits/stopTime``.
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

extension LarderError {
  fileprivate init(bind: String, port: Int, cause: String) {
    let advice = "choose another port, or 0 for any that is free"
    self.init(.failed, "cannot listen on \(bind):\(port): \(cause); \(advice)")
  }

  fileprivate init(bind: String, port: Int, _ code: Int32) {
    let advice =
      code == EADDRNOTAVAIL
      ? "name an address of this machine, such as 127.0.0.1"
      : "choose another port, or 0 for any that is free"
    self.init(.failed, "cannot listen on \(bind):\(port): \(systemMessage(code)); \(advice)")
  }

  fileprivate init(unknownHost bind: String) {
    self.init(
      .failed,
      "cannot listen on \(bind): no such host; name an address of this machine, such as 127.0.0.1"
    )
  }
}

/// Sets up each connection of hummingbird's server.
///
/// Hummingbird's own HTTP channel writes bodies only from memory. This channel passes on parts of files, which NIO
/// sends with `sendfile`.
struct ServerChannel: ServerChildChannel {
  /// The connection, which runs on its event loop without further calls.
  struct Value: ServerChildChannelValue {
    let channel: any Channel
  }

  let site: Site
  let loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>]

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      guard let connections = loops[ObjectIdentifier(channel.eventLoop)] else {
        throw ChannelError.operationUnsupported
      }
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = site.limits.head / 2
      limits.maxHeaderListSize = site.limits.head
      limits.maxHeaderFieldCount = 100
      let pipeline = channel.pipeline.syncOperations
      let decoder = HTTPRequestDecoder(
        leftOverBytesStrategy: .dropBytes,
        limitConfiguration: limits
      )
      try pipeline.addHandler(ByteToMessageHandler(decoder))
      try pipeline.addHandler(ServerConnection(site, connections.value))
      return Value(channel: channel)
    }
  }

  func handle(value: Value, logger: Logger) async {
    try? await value.channel.closeFuture.get()
  }
}

/// The content that a server serves.
package struct ServerContent: Sendable {
  /// The cache's path.
  let cache: String
  /// The object store with the pictures; nil when they are in the cache's folder.
  let remote: (any RemotePictures)?
  /// The catalog.
  let shelf: OpenCatalog
  /// The available sizes of squares, in pixels a side.
  let squares: [Int]
  /// Decides in which process squares are made.
  let pictures: any PictureWorking
  /// The pages; nil for none.
  let pages: PageSource?
  /// Fetches missing pictures; nil to fetch none.
  let pulls: PullThrough?
  /// The working folder, where fetched pictures wait until the cache can be changed.
  let room: ServingFolder?
  /// The reason why missing pictures cannot be fetched; nil when they can be fetched, or when the user has turned that
  /// off.
  package let obstacle: LarderError?
  /// The wall clock.
  let clock: @Sendable () -> UnixTime
  /// Called after each answered request.
  let log: @Sendable (RequestRecord) -> Void

  /// Makes the fetcher of pictures, given its working folder.
  package typealias PullFactory = (_ room: String) -> PicturePull

  /// Assembles the content of a server.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - remote: The object store with the pictures; nil when they are in the cache's folder.
  ///   - shelf: The catalog.
  ///   - squares: The available sizes of squares, in pixels a side.
  ///   - pictures: Decides in which process squares are made.
  ///   - clock: The wall clock.
  ///   - pulling: Makes the fetcher of missing pictures; nil to serve only pictures that are in the cache.
  ///   - pages: Answers requests for pages; returns nil for other paths.
  ///   - log: Called after each answered request, on an event loop, so it must not block.
  package init(
    cache: String,
    remote: (any RemotePictures)? = nil,
    shelf: OpenCatalog,
    squares: [Int],
    pictures: any PictureWorking = PicturesHere(),
    clock: @escaping @Sendable () -> UnixTime,
    pulling: PullFactory? = nil,
    pages: (@Sendable (StorefrontExchange) async -> StorefrontAnswer?)? = nil,
    log: @escaping @Sendable (RequestRecord) -> Void = { _ in }
  ) {
    (self.cache, self.remote) = (cache, remote)
    self.shelf = shelf
    (self.squares, self.pictures) = (squares, pictures)
    self.pages = pages.map { PageSource($0, clock: clock) }
    self.clock = clock
    self.log = log
    guard let pulling else {
      (pulls, room, obstacle) = (nil, nil, nil)
      return
    }
    do throws(LarderError) {
      let room = try ServingFolder(in: cache)
      pulls = PullThrough(cache, remote: remote, room: room, pull: pulling(room.path), now: clock)
      (self.room, obstacle) = (room, nil)
    } catch {
      (pulls, room, obstacle) = (nil, nil, error)
    }
  }
}

/// Limits for clients: connections, rates, times and sizes.
package struct ServerLimits: Sendable {
  /// The maximum number of open connections.
  ///
  /// Beyond that, a new connection replaces the connection that has waited longest for a request.
  package var connections = 4096
  /// The maximum number of requests a second from one address other than loopback; nil for no limit.
  package var perClient: Double? = 200
  /// The maximum number of requests a second from one address, loopback included; nil to use ``perClient``.
  package var perAnyClient: Double?
  /// The time in which a request must arrive.
  package var requestTime = Duration.seconds(15)
  /// The time after which a connection without a request is closed.
  package var idleTime = Duration.seconds(60)
  /// The time after which a client that does not read its answer is disconnected.
  package var answerTime = Duration.seconds(30)
  /// The time for unfinished answers when the server stops.
  package var stopTime = Duration.seconds(10)
  /// The largest body of a POST, in bytes.
  package var body = 64 << 10
  /// The largest head of a request, in bytes.
  package var head = 32 << 10

  /// The ordinary limits.
  package init() {}
}
