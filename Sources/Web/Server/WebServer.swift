import Base
import Cache
import Catalog
import Glibc
import Imaging
import NIOCore
import NIOHTTP1
import NIOPosix
import Pipeline
import Synchronization

/// The HTTP server of `larder serve`, which runs on threads of its own.
///
/// It uses SwiftNIO directly, so that parts of files can be sent with `sendfile`.
package final class WebServer: Sendable {
  /// The server's URL, such as `http://127.0.0.1:8080`.
  package let url: String
  /// The address that the server listens on, such as `127.0.0.1`.
  package let address: String

  /// Whether only this machine can reach the server.
  package var isLoopback: Bool { LoopbackAddress.isOne(address) }

  private let group: MultiThreadedEventLoopGroup
  private let listener: any Channel
  private let site: Site
  /// The connections of each event loop.
  private let loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>]

  /// Starts a server; it accepts connections when this returns.
  ///
  /// It blocks until the server listens, so never call it on an event loop.
  ///
  /// - Parameters:
  ///   - content: The content to serve.
  ///   - bind: The address or host name to listen on.
  ///   - port: The port. Pass 0 to use any free port.
  ///   - hosts: Additional names of this server. The address to which a client connects is always accepted, and so are
  ///     loopback names on a loopback connection.
  ///   - limits: The limits for clients.
  /// - Throws: ``LarderError`` when the server cannot listen.
  package init(
    _ content: ServerContent,
    bind: String,
    port: Int,
    hosts: [String] = [],
    limits: ServerLimits = ServerLimits()
  ) throws(LarderError) {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: min(4, System.coreCount))
    let site = Site(content, hosts: hosts, limits: limits)
    var loops: [ObjectIdentifier: NIOLoopBound<LoopConnections>] = [:]
    for loop in group.makeIterator() {
      loops[ObjectIdentifier(loop)] = try? loop.submit {
        LoopConnections.start(site.connections, limits, on: loop)
      }.wait()
    }
    do {
      listener = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .childChannelInitializer { [loops] channel in
          channel.eventLoop.makeCompletedFuture {
            try Self.setUp(channel, site, loops[ObjectIdentifier(channel.eventLoop)])
          }
        }
        .bind(host: bind, port: port).wait()
    } catch {
      try? group.syncShutdownGracefully()
      switch error {
      case let error as IOError: throw LarderError(bind: bind, port: port, error.errnoCode)
      case is SocketAddressError.UnknownHost: throw LarderError(unknownHost: bind)
      default: throw LarderError(bind: bind, port: port, cause: "\(error)")
      }
    }
    let address = listener.localAddress?.ipAddress ?? bind
    let host = address.contains(":") ? "[\(address)]" : address
    url = "http://\(host):\(listener.localAddress?.port ?? port)"
    (self.group, self.site, self.loops, self.address) = (group, site, loops, address)
  }

  /// Adds the handlers of a new connection.
  private static func setUp(
    _ channel: any Channel,
    _ site: Site,
    _ connections: NIOLoopBound<LoopConnections>?
  ) throws {
    guard let connections else { throw ChannelError.operationUnsupported }
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
  }

  /// Stops the server: accepts no new connections, and closes idle ones.
  ///
  /// A connection that is not idle is closed when its answer is sent, or after ``ServerLimits/stopTime``. The call
  /// blocks until then, so never make it on an event loop.
  package func stop() {
    site.stop()
    try? listener.close().wait()
    let overtime = group.next().scheduleTask(in: TimeAmount(site.limits.stopTime)) { [loops] in
      for connections in loops.values {
        connections.eventLoop.execute { connections.value.shutAll() }
      }
    }
    let drained = loops.values.map { connections in
      connections.eventLoop.flatSubmit { connections.value.drain() }
    }
    for loop in drained { try? loop.wait() }
    overtime.cancel()
    site.finish()
    try? group.syncShutdownGracefully()
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

/// The content that a server serves.
package struct ServerContent: Sendable {
  /// The cache's path.
  let cache: String
  /// The object store with the pictures; nil if they are in the cache's folder.
  let remote: (any RemotePictures)?
  let catalog: OpenCatalog
  /// The sides of the square pictures that clients can request, in pixels.
  let squares: [Int]
  /// Decides in which process squares are made.
  let pictures: any PictureWorking
  /// The path of the order database; nil if the web store takes no orders.
  let orders: String?
  /// The highest total of an order; nil if there is no limit.
  let budget: Price?
  /// Fetches pictures that the cache lacks; nil if the server fetches no pictures.
  let pulls: PullThrough?
  /// The working folder, where fetched pictures wait until the cache can be changed.
  let room: ServingFolder?
  /// The reason why missing pictures cannot be fetched; nil if they can be fetched, or if the user turned fetching off.
  package let obstacle: LarderError?
  /// The wall clock.
  let clock: @Sendable () -> UnixTime
  /// Called after each answered request.
  let log: @Sendable (RequestRecord) -> Void

  /// Makes the object that fetches pictures into the working folder at a path.
  package typealias PullFactory = (_ room: String) -> PicturePull

  /// Assembles the content of a server.
  ///
  /// - Parameters:
  ///   - cache: The cache's path.
  ///   - remote: The object store with the pictures; nil if they are in the cache's folder.
  ///   - catalog: The catalog.
  ///   - squares: The sides of the square pictures that clients can request, in pixels.
  ///   - pictures: Decides in which process squares are made.
  ///   - clock: The wall clock.
  ///   - pulling: Makes the object that fetches missing pictures. Pass nil to serve only pictures that are in the
  ///     cache.
  ///   - orders: The path of the order database; nil if the web store takes no orders.
  ///   - budget: The highest total of an order; nil if there is no limit.
  ///   - log: Called after each answered request. It is called on an event loop, so it must not block.
  package init(
    cache: String,
    remote: (any RemotePictures)? = nil,
    catalog: OpenCatalog,
    squares: [Int],
    pictures: any PictureWorking = PicturesHere(),
    clock: @escaping @Sendable () -> UnixTime,
    pulling: PullFactory? = nil,
    orders: String? = nil,
    budget: Price? = nil,
    log: @escaping @Sendable (RequestRecord) -> Void = { _ in }
  ) {
    (self.cache, self.remote, self.catalog) = (cache, remote, catalog)
    (self.squares, self.pictures) = (squares, pictures)
    (self.orders, self.budget) = (orders, budget)
    (self.clock, self.log) = (clock, log)
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
  /// The maximum number of requests a second from one address other than loopback; nil if there is no limit.
  ///
  /// It does not apply if ``perAnyClient`` is set.
  package var perClient: Double? = 200
  /// The maximum number of requests a second from one address, loopback included; nil if ``perClient`` applies instead.
  package var perAnyClient: Double?
  /// The time in which a request must arrive completely.
  package var requestTime = Duration.seconds(15)
  /// The time after which a connection without a request is closed.
  package var idleTime = Duration.seconds(60)
  /// The time in which a client must take the next piece of its answer.
  package var answerTime = Duration.seconds(30)
  /// The time that unfinished answers get when the server stops.
  package var stopTime = Duration.seconds(10)
  /// The largest body of a POST, in bytes.
  package var body = 64 << 10
  /// The largest head of a request, in bytes.
  ///
  /// A single header field can have half of this size.
  package var head = 32 << 10

  /// Creates the default limits.
  package init() {}
}
