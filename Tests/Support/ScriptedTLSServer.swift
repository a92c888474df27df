import NIOCore
import NIOPosix
import SampleStore
import Synchronization

/// A loopback TLS server that sends exactly the bytes of its script.
///
/// With the protocol `h2` it answers SETTINGS but no pings; the script sends the frames.
package final class ScriptedTLSServer: Sendable {
  /// One action after a request was received.
  package enum Action: Sendable {
    /// Send these bytes.
    case bytes([UInt8])
    /// Send these bytes repeatedly until the client closes the connection.
    case flood([UInt8])
    /// Send close_notify and close the connection.
    case close
    /// Close the connection without close_notify.
    case cut
    /// Signal the test after the earlier actions are written.
    case signal(Semaphore)
    /// Close the connection with a reset.
    case reset
  }

  /// A request: its number on the server, and its HTTP/2 stream.
  package struct Received: Sendable {
    package let number: Int
    package let stream: Int32
    package let bytes: [UInt8]
  }

  package let port: Int
  private let channel: any Channel
  private let count = Mutex(0)
  private let accepted = Counter()

  private final class Counter: Sendable {
    let value = Atomic<Int>(0)
  }

  /// Starts a server with a certificate chain and one protocol, `h2` or `http/1.1`.
  package init(
    chain: String,
    key: String,
    speaking name: String = "http/1.1",
    _ script: @escaping @Sendable (Received) -> [Action]
  ) throws {
    let identity = try TLSIdentity(certificateFile: chain, keyFile: key, isHTTP2: name == "h2")
    let made = Mutex<ScriptedTLSServer?>(nil)
    let accepted = accepted
    channel = try ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        accepted.value.add(1, ordering: .relaxed)
        return channel.eventLoop.makeCompletedFuture {
          let handlers = channel.pipeline.syncOperations
          try handlers.addHandler(TLSHandler(identity))
          try handlers.addHandler(
            ScriptHandler(name == "h2") { stream, bytes in
              guard let server = made.withLock({ $0 }) else { return [.cut] }
              return script(
                Received(number: server.next(), stream: stream, bytes: bytes)
              )
            }
          )
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = channel.localAddress?.port ?? 0
    made.withLock { $0 = self }
    let forget = channel.closeFuture
    forget.whenComplete { _ in made.withLock { $0 = nil } }
  }

  /// The number of requests so far.
  package var requests: Int { count.withLock { $0 } }

  /// The number of connections so far.
  package var connections: Int { accepted.value.load(ordering: .relaxed) }

  /// Stops accepting connections.
  package func close() {
    channel.close(promise: nil)
  }

  private func next() -> Int {
    count.withLock { count in
      defer { count += 1 }
      return count
    }
  }
}

/// Finds the requests in a connection's bytes and performs the script's actions.
private final class ScriptHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private static let preface = 24

  private let isHTTP2: Bool
  private let script: (Int32, [UInt8]) -> [ScriptedTLSServer.Action]
  private var received: [UInt8] = []
  private var hasPreface = false

  init(_ isHTTP2: Bool, _ script: @escaping (Int32, [UInt8]) -> [ScriptedTLSServer.Action]) {
    self.isHTTP2 = isHTTP2
    self.script = script
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    received += Array(unwrapInboundIn(data).readableBytesView)
    while let request = isHTTP2 ? nextStream(context) : nextHead() {
      for action in script(request.stream, request.bytes) { act(action, context) }
    }
  }

  private func nextHead() -> (stream: Int32, bytes: [UInt8])? {
    guard let end = received.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
    defer { received.removeSubrange(..<end.upperBound) }
    return (0, Array(received[..<end.upperBound]))
  }

  /// Reads frames up to the next HEADERS frame. (RFC 9113, section 4.1)
  private func nextStream(_ context: ChannelHandlerContext) -> (stream: Int32, bytes: [UInt8])? {
    if !hasPreface {
      guard received.count >= Self.preface else { return nil }
      received.removeFirst(Self.preface)
      hasPreface = true
      act(.bytes(Frame.settings()), context)
    }
    // The bytes of all frames are removed at once: a client sends many small ones, each of which would move the rest.
    var read = 0
    defer { received.removeFirst(read) }
    while received.count >= read + 9 {
      let head = Array(received[read..<read + 9])
      let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      guard received.count >= read + 9 + length else { return nil }
      let (type, flags) = (head[3], head[4])
      let stream = head[5..<9].reduce(Int32(0)) { $0 << 8 | Int32($1) }
      let payload = Array(received[read + 9..<read + 9 + length])
      read += 9 + length
      if type == 4, flags & 1 == 0 { act(.bytes(Frame.settings(acknowledging: true)), context) }
      if type == 1 { return (stream, payload) }
    }
    return nil
  }

  private func act(_ action: ScriptedTLSServer.Action, _ context: ChannelHandlerContext) {
    switch action {
    case .bytes(let bytes):
      context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
    case .flood(let bytes):
      let many = Array(repeatElement(bytes, count: 4096 / bytes.count + 1).joined())
      flood(ByteBuffer(bytes: many), context)
    case .close:
      context.close(promise: nil)
    case .cut:
      shut(context)
    case .signal(let semaphore):
      semaphore.signal()
    case .reset:
      _ = (context.channel as? any SocketOptionProvider)?
        .setSoLinger(linger(l_onoff: 1, l_linger: 0))
      shut(context)
    }
  }

  private func flood(_ bytes: ByteBuffer, _ context: ChannelHandlerContext) {
    let again = NIOLoopBound((self, context), eventLoop: context.eventLoop)
    context.writeAndFlush(wrapOutboundOut(bytes)).whenSuccess {
      // Scheduled, because a write that completes at once would recurse until the stack is full
      // and block the loop's other connections.
      again.value.1.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(2)) {
        let (handler, context) = again.value
        handler.flood(bytes, context)
      }
    }
  }

  private func shut(_ context: ChannelHandlerContext) {
    let pipeline = context.pipeline.syncOperations
    if let tls = try? pipeline.context(handlerType: TLSHandler.self) {
      tls.close(promise: nil)
    }
  }
}

/// HTTP/2 frames as bytes. (RFC 9113, section 6)
package enum Frame {
  /// A frame of any type.
  package static func raw(_ type: UInt8, _ flags: UInt8, _ stream: Int32, _ payload: [UInt8])
    -> [UInt8]
  {
    let size = payload.count
    return [UInt8(size >> 16), UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), type, flags]
      + bytes(UInt32(bitPattern: stream)) + payload
  }

  package static func settings(acknowledging: Bool = false) -> [UInt8] {
    raw(4, acknowledging ? 1 : 0, 0, [])
  }

  /// The status and fields as literals without indexing. (RFC 7541, section 6.2.2)
  package static func headers(
    _ stream: Int32,
    _ status: String,
    _ fields: [(String, String)] = [],
    end: Bool = false
  ) -> [UInt8] {
    var block: [UInt8] = []
    for (name, value) in [(":status", status)] + fields {
      block += [0, UInt8(name.utf8.count)] + Array(name.utf8)
      block += [UInt8(value.utf8.count)] + Array(value.utf8)
    }
    return raw(1, end ? 5 : 4, stream, block)
  }

  package static func data(_ stream: Int32, _ body: [UInt8], end: Bool = true) -> [UInt8] {
    raw(0, end ? 1 : 0, stream, body)
  }

  package static func resetStream(_ stream: Int32, _ code: UInt32) -> [UInt8] {
    raw(3, 0, stream, bytes(code))
  }

  package static func goAway(last stream: Int32, _ code: UInt32) -> [UInt8] {
    raw(7, 0, 0, bytes(UInt32(bitPattern: stream)) + bytes(code))
  }

  private static func bytes(_ number: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
  }
}
