import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// How hummingbird's server sets up a connection to this store.
struct StoreChannel: ServerChildChannel {
  /// The connection, which runs by itself on its loop.
  struct Value: ServerChildChannelValue {
    let channel: any Channel
  }

  let origin: Origin

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder()))
      try pipeline.addHandler(StoreConnection(origin))
      return Value(channel: channel)
    }
  }

  func handle(value: Value, logger: Logger) async {
    try? await value.channel.closeFuture.get()
  }
}
