import NIOCore
import NIOPosix
import SampleStore

/// A TLS server on a loopback port that forwards connections to a plain server on this machine.
package final class TLSFront: Sendable {
  /// The port.
  package let port: Int
  private let channel: any Channel

  /// Starts a front with a certificate chain that forwards to the port `target`.
  package init(chain: String, key: String, to target: Int) throws {
    let identity = try TLSIdentity(certificateFile: chain, keyFile: key)
    channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let handlers = channel.pipeline.syncOperations
          try handlers.addHandler(TLSHandler(identity))
          try handlers.addHandler(PassingHandler(to: target))
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = channel.localAddress?.port ?? 0
  }

  /// Stops accepting connections.
  package func close() { channel.close(promise: nil) }
}

/// Connects to the plain server and forwards the client's bytes.
private final class PassingHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let target: Int
  private var server: (any Channel)?
  private var waiting: [ByteBuffer] = []

  init(to target: Int) { self.target = target }

  func channelActive(context: ChannelHandlerContext) {
    let client = context.channel
    ClientBootstrap(group: context.eventLoop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(ReturningHandler(to: client))
        }
      }
      .connect(host: "127.0.0.1", port: target)
      .assumeIsolated()
      .whenComplete { [self] result in
        guard case .success(let channel) = result else { return client.close(promise: nil) }
        server = channel
        for piece in waiting { channel.writeAndFlush(piece, promise: nil) }
        waiting = []
      }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let piece = unwrapInboundIn(data)
    guard let server else { return waiting.append(piece) }
    server.writeAndFlush(piece, promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { server?.close(promise: nil) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    context.close(promise: nil)
  }
}

/// Forwards the plain server's bytes.
private final class ReturningHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let client: any Channel

  init(to client: any Channel) { self.client = client }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    client.writeAndFlush(unwrapInboundIn(data), promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) { client.close(promise: nil) }
}
