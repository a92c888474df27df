import Crypto
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

  /// The exchanges by what was asked, in the order in which they began.
  private(set) var exchanges: [String: [Exchange]] = [:]
  /// The file's length and digest.
  let sum: FileSum

  /// Reads where everything is; bodies stay in the file.
  ///
  /// - Throws: ``ShardError`` when it is no log; `Errno`.
  init(_ path: String) throws {
    var reader = try LogReader(path)
    var asked: [Int: String] = [:]
    var open: [Int: Exchange] = [:]
    var order: [Int] = []
    let decoder = JSONDecoder()
    while let text = try reader.line() {
      guard let line = try? decoder.decode(DocumentLine.self, from: Data(text)) else {
        throw ShardError(.data, "cannot read \(path): it is no log of documents; plan anew")
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

/// Reads a file a line at a time, and hashes all of it.
private struct LogReader {
  private let file: FileDescriptor
  private var buffer: [UInt8] = []
  private var place = 0
  private var hash = SHA256()
  private var length: Int64 = 0
  /// Where the next byte is.
  private(set) var offset: Int64 = 0

  private static let piece = 256 * 1024

  init(_ path: String) throws {
    file = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
  }

  /// The length and digest of what was read.
  var sum: FileSum {
    FileSum(bytes: length, sha256: Hexadecimal.text(hash.finalize()))
  }

  mutating func line() throws -> [UInt8]? {
    var line: [UInt8] = []
    while true {
      guard try fill() else { return line.isEmpty ? nil : line }
      if let end = buffer[place...].firstIndex(of: 10) {
        line += buffer[place..<end]
        offset += Int64(end - place + 1)
        place = end + 1
        return line
      }
      line += buffer[place...]
      offset += Int64(buffer.count - place)
      place = buffer.count
    }
  }

  mutating func skip(_ count: Int) throws {
    var left = count
    while left > 0, try fill() {
      let step = min(left, buffer.count - place)
      place += step
      offset += Int64(step)
      left -= step
    }
  }

  /// Has a byte in the buffer; closes the file at its end.
  private mutating func fill() throws -> Bool {
    if place < buffer.count { return true }
    var next = [UInt8](repeating: 0, count: Self.piece)
    let count = try next.withUnsafeMutableBytes { [file, length] in
      try file.read(fromAbsoluteOffset: length, into: $0)
    }
    buffer = Array(next[..<count])
    place = 0
    length += Int64(count)
    hash.update(data: buffer)
    if count == 0 { try? file.close() }
    return count > 0
  }
}

/// A transport that gives the answers of a log, and asks nobody.
final class ReplayTransport: Fetching, URLParsing {
  private let transport: any Fetching & URLParsing
  private let path: String
  private let log: Mutex<DocumentLog>
  private let queue = DispatchQueue(label: "larder.replay")
  private let now: @Sendable () -> UnixTime

  private static let piece = 256 * 1024

  /// Answers from a log; what is no answer, such as how URLs are read, is another transport's.
  init(
    _ transport: any Fetching & URLParsing,
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
      isEncoded: answer.isEncoded ?? false
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
      attempts: answer.attempts
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
