import Glibc
import NIOCore
import NIOHTTP1

/// A client's connection: reads requests even while answers are pending, and sends the answers in order.
///
/// The handler writes raw bytes instead of HTTP parts, because many faults break the framing of HTTP. Everything runs
/// on the channel's event loop.
final class SampleConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = ByteBuffer

  private let origin: Origin
  private var incoming: IncomingRequest?
  private var waiting = CircularBuffer<IncomingRequest>()
  private var isAnswering = false
  private var isHanging = false
  private var inputClosed = false
  private var timer: Scheduled<Void>?

  init(_ origin: Origin) {
    self.origin = origin
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    timer = nil
    waiting.removeAll()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head):
      incoming = IncomingRequest(head: head)
      // curl waits for "100 Continue" before it sends a long body. (RFC 9110, section 10.1.1)
      if !isAnswering, head.headers.first(name: "Expect")?.lowercased() == "100-continue" {
        let line = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")
        context.writeAndFlush(wrapOutboundOut(line), promise: nil)
      }
    case .body(var piece):
      incoming?.append(&piece)
    case .end:
      guard let request = incoming else { return }
      incoming = nil
      waiting.append(request)
      advance(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case ChannelEvent.inputClosed = event {
      inputClosed = true
      if isHanging { context.close(promise: nil) } else { advance(context) }
    } else {
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard error is HTTPParserError, !isAnswering else {
      context.close(promise: nil)
      return
    }
    let head = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    isAnswering = true
    begin(WirePlan(head: ByteBuffer(string: head), ending: .close), context)
  }

  /// Answers the waiting requests, until an answer cannot be sent at once.
  private func advance(_ context: ChannelHandlerContext) {
    while !isAnswering, let request = waiting.popFirst() {
      isAnswering = true
      let plan = origin.plan(for: request)
      if plan.delay > 0 {
        after(plan.delay, context) { $0.begin(plan, $1) }
      } else {
        begin(plan, context)
      }
    }
    if !isAnswering, inputClosed { context.close(promise: nil) }
  }

  private func begin(_ plan: WirePlan, _ context: ChannelHandlerContext) {
    if plan.ending == .hang {
      isHanging = true
      if inputClosed { context.close(promise: nil) }
      return
    }
    context.write(wrapOutboundOut(plan.head), promise: nil)
    if let rate = plan.bytesPerSecond, plan.body.readableBytes > 0 {
      context.flush()
      pass(plan.body, rate, plan.ending, context)
    } else {
      context.write(wrapOutboundOut(plan.body), promise: nil)
      finish(plan.ending, context)
    }
  }

  /// Sends a body piece by piece, at a rate in bytes per second.
  ///
  /// About fifty pieces a second drip; at less than 100 bytes per second, each is a single byte.
  private func pass(
    _ body: ByteBuffer,
    _ rate: Int,
    _ ending: WirePlan.Ending,
    _ context: ChannelHandlerContext
  ) {
    var rest = body
    let length = min(max(1, rate / 50), rest.readableBytes)
    guard let piece = rest.readSlice(length: length) else { return }
    let left = rest
    after(Double(length) / Double(rate), context) { connection, context in
      context.writeAndFlush(connection.wrapOutboundOut(piece), promise: nil)
      if left.readableBytes == 0 {
        connection.finish(ending, context)
      } else {
        connection.pass(left, rate, ending, context)
      }
    }
  }

  private func finish(_ ending: WirePlan.Ending, _ context: ChannelHandlerContext) {
    if ending == .keepAlive {
      context.flush()
      isAnswering = false
      return
    }
    // Before the connection is reset or closed, wait until the kernel has received all bytes.
    let written = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
    written.futureResult.assumeIsolated().whenComplete { _ in
      if ending == .reset { self.reset(context) } else { context.close(promise: nil) }
    }
  }

  /// Runs a step on this event loop after a delay, then continues with the waiting requests.
  private func after(
    _ seconds: Double,
    _ context: ChannelHandlerContext,
    _ step: @escaping (SampleConnection, ChannelHandlerContext) -> Void
  ) {
    let pause = TimeAmount.nanoseconds(Int64(seconds * 1_000_000_000))
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: pause) {
      step(self, context)
      self.advance(context)
    }
  }

  /// Closes the connection with RST instead of FIN.
  private func reset(_ context: ChannelHandlerContext) {
    let options = context.channel as? any SocketOptionProvider
    // This runs on the channel's own event loop, so the option is set before the call returns.
    _ = options?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
    context.close(promise: nil)
  }
}
