import Base
import Dispatch
import NIOCore
import NIOHTTP1
import Synchronization

/// One client connection: reads a request, passes it to ``Site``, sends the answer, and reads the next request.
///
/// NIO's `HTTPServerPipelineHandler` stands before this handler. It reads nothing while an answer is made or sent, so a
/// client that sends requests faster than it reads answers has to wait. When the server stops, it closes the
/// connection after the present answer. Everything runs on the channel's event loop.
final class ServerConnection: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private enum Phase {
    /// The next request has not arrived, or has arrived only in part.
    case waiting
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
  private let open: OpenConnection
  private var phase = Phase.waiting
  /// The request that is arriving or being answered; nil if the client sent something else.
  private var request: IncomingRequest?
  private var record: RequestRecord?
  /// Whether the connection is to be closed after the present answer.
  private var closes = false
  /// Whether the client has closed its side of the connection.
  private var inputClosed = false
  /// The number of calls of ``channelRead(context:data:)`` that have not returned.
  private var reads = 0

  init(_ site: Site, _ channel: any Channel) {
    (self.site, open) = (site, OpenConnection(channel))
  }

  func handlerAdded(context: ChannelHandlerContext) {
    wait(site.limits.requestTime)
    guard site.connections.add(open) else {
      site.metrics.refuse()
      return context.close(promise: nil)
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) { site.connections.remove(open) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard phase == .waiting else { return }
    reads += 1
    defer { reads -= 1 }
    switch unwrapInboundIn(data) {
    case .head(let head):
      wait(site.limits.requestTime)
      let request = IncomingRequest(head: head)
      self.request = request
      if request.expectsContinue {
        guard site.wantsBody(of: request, at: context.localAddress) else {
          return answer(request, context)
        }
        let head = HTTPResponseHead(version: .http1_1, status: .continue)
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
      }
    case .body(let piece): request?.body += piece.readableBytesView
    case .end: request?.isWhole = true
    }
    // Refuse a body as soon as it is too long, because its end may never arrive.
    if let request, request.isWhole || request.isLonger(than: site.limits.body) {
      answer(request, context)
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
    // After a request that cannot be parsed, NIO reports further bytes as errors. They are discarded while the answer is
    // sent and the connection lingers.
    if case ByteToMessageDecoderError.dataReceivedInErrorState = error { return }
    guard let error = error as? HTTPParserError, phase == .waiting else {
      return context.close(promise: nil)
    }
    request = nil
    phase = .answering
    open.waitingSince = .distantFuture
    record = RequestRecord(nil, context.remoteAddress)
    let answer: Answer =
      switch error {
      case .headerOverflow: .problem(431, "the head of the request is too large")
      case .invalidVersion: .problem(505, "only HTTP/1.1 is supported")
      default: .problem(400, "this is not an HTTP request")
      }
    begin(answer, context)
  }

  private func wait(_ time: Duration) { open.deadline = .now() + TimeAmount(time) }

  private func answer(_ request: IncomingRequest, _ context: ChannelHandlerContext) {
    phase = .answering
    // There is no deadline while the answer is made.
    open.deadline = .distantFuture
    open.waitingSince = .distantFuture
    record = RequestRecord(request.head, context.remoteAddress)
    switch site.outcome(of: request, at: context.localAddress, from: context.remoteAddress) {
    case .now(let answer, let route):
      record?.route = route
      begin(answer, context)
    case .later(let route, let work):
      record?.route = route
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      work { answer in
        bound.eventLoop.execute {
          let (connection, context) = bound.value
          // The client may have disconnected.
          if context.channel.isActive { connection.begin(answer, context) }
        }
      }
    }
  }

  private func begin(_ answer: Answer, _ context: ChannelHandlerContext) {
    var head = answer.head
    head.headers.add(name: "Date", value: site.clock().httpDate)
    // If the request has not arrived completely, close the connection, because the rest of the body would be parsed as
    // the next request.
    closes =
      answer.closes || inputClosed
      || !(request.map {
        // The decoder stops after a request for another protocol.
        $0.isWhole && $0.head.isKeepAlive && !$0.head.headers.contains(name: "Upgrade")
      } ?? false)
    if closes {
      head.headers.add(name: "Connection", value: "close")
    } else if request?.head.version == .http1_0 {
      head.headers.add(name: "Connection", value: "keep-alive")
    }
    let body = request?.head.method == .HEAD ? .bytes(ByteBuffer()) : answer.body
    record?.status = answer.status
    record?.cause = answer.cause
    record?.bytes = body.count
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    send(body, from: 0, context)
  }

  /// Sends a body piece by piece, each after the previous one was written to the socket.
  private func send(_ body: Answer.Body, from start: Int, _ context: ChannelHandlerContext) {
    var piece = Self.piece
    if case .kept = body { piece = SentPicture.piece }
    let count = min(piece, body.count - start)
    wait(site.limits.answerTime)
    let sent = context.eventLoop.makePromise(of: Void.self)
    switch body {
    case .bytes(let bytes):
      let slice = bytes.getSlice(at: bytes.readerIndex + start, length: count) ?? ByteBuffer()
      context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(slice))), promise: sent)
    case .kept(let picture, let range):
      let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
      picture.piece(from: start, of: range) { bytes in
        bound.eventLoop.execute {
          let (connection, context) = bound.value
          guard let bytes, bytes.readableBytes == count, context.channel.isActive else {
            return sent.fail(ChannelError.ioOnClosedChannel)
          }
          let part = HTTPServerResponsePart.body(.byteBuffer(bytes))
          context.writeAndFlush(connection.wrapOutboundOut(part), promise: sent)
        }
      }
    case .file(let file, let range):
      let first = range.lowerBound + start
      let region = FileRegion(
        fileHandle: file.handle,
        readerIndex: first,
        endIndex: first + count
      )
      context.writeAndFlush(wrapOutboundOut(.body(.fileRegion(region))), promise: sent)
    }
    let isLast = start + count == body.count
    sent.futureResult.assumeIsolated().whenComplete { result in
      // Until here, `body` keeps its file open.
      func proceed() {
        guard case .success = result, context.channel.isActive else {
          // The client sees that the answer is truncated, because it received `Content-Length`.
          return context.close(promise: nil)
        }
        if isLast { self.finish(context) } else { self.send(body, from: start + count, context) }
      }
      // The end of an answer begins the next one if its request has arrived already. So that a thousand requests that
      // arrive at once, or a thousand pieces, do not nest a thousand calls, only the first continues at once.
      if isLast, self.reads <= 1 {
        proceed()
      } else {
        context.eventLoop.assumeIsolated().execute { proceed() }
      }
    }
  }

  /// Ends an answer whose bytes were all written to the socket.
  private func finish(_ context: ChannelHandlerContext) {
    if var record {
      record.end()
      site.note(record)
    }
    (record, request) = (nil, nil)
    let closes = closes || inputClosed
    phase = closes ? .lingering : .waiting
    wait(closes ? .seconds(2) : site.limits.idleTime)
    open.waitingSince = .now()
    // If the next request has arrived already, this call begins to answer it.
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    guard closes else { return }
    // If the connection were closed while the client still sends, it would be reset, and the client could lose the answer.
    context.close(mode: inputClosed ? .all : .output, promise: nil)
  }
}

/// A request as far as it has arrived.
struct IncomingRequest: Sendable {
  let head: HTTPRequestHead
  var body: [UInt8] = []
  /// Whether the request has arrived completely.
  var isWhole = false

  /// Whether the client waits for permission to send the body.
  var expectsContinue: Bool {
    head.version == .http1_1
      && head.headers.first(name: "Expect")?.lowercased() == "100-continue"
  }

  /// Whether the body, as announced or as received, has more than this many bytes.
  func isLonger(than limit: Int) -> Bool {
    max(head.headers.first(name: "Content-Length").flatMap { Int($0) } ?? 0, body.count) > limit
  }
}

/// A connection in the table of ``OpenConnections``.
///
/// The connection's event loop writes the times, and any thread can read them.
final class OpenConnection: Sendable {
  let channel: any Channel
  private let times = Mutex((deadline: NIODeadline.distantFuture, waitingSince: NIODeadline.now()))

  /// Creates the entry of a connection that waits for its first request.
  init(_ channel: any Channel) { self.channel = channel }

  /// The time at which the connection is closed, unless the deadline is moved in the meantime.
  var deadline: NIODeadline {
    get { times.withLock { $0.deadline } }
    set { times.withLock { $0.deadline = newValue } }
  }

  /// The time at which the connection began to wait for a request; in the distant future while it is answered.
  var waitingSince: NIODeadline {
    get { times.withLock { $0.waitingSince } }
    set { times.withLock { $0.waitingSince = newValue } }
  }
}

/// The open connections of a server, with limits on their number and their times.
final class OpenConnections: Sendable {
  private struct Table {
    var connections: [ObjectIdentifier: OpenConnection] = [:]
    var isStopping = false
  }

  private let most: Int
  private let table = Mutex(Table())
  /// Entered for each connection in the table.
  private let group = DispatchGroup()

  /// Creates an empty table for at most this many connections.
  init(most: Int) { self.most = most }

  /// The number of open connections.
  var count: Int { table.withLock { $0.connections.count } }

  /// Whether the server is about to end.
  var isStopping: Bool { table.withLock { $0.isStopping } }

  /// Registers a connection.
  ///
  /// If too many connections are open, the connection that has waited longest for a request is closed. Therefore
  /// thousands of connections that seldom send a byte cannot keep other clients out.
  ///
  /// - Returns: False if the server stops, or if too many connections are open and none of them can be closed.
  func add(_ connection: OpenConnection) -> Bool {
    let (isAdded, idlest) = table.withLock { table -> (Bool, OpenConnection?) in
      guard !table.isStopping else { return (false, nil) }
      var idlest: OpenConnection?
      if table.connections.count >= most {
        idlest = table.connections.values.min { $0.waitingSince < $1.waitingSince }
        guard let found = idlest, found.waitingSince < .distantFuture else { return (false, nil) }
        table.connections[ObjectIdentifier(found)] = nil
        group.leave()
      }
      table.connections[ObjectIdentifier(connection)] = connection
      group.enter()
      return (true, idlest)
    }
    idlest?.channel.close(promise: nil)
    return isAdded
  }

  /// Unregisters a connection that has closed.
  func remove(_ connection: OpenConnection) {
    let removed = table.withLock {
      $0.connections.removeValue(forKey: ObjectIdentifier(connection))
    }
    if removed != nil { group.leave() }
  }

  /// Closes the connections whose deadlines are past.
  ///
  /// One check a second of all connections costs less than a timer for each request, although a time limit may be
  /// enforced a second late.
  func sweep() {
    let now = NIODeadline.now()
    for connection in all where connection.deadline < now {
      connection.channel.eventLoop.execute {
        // A request may have arrived in the meantime.
        if connection.deadline < now { connection.channel.close(promise: nil) }
      }
    }
  }

  /// Refuses new connections, and closes every connection as soon as its present answer is sent; blocks.
  ///
  /// - Parameter time: The longest time to wait for the answers.
  func stop(within time: Duration) {
    table.withLock { $0.isStopping = true }
    for connection in all {
      connection.channel.eventLoop.execute {
        // A request that has arrived only in part gets no answer.
        guard connection.waitingSince == .distantFuture else {
          return connection.channel.close(promise: nil)
        }
        connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      }
    }
    _ = group.wait(timeout: .now() + .nanoseconds(Int(TimeAmount(time).nanoseconds)))
  }

  private var all: [OpenConnection] { table.withLock { Array($0.connections.values) } }
}
