import Base
import Dispatch
import FoundationEssentials
import Pipeline
import Synchronization
import SystemPackage
import Transport

/// The answers that a log of documents has.
struct DocumentLog {
  /// One exchange.
  struct Exchange {
    /// Where in the file the body is, in order.
    var parts: [Range<Int64>] = []
    var answer: DocumentAnswer?
  }

  /// The exchanges by key, in the order in which they began.
  private(set) var exchanges: [String: [Exchange]] = [:]
  /// The file's length and digest.
  let sum: FileSum

  /// Reads where everything is; bodies stay in the file.
  ///
  /// - Throws: ``LarderError`` when it is no log; `Errno`.
  init(_ path: String) throws {
    let reader = try LineReader(path)
    var asked: [Int: String] = [:]
    var open: [Int: Exchange] = [:]
    var order: [Int] = []
    let decoder = JSONDecoder()
    while let text = try reader.line() {
      guard let line = try? decoder.decode(DocumentLine.self, from: Data(text)) else {
        throw LarderError(.data, "cannot read \(path): it is no log of documents; plan anew")
      }
      let number = line.exchange
      if let key = line.asked {
        asked[number] = key
        open[number] = Exchange()
        order.append(number)
      }
      if line.restarts == true { open[number]?.parts = [] }
      if let count = line.part {
        open[number]?.parts.append(reader.offset..<reader.offset + Int64(count))
        try reader.skip(count + 1)
      }
      if let answer = line.answer { open[number]?.answer = answer }
    }
    for number in order {
      guard let key = asked[number], let exchange = open[number] else { continue }
      exchanges[key, default: []].append(exchange)
    }
    sum = reader.sum
  }

  /// The next answer to a request; the last one again when it was asked for less often.
  mutating func next(_ key: String) -> Exchange? {
    guard var rest = exchanges[key], let first = rest.first else { return nil }
    if rest.count > 1 { rest.removeFirst() }
    exchanges[key] = rest
    return first
  }
}

/// A transport that gives the answers of a log, and asks nobody.
final class ReplayTransport: Fetching {
  private let transport: any Fetching
  private let path: String
  private let log: Mutex<DocumentLog>
  private let queue = DispatchQueue(label: "larder.replay")
  private let now: @Sendable () -> UnixTime

  private static let piece = 256 * 1024

  /// Answers from a log; another transport does the rest, such as parsing URLs.
  init(
    _ transport: any Fetching,
    _ log: DocumentLog,
    path: String,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.transport = transport
    self.log = Mutex(log)
    self.path = path
    self.now = now
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() {}

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    queue.async { [self] in
      guard let exchange = log.withLock({ $0.next(documentKey(request)) }),
        let answer = exchange.answer
      else {
        return completion(
          .failure(
            TransferFailure(
              reason: .notPlanned,
              url: request.url.redacted,
              detail: "the plan has no answer to this"
            )
          )
        )
      }
      completion(Result { () throws(TransferFailure) in try give(answer, exchange, to: sink) })
    }
  }

  private func give(
    _ answer: DocumentAnswer,
    _ exchange: DocumentLog.Exchange,
    to sink: any BodySink
  ) throws(TransferFailure) -> Response {
    if let reason = answer.reason {
      var failure = TransferFailure(
        reason: FailureReason(rawValue: reason),
        url: answer.url,
        detail: answer.detail ?? "",
        attempts: answer.attempts,
        status: answer.status,
        retryAfter: answer.retryAfter,
        refusal: Array((answer.refusal ?? "").utf8)
      )
      failure.headers = answer.fields(at: now())
      failure.isHostOfDataOnly = answer.isHostOfDataOnly ?? false
      throw failure
    }
    let head = ResponseHead(
      status: answer.status ?? 200,
      headers: answer.fields(at: now()),
      url: try transport.parse(answer.url, relativeTo: nil),
      version: answer.version.flatMap(HTTPVersion.init) ?? .http11,
      contentLength: answer.length.map { ByteCount($0) },
      isEncoded: answer.isEncoded ?? false,
      redirects: answer.hops
    )
    try demand(sink.begin(head, at: 0), of: head)
    do {
      let file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
      defer { try? file.close() }
      for part in exchange.parts { try pass(part, of: file, to: sink, head) }
    } catch let failure as TransferFailure {
      throw failure
    } catch {
      throw TransferFailure(reason: .disk, url: head.url.redacted, detail: "\(error)")
    }
    return Response(
      head: head,
      bodyBytes: ByteCount(answer.bodyBytes ?? 0),
      wireBytes: ByteCount(answer.wireBytes ?? 0),
      attempts: answer.attempts,
      connectionIsOpen: answer.isOpen ?? true
    )
  }

  private func pass(
    _ part: Range<Int64>,
    of file: FileDescriptor,
    to sink: any BodySink,
    _ head: ResponseHead
  ) throws {
    var offset = part.lowerBound
    var bytes = [UInt8](repeating: 0, count: min(Self.piece, Int(part.count)))
    while offset < part.upperBound {
      let most = min(bytes.count, Int(part.upperBound - offset))
      let count = try bytes.withUnsafeMutableBytes {
        try file.read(
          fromAbsoluteOffset: offset,
          into: UnsafeMutableRawBufferPointer(rebasing: $0[..<most])
        )
      }
      guard count > 0 else { throw Errno.ioError }
      try demand(sink.receive(bytes.span.extracting(..<count).bytes), of: head)
      offset += Int64(count)
    }
  }

  private func demand(_ decision: BodyDecision, of head: ResponseHead) throws(TransferFailure) {
    guard case .refuse(let reason) = decision else { return }
    throw TransferFailure(reason: reason, url: head.url.redacted, attempts: 1)
  }
}
