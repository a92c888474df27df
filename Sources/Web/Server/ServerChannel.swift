import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// How hummingbird's server sets up a connection.
///
/// Hummingbird's own HTTP channel writes bodies as buffers only. Here a part of a file is handed on as such, and NIO
/// has the kernel send it.
struct ServerChannel: ServerChildChannel {
  /// The connection, which runs by itself on its loop.
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
