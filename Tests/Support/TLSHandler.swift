import CTLS
import NIOCore

/// A server's side of TLS between a connection and the handlers behind it.
package final class TLSHandler: ChannelDuplexHandler {
  package typealias InboundIn = ByteBuffer
  package typealias InboundOut = ByteBuffer
  package typealias OutboundIn = ByteBuffer
  package typealias OutboundOut = ByteBuffer

  /// The session; nil if there was no memory for it.
  private let session: OpaquePointer?
  /// Whether no more bytes are decrypted, because one side ended TLS.
  private var isOver = false

  /// The largest number of bytes in a record of TLS.
  private static let record = 16 << 10
  /// The time that the client has to close the connection after `close_notify`.
  ///
  /// A client that does not answer must not delay the stop of a server.
  private static let patience = TimeAmount.milliseconds(100)

  /// Begins the session of a connection.
  package init(_ identity: TLSIdentity) {
    session = ctls_begin(identity.context)
  }

  deinit {
    if let session { ctls_end(session) }
  }

  /// Decrypts bytes for the next handler.
  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard let session, !isOver else { return }
    unwrapInboundIn(data).withUnsafeReadableBytes {
      ctls_receive(session, $0.baseAddress, $0.count)
    }
    var count = 1
    while count > 0, !isOver {
      var plain = context.channel.allocator.buffer(capacity: Self.record)
      plain.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.record) { room in
        count = room.baseAddress.map { ctls_read(session, $0, Self.record) } ?? 0
        return max(0, count)
      }
      if count > 0 { context.fireChannelRead(wrapInboundOut(plain)) }
    }
    if count < 0 { return close(context: context, mode: .all, promise: nil) }
    // The messages of the handshake.
    if ctls_pending(session) > 0 {
      context.writeAndFlush(wrapOutboundOut(sealed(context)), promise: nil)
    }
  }

  /// Encrypts bytes of the next handler.
  package func write(
    context: ChannelHandlerContext,
    data: NIOAny,
    promise: EventLoopPromise<Void>?
  ) {
    let isWritten = unwrapOutboundIn(data).withUnsafeReadableBytes { bytes in
      session.map { !isOver && ctls_write($0, bytes.baseAddress, bytes.count) } ?? false
    }
    guard isWritten else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    context.write(wrapOutboundOut(sealed(context)), promise: promise)
  }

  /// Sends `close_notify` after the bytes written before, then closes the connection.
  package func close(
    context: ChannelHandlerContext,
    mode: CloseMode,
    promise: EventLoopPromise<Void>?
  ) {
    guard let session, mode != .input else { return context.close(mode: mode, promise: promise) }
    if isOver { return context.close(mode: mode, promise: promise) }
    isOver = true
    ctls_close(session)
    let sent = context.eventLoop.makePromise(of: Void.self)
    let loop = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(sealed(context)), promise: sent)
    sent.futureResult.assumeIsolated().whenComplete { _ in
      let context = loop.value
      // If the socket were closed while bytes of the client are unread, the kernel would discard the bytes to it.
      context.close(mode: .output, promise: nil)
      context.eventLoop.assumeIsolated().scheduleTask(in: Self.patience) {
        context.close(mode: mode, promise: promise)
      }
    }
  }

  private func sealed(_ context: ChannelHandlerContext) -> ByteBuffer {
    guard let session else { return ByteBuffer() }
    let count = ctls_pending(session)
    var buffer = context.channel.allocator.buffer(capacity: count)
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
      room.baseAddress.map { ctls_take(session, $0, count) } ?? 0
    }
    return buffer
  }
}
