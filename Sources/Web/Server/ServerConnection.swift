import Base
import NIOCore
import NIOHTTP1
import Synchronization

/// One client connection: reads a request, passes it to ``Site``, sends the answer, and reads the next request.
///
/// The connection reads nothing while it sends an answer. Therefore a client that sends requests faster than it reads
/// answers has to wait. Everything runs on the channel's event loop.
final class ServerConnection: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = IOData

  private enum Phase {
    /// No byte of the next request has arrived.
    case idle
    /// A request has arrived in part.
    case reading
    /// An answer is being made or sent.
    case answering
    /// The last answer was sent. The bytes that the client still sends are discarded.
    case lingering
  }

  /// A body is sent in pieces of at most this many bytes.
  ///
  /// The client has ``ServerLimits/answerTime`` to take each piece.
  private static let piece = 128 << 10

  private let site: Site
  private let connections: LoopConnections
  private var phase = Phase.idle
  /// The request that is arriving.
  private var incoming: IncomingRequest?
  /// Requests that arrived while an earlier one was answered.
  private var waiting = CircularBuffer<IncomingRequest>()
  /// The request that is being answered.
  private var current: IncomingRequest?
  private var record: RequestRecord?
  /// Whether NIO asked to read while reading was postponed.
  private var holdsRead = false
  /// Whether the client has closed its side of the connection.
  private var inputClosed = false
  /// Whether the connection is to be closed after the present answer, because the server stops.
  private var quits = false
  private var context: ChannelHandlerContext?

  /// The time at which the connection is closed, unless the deadline is moved in the meantime.
  private(set) var deadline = NIODeadline.distantFuture
  /// The time at which the connection began to wait for a request.
  private(set) var waitingSince = NIODeadline.now()

  init(_ site: Site, _ connections: LoopConnections) {
    (self.site, self.connections) = (site, connections)
  }

  /// Whether the connection can be closed without cutting off an answer.
  var isWaiting: Bool {
    switch phase {
    case .idle, .reading, .lingering: true
    case .answering: false
    }
  }

  /// Closes the connection at once.
  func shut() { context?.close(promise: nil) }

  /// Closes the connection now, or after the answer that is being made or sent.
  func quit() {
    quits = true
    // A request that has arrived only in part gets no answer.
    if phase == .idle || phase == .reading { shut() }
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    guard connections.add(self) else {
      site.metrics.refuse()
      return context.close(promise: nil)
    }
    wait(site.limits.requestTime)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    // A channel that closes before it is active never becomes inactive.
    connections.remove(self)
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(self)
    waiting.removeAll()
    context.fireChannelInactive()
  }

  /// Postpones reading while an answer is being made or sent.
  func read(context: ChannelHandlerContext) {
    if phase == .answering || !waiting.isEmpty || !context.channel.isWritable {
      holdsRead = true
    } else {
      context.read()
    }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase != .lingering else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      if phase == .idle {
        phase = .reading
        wait(site.limits.requestTime)
      }
      let request = IncomingRequest(head, limit: site.limits.body)
      incoming = request
      // Do not wait for a body that is too long and would be refused.
      if request.isTooLong { return finishReading(context) }
      guard phase == .reading, head.version == .http1_1,
        head.headers.first(name: "Expect")?.lowercased() == "100-continue"
      else { return }
      guard site.wantsBody(of: request, at: context.localAddress) else {
        return finishReading(context)
      }
      let line = ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(line)), promise: nil)
    case .body(let piece):
      incoming?.append(piece)
      // Refuse a body as soon as it is too long, because its end may never arrive.
      if incoming?.isTooLong == true { finishReading(context) }
    case .end:
      incoming?.end()
      finishReading(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case ChannelEvent.inputClosed:
      inputClosed = true
      if phase != .answering { context.close(promise: nil) }
    default:
      context.fireUserInboundEventTriggered(event)
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError, phase == .idle || phase == .reading else {
      return context.close(promise: nil)
    }
    var answer: Answer =
      switch error {
      case .headerOverflow: .problem(431, "the head of the request is too large")
      case .invalidVersion: .problem(505, "only HTTP/1.1 is supported")
      default: .problem(400, "this is not an HTTP request")
      }
    answer.closes = true
    record = RequestRecord(nil, context.remoteAddress)
    phase = .answering
    begin(answer, context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, phase == .idle {
      wait(site.limits.idleTime)
      advance(context)
    }
    context.fireChannelWritabilityChanged()
  }

  private func wait(_ time: Duration) { deadline = .now() + TimeAmount(time) }

  private func finishReading(_ context: ChannelHandlerContext) {
    guard let request = incoming else { return }
    incoming = nil
    waiting.append(request)
    advance(context)
  }

  /// Answers the waiting requests in their order, until it reaches a request that takes time to answer.
  private func advance(_ context: ChannelHandlerContext) {
    while phase == .idle || phase == .reading, context.channel.isWritable,
      let request = waiting.popFirst()
    {
      phase = .answering
      // There is no deadline while the answer is made.
      deadline = .distantFuture
      current = request
      let record = RequestRecord(request.head, context.remoteAddress)
      self.record = record
      switch site.outcome(of: request, at: context.localAddress, from: context.remoteAddress) {
      case .now(let answer, let route):
        self.record?.route = route
        begin(answer, context)
      case .later(let route, let work):
        self.record?.route = route
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        work { answer in
          bound.eventLoop.execute {
            let (connection, context) = bound.value
            // The client may have disconnected.
            guard connection.phase == .answering, context.channel.isActive else { return }
            connection.begin(answer, context)
            connection.advance(context)
          }
        }
      }
    }
    guard phase == .idle || phase == .reading else { return }
    if inputClosed || quits && phase == .idle { return context.close(promise: nil) }
    if holdsRead, waiting.isEmpty, context.channel.isWritable {
      holdsRead = false
      context.read()
    }
  }

  private func begin(_ answer: Answer, _ context: ChannelHandlerContext) {
    let head = current?.head
    // If the request has not arrived completely, close the connection, because the rest of the body would be parsed as
    // the next request.
    let isWhole = current?.isWhole ?? false
    let closes = answer.closes || !isWhole || quits || inputClosed || !(head?.isKeepAlive ?? false)
    var top = answer.head
    top.writeString("Date: ")
    top.writeString(connections.date)
    if closes {
      top.writeString("\r\nConnection: close\r\n\r\n")
    } else if head?.version == .http1_0 {
      top.writeString("\r\nConnection: keep-alive\r\n\r\n")
    } else {
      top.writeString("\r\n\r\n")
    }
    record?.status = answer.status
    record?.cause = answer.cause
    context.write(wrapOutboundOut(.byteBuffer(top)), promise: nil)
    guard head?.method != .HEAD, answer.body.count > 0 else { return finish(closes, context) }
    record?.bytes = answer.body.count
    if case .bytes(let bytes) = answer.body, bytes.readableBytes <= Self.piece {
      context.write(wrapOutboundOut(.byteBuffer(bytes)), promise: nil)
      finish(closes, context)
    } else {
      send(answer.body, from: 0, closes: closes, context)
    }
  }

  /// Sends a body piece by piece, each after the previous one was written to the socket.
  private func send(
    _ body: Answer.Body,
    from start: Int,
    closes: Bool,
    _ context: ChannelHandlerContext
  ) {
    var piece = Self.piece
    if case .kept = body { piece = SentPicture.piece }
    let count = min(piece, body.count - start)
    wait(site.limits.answerTime)
    let sent = context.eventLoop.makePromise(of: Void.self)
    let isLast = start + count == body.count
    switch body {
    case .none: sent.succeed()
    case .bytes(let bytes):
      let slice = bytes.getSlice(at: bytes.readerIndex + start, length: count) ?? ByteBuffer()
      context.writeAndFlush(wrapOutboundOut(.byteBuffer(slice)), promise: sent)
    case .kept(let picture, let range):
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      picture.piece(from: start, of: range) { bytes in
        bound.eventLoop.execute {
          let (connection, context) = bound.value
          guard let bytes, bytes.readableBytes == count, context.channel.isActive else {
            return sent.fail(ChannelError.ioOnClosedChannel)
          }
          context.writeAndFlush(connection.wrapOutboundOut(.byteBuffer(bytes)), promise: sent)
        }
      }
    case .file(let file, let range):
      let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
      let first = range.lowerBound + start
      let region = FileRegion(fileHandle: handle, readerIndex: first, endIndex: first + count)
      // Take the descriptor back from NIO, because `SentFile` closes it after the last piece.
      sent.futureResult.whenComplete { _ in
        _ = try? handle.takeDescriptorOwnership()
        withExtendedLifetime(file) {}
      }
      context.writeAndFlush(wrapOutboundOut(.fileRegion(region)), promise: sent)
    }
    sent.futureResult.assumeIsolated().whenComplete { result in
      guard case .success = result, context.channel.isActive else {
        // The client sees that the answer is truncated, because it received `Content-Length`.
        return context.close(promise: nil)
      }
      if isLast {
        self.finish(closes, context)
        self.advance(context)
      } else {
        self.send(body, from: start + count, closes: closes, context)
      }
    }
  }

  /// Ends an answer after all its bytes were handed to NIO.
  private func finish(_ closes: Bool, _ context: ChannelHandlerContext) {
    if var record {
      record.end()
      site.note(record)
    }
    (record, current) = (nil, nil)
    guard closes else {
      context.flush()
      phase = .idle
      waitingSince = .now()
      // If many bytes are unsent, the client has to take some of them before it can send its next request.
      wait(context.channel.isWritable ? site.limits.idleTime : site.limits.answerTime)
      return
    }
    phase = .lingering
    waiting.removeAll()
    wait(.seconds(2))
    // If the connection were closed while the client still sends, it would be reset, and the client could lose the answer.
    let flushed = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: flushed)
    flushed.futureResult.assumeIsolated().whenComplete { _ in
      context.close(mode: .output, promise: nil)
      if self.inputClosed { context.close(promise: nil) } else { context.read() }
    }
  }
}

/// A request as far as it has arrived: its head, and the bytes of its body.
struct IncomingRequest: Sendable {
  let head: HTTPRequestHead
  private(set) var body: [UInt8] = []
  /// Whether the body is longer than the limit, so that it is not kept.
  private(set) var isTooLong = false
  /// Whether the request has arrived completely.
  private(set) var isWhole = false
  private let limit: Int

  init(_ head: HTTPRequestHead, limit: Int) {
    (self.head, self.limit) = (head, limit)
    isTooLong =
      head.headers.first(name: "Content-Length").flatMap { Int($0) }.map { $0 > limit } ?? false
  }

  mutating func end() { isWhole = true }

  mutating func append(_ piece: ByteBuffer) {
    guard !isTooLong else { return }
    if body.count + piece.readableBytes > limit {
      isTooLong = true
      body = []
    } else {
      body += piece.readableBytesView
    }
  }
}

/// Keeps the connections of one event loop: enforces their time limits, and renders the field `Date` of their answers.
///
/// Everything runs on the event loop.
final class LoopConnections {
  /// The state that all event loops of a server share.
  final class Shared: Sendable {
    /// The number of open connections.
    let count = Atomic<Int>(0)
    let clock: @Sendable () -> UnixTime

    init(_ clock: @escaping @Sendable () -> UnixTime) { self.clock = clock }
  }

  private let shared: Shared
  private let limits: ServerLimits
  private let loop: any EventLoop
  private var open: [ObjectIdentifier: ServerConnection] = [:]
  /// Completed when the last connection has closed; nil until the server stops.
  private var drained: EventLoopPromise<Void>?
  /// The value of `Date`, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  private(set) var date = ""
  private var second: Int64 = 0

  private init(_ shared: Shared, _ limits: ServerLimits, _ loop: any EventLoop) {
    (self.shared, self.limits, self.loop) = (shared, limits, loop)
    renewDate()
  }

  /// Creates the object for an event loop, and checks every connection of the loop once a second.
  ///
  /// One timer for each loop costs less than one for each request, although a time limit may be enforced a second late.
  static func start(
    _ shared: Shared,
    _ limits: ServerLimits,
    on loop: any EventLoop
  ) -> NIOLoopBound<LoopConnections> {
    let connections = NIOLoopBound(LoopConnections(shared, limits, loop), eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      connections.value.sweep()
    }
    return connections
  }

  /// Registers a connection.
  ///
  /// If too many connections are open, the connection that has waited longest for a request is closed. Therefore
  /// thousands of connections that seldom send a byte cannot keep other clients out.
  ///
  /// - Returns: False if the server stops, or if too many connections are open and none of them can be closed.
  func add(_ connection: ServerConnection) -> Bool {
    guard drained == nil else { return false }
    if shared.count.add(1, ordering: .relaxed).newValue > limits.connections {
      guard
        let idlest = open.values.filter(\.isWaiting).min(by: { $0.waitingSince < $1.waitingSince })
      else {
        shared.count.subtract(1, ordering: .relaxed)
        return false
      }
      idlest.shut()
    }
    open[ObjectIdentifier(connection)] = connection
    return true
  }

  /// Unregisters a connection that has closed.
  func remove(_ connection: ServerConnection) {
    guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    shared.count.subtract(1, ordering: .relaxed)
    if open.isEmpty { drained?.succeed() }
  }

  /// Closes every connection as soon as its present answer is sent, and refuses new connections.
  ///
  /// - Returns: A future that completes when the last connection has closed.
  func drain() -> EventLoopFuture<Void> {
    let promise = loop.makePromise(of: Void.self)
    drained = promise
    if open.isEmpty { promise.succeed() }
    for connection in Array(open.values) { connection.quit() }
    return promise.futureResult
  }

  /// Closes every connection at once, even while an answer is being sent.
  func shutAll() {
    for connection in Array(open.values) { connection.shut() }
  }

  private func sweep() {
    renewDate()
    let now = NIODeadline.now()
    for connection in Array(open.values) where connection.deadline < now { connection.shut() }
  }

  private func renewDate() {
    let now = shared.clock()
    guard now.seconds != second else { return }
    second = now.seconds
    date = now.httpDate
  }
}
