import Base
import Cache
import Catalog
import Glibc
import Imaging
import NIOCore
import NIOHTTP1
import NIOPosix
import Pipeline

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

  /// Starts a server; it accepts connections when this returns.
  ///
  /// Blocks.
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
    // If the server listens on all addresses, it prints `0.0.0.0` or `::` as its address.
    let isOpen = ["0.0.0.0", "::"].contains(bind)
    let site = Site(content, hosts: isOpen ? hosts + [bind] : hosts, limits: limits)
    do {
      listener = try ServerBootstrap(group: group)
        .serverChannelOption(.backlog, value: 1024)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try Self.setUp(channel, site) }
        }
        .bind(host: bind, port: port).wait()
    } catch {
      try? group.syncShutdownGracefully()
      throw Self.failure(error, bind, port)
    }
    group.next().scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      site.connections.sweep()
    }
    address = listener.localAddress?.ipAddress ?? bind
    let host = address.contains(":") ? "[\(address)]" : address
    url = "http://\(host):\(listener.localAddress?.port ?? port)"
    (self.group, self.site) = (group, site)
  }

  /// Adds the handlers of a new connection.
  private static func setUp(_ channel: any Channel, _ site: Site) throws {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = site.limits.head / 2
    limits.maxHeaderListSize = site.limits.head
    limits.maxHeaderFieldCount = 100
    let decoder = HTTPRequestDecoder(
      leftOverBytesStrategy: .dropBytes,
      limitConfiguration: limits
    )
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HTTPResponseEncoder())
    try pipeline.addHandler(ByteToMessageHandler(decoder, maximumBufferSize: site.limits.head))
    try pipeline.addHandler(HTTPServerPipelineHandler())
    try pipeline.addHandler(ServerConnection(site, channel))
  }

  private static func failure(_ error: any Error, _ bind: String, _ port: Int) -> LarderError {
    let anotherPort = "choose another port, or 0 for any that is free"
    let ownAddress = "name an address of this machine, such as 127.0.0.1"
    let (place, cause, advice) =
      switch error {
      case let error as IOError:
        (
          "\(bind):\(port)", systemMessage(error.errnoCode),
          error.errnoCode == EADDRNOTAVAIL ? ownAddress : anotherPort
        )
      case is SocketAddressError.UnknownHost: (bind, "no such host", ownAddress)
      default: ("\(bind):\(port)", "\(error)", anotherPort)
      }
    return LarderError(.failed, "cannot listen on \(place): \(cause); \(advice)")
  }

  /// Stops the server: accepts no new connections, and closes idle ones; blocks.
  ///
  /// A connection that is not idle is closed when its answer is sent, or after ``ServerLimits/stopTime``.
  package func stop() {
    try? listener.close().wait()
    site.stop()
    try? group.syncShutdownGracefully()
  }
}

/// The content that a server serves.
package struct ServerContent: Sendable {
  /// The cache's path.
  let cache: String
  let catalog: OpenCatalog
  /// The wall clock.
  let clock: @Sendable () -> UnixTime
  /// The object store with the pictures; nil if they are in the cache's folder.
  package var remote: (any RemotePictures)?
  /// The sides of the square pictures that clients can request, in pixels.
  package var squares: [Int] = []
  /// Decides in which process squares are made.
  package var pictures: any PictureWorking = PicturesHere()
  /// The path of the order database; nil if the web store takes no orders.
  package var orders: String?
  /// The highest total of an order; nil if there is no limit.
  package var budget: Price?
  /// Fetches pictures that the cache lacks; nil if the server fetches no pictures.
  private(set) var pulls: PullThrough?
  /// Called after each answered request, on an event loop, so it must not block.
  package var log: @Sendable (RequestRecord) -> Void = { _ in }

  /// Creates the content of a server without squares, orders and a log, which serves only pictures that the cache has.
  package init(cache: String, catalog: OpenCatalog, clock: @escaping @Sendable () -> UnixTime) {
    (self.cache, self.catalog, self.clock) = (cache, catalog, clock)
  }

  /// Lets the server fetch pictures that the cache lacks; set ``remote`` before.
  ///
  /// - Parameter pull: Makes the object that fetches pictures into the working folder at a path.
  /// - Throws: ``LarderError`` when the working folder cannot be made.
  package mutating func fetchMissing(by pull: (_ room: String) -> PicturePull) throws(LarderError)
  {
    let room = try ServingFolder(in: cache)
    pulls = PullThrough(cache, remote: remote, room: room, pull: pull(room.path), now: clock)
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
