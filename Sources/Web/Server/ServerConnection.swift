import Base
import NIOCore
import NIOHTTP1
import Synchronization

/// One client connection: reads a request, has the site answer it, sends the answer, and so on.
///
/// Nothing is read while an answer is on its way, so a client that asks faster than it reads waits. All of it runs on
/// the loop of its channel.
final class ServerConnection: ChannelDuplexHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundIn = Never
  typealias OutboundOut = IOData

  /// The state of the connection.
  private enum Phase {
    /// Nothing; the next request has not begun.
    case idle
    /// A request is arriving.
    case reading
    /// An answer is being made or sent.
    case answering
    /// The last answer was sent, and further bytes of the client are discarded.
    case lingering
  }

  /// How many bytes of a body are under way between two looks at whether the client takes any.
  private static let piece = 128 << 10

  private let site: Site
  private let connections: LoopConnections
  private var phase = Phase.idle
  private var incoming: IncomingRequest?
  private var waiting = CircularBuffer<IncomingRequest>()
  private var current: IncomingRequest?
  private var record: RequestRecord?
  private var holdsRead = false
  private var inputClosed = false
  private var quits = false
  private var context: ChannelHandlerContext?

  /// When it is closed unless something happens.
  private(set) var deadline = NIODeadline.distantFuture
  /// Since when it waits for a request.
  private(set) var waitingSince = NIODeadline.now()

  init(_ site: Site, _ connections: LoopConnections) {
    (self.site, self.connections) = (site, connections)
  }

  /// Whether it can be closed without taking an answer from anybody.
  var isWaiting: Bool {
    switch phase {
    case .idle, .reading, .lingering: true
    case .answering: false
    }
  }

  /// Closes it as it is.
  func shut() { context?.close(promise: nil) }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    guard connections.add(self) else {
      site.metrics.refuse()
      return context.close(promise: nil)
    }
    wait(site.limits.requestTime)
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func channelInactive(context: ChannelHandlerContext) {
    connections.remove(self)
    waiting.removeAll()
    context.fireChannelInactive()
  }

  /// Holds the reading back while an answer is on its way.
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
      // A body that is not wanted is not waited for.
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
      // A head or body that is too long is answered before its end, which may never come.
      if incoming?.isTooLong == true { finishReading(context) }
    case .end:
      incoming?.end()
      finishReading(context)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      quits = true
      // An incomplete request was promised no answer.
      if phase == .idle || phase == .reading { context.close(promise: nil) }
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
      case .invalidVersion: .problem(505, "this server speaks HTTP/1.1")
      default: .problem(400, "this is no HTTP request")
      }
    answer.closes = true
    record = RequestRecord(unreadable: context.remoteAddress)
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

  /// Answers the received requests, until an answer takes time.
  private func advance(_ context: ChannelHandlerContext) {
    while phase == .idle || phase == .reading, context.channel.isWritable,
      let request = waiting.popFirst()
    {
      phase = .answering
      // However long it takes to be made, the site has limits of its own.
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
            // The client may have gone.
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
    // The rest of a body that was not waited for would be taken for the next request.
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

  /// Sends a body piece by piece, each when the one before it has left.
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
      // The descriptor is the file's to close, once the last piece has left.
      sent.futureResult.whenComplete { _ in
        _ = try? handle.takeDescriptorOwnership()
        withExtendedLifetime(file) {}
      }
      context.writeAndFlush(wrapOutboundOut(.fileRegion(region)), promise: sent)
    }
    sent.futureResult.assumeIsolated().whenComplete { result in
      guard case .success = result, context.channel.isActive else {
        // Half an answer looks whole to nobody: its length was said.
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

  /// Ends an answer all of whose bytes were handed to NIO.
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
      // The client must first take some of the unsent bytes.
      wait(context.channel.isWritable ? site.limits.idleTime : site.limits.answerTime)
      return
    }
    phase = .lingering
    waiting.removeAll()
    wait(.seconds(2))
    // A close while the client still sends would be a reset, and could overtake the answer.
    let flushed = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(.byteBuffer(ByteBuffer())), promise: flushed)
    flushed.futureResult.assumeIsolated().whenComplete { _ in
      context.close(mode: .output, promise: nil)
      if self.inputClosed { context.close(promise: nil) } else { context.read() }
    }
  }
}

/// A request as it came in, with as much of its body as is read.
struct IncomingRequest: Sendable {
  let head: HTTPRequestHead
  private(set) var body: [UInt8] = []
  /// Whether the body is longer than any that is read.
  private(set) var isTooLong = false
  /// Whether it was read to its end.
  private(set) var isWhole = false
  private let limit: Int

  init(_ head: HTTPRequestHead, limit: Int) {
    (self.head, self.limit) = (head, limit)
    isTooLong =
      head.headers.first(name: "Content-Length").flatMap { Int($0) }.map { $0 > limit } ?? false
  }

  /// Takes note that nothing more belongs to it.
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

/// The connections of one event loop: their time limits, and the date that their answers bear.
///
/// All of it runs on that loop.
final class LoopConnections {
  /// The state that the loops of a server share.
  final class Shared: Sendable {
    /// How many connections are open.
    let count = Atomic<Int>(0)
    /// The wall clock.
    let clock: @Sendable () -> UnixTime

    init(_ clock: @escaping @Sendable () -> UnixTime) { self.clock = clock }
  }

  private let shared: Shared
  private let limits: ServerLimits
  private var open: [ObjectIdentifier: ServerConnection] = [:]
  private(set) var date = ""
  private var second: Int64 = 0

  init(_ shared: Shared, _ limits: ServerLimits) {
    (self.shared, self.limits) = (shared, limits)
    renewDate()
  }

  /// Looks at every connection once a second.
  ///
  /// One timer a loop costs less than one a request, and a limit that comes a second late is no harm.
  static func start(
    _ shared: Shared,
    _ limits: ServerLimits,
    on loop: any EventLoop
  ) -> NIOLoopBound<LoopConnections> {
    let connections = NIOLoopBound(LoopConnections(shared, limits), eventLoop: loop)
    loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
      connections.value.sweep()
    }
    return connections
  }

  /// Takes a connection in.
  ///
  /// Where there are too many, the one that has waited longest without asking for anything is closed: thousands of
  /// connections that send a byte now and then keep nobody out.
  ///
  /// - Returns: False when none can give way.
  func add(_ connection: ServerConnection) -> Bool {
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

  /// Lets a connection go that was taken in.
  func remove(_ connection: ServerConnection) {
    guard open.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    shared.count.subtract(1, ordering: .relaxed)
  }

  /// Closes every connection, in any state.
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
