import Base
import Crypto
import FoundationEssentials
import Pipeline
import Synchronization
import Transport

/// A line of the log of documents; a part's bytes follow its line, and a line feed.
struct DocumentLine: Codable {
  /// Which exchange it is about, from 0.
  var exchange: Int
  /// The key of the request, in the first line of an exchange.
  var asked: String?
  /// How many bytes of the body follow.
  var part: Int?
  /// Whether the earlier lines are void.
  var restarts: Bool?
  /// How it ended, of the last line.
  var answer: DocumentAnswer?
}

/// How a request for a document ended, without its body.
struct DocumentAnswer: Codable {
  var at: Int64
  var status: Int?
  var url: String
  var headers = ""
  var version: String?
  var length: Int64?
  var isEncoded: Bool?
  /// The redirects that led to it.
  var redirects: [Hop]?
  /// Whether the connection outlived it, see ``Response/connectionIsOpen``.
  var isOpen: Bool?
  var attempts: Int
  var bodyBytes: Int64?
  var wireBytes: Int64?
  var reason: String?
  var detail: String?
  var retryAfter: Int64?
  var isHostOfDataOnly: Bool?
  /// The origin's explanation of a refusal.
  var refusal: String?

  /// A redirect.
  struct Hop: Codable {
    var status: Int
    var headers: String
  }

  init(
    _ result: Result<Response, TransferFailure>,
    hiding hide: RunParts.Hiding,
    at now: UnixTime
  ) {
    at = now.seconds
    switch result {
    case .success(let response):
      let head = response.head
      status = head.status
      url = head.url.text
      headers = Self.kept(head.headers)
      version = head.version.rawValue
      length = head.contentLength?.count
      isEncoded = head.isEncoded
      redirects = head.redirects.map { Hop(status: $0.status, headers: Self.kept($0.headers)) }
      isOpen = response.connectionIsOpen
      attempts = response.attempts
      bodyBytes = response.bodyBytes.count
      wireBytes = response.wireBytes.count
    case .failure(let failure):
      status = failure.status
      url = failure.url
      headers = Self.kept(failure.headers)
      attempts = failure.attempts
      reason = failure.reason.rawValue
      detail = failure.detail
      retryAfter = failure.retryAfter
      isHostOfDataOnly = failure.isHostOfDataOnly
      if !failure.refusal.isEmpty {
        refusal = hide(String(decoding: failure.refusal, as: UTF8.self))
      }
    }
  }

  /// The fields without those that may let somebody in.
  private static func kept(_ headers: Headers) -> String {
    var headers = headers
    headers.remove("Set-Cookie")
    return headers.text
  }

  private static func fields(_ text: String) -> Headers {
    var text = text
    return text.withUTF8 { Headers(text: $0) }
  }

  /// The redirects that led to it.
  var hops: [Redirect] {
    (redirects ?? []).map { Redirect(status: $0.status, headers: Self.fields($0.headers)) }
  }

  /// The fields, with the age that the answer has by now. (RFC 9111, section 5.1)
  func fields(at now: UnixTime) -> Headers {
    var fields = Self.fields(headers)
    let age = max(0, now.seconds - at)
    guard age > 0, reason == nil else { return fields }
    let told = fields["Age"].flatMap { Int64($0) } ?? 0
    fields.remove("Age")
    fields.append("Age", String(told.addingReportingOverflow(age).partialValue))
    return fields
  }
}

/// The key of a request for a document: two equal requests have the same text.
func documentKey(_ request: Request) -> String {
  let body = request.body.map { " " + Hexadecimal.text(SHA256.hash(data: $0)) } ?? ""
  return "\(request.method == .post ? "POST" : "GET") \(request.url.text)\(body)"
}

/// A transport that logs every exchange: the answers come as they would without it, and can be given again.
///
/// Stands before secrets enter URLs, so that the log has none.
final class RecordingTransport: Fetching {
  private let transport: any Fetching
  private let log: LineFile
  private let count = Atomic<Int>(0)
  private let hide: RunParts.Hiding
  private let now: @Sendable () -> UnixTime

  init(
    _ transport: any Fetching,
    log: LineFile,
    hiding hide: @escaping RunParts.Hiding,
    now: @escaping @Sendable () -> UnixTime
  ) {
    self.transport = transport
    self.log = log
    self.hide = hide
    self.now = now
  }

  func parse(_ text: String, relativeTo base: WebURL?) throws(TransferFailure) -> WebURL {
    try transport.parse(text, relativeTo: base)
  }

  func fields(of request: Request) -> Headers { transport.fields(of: request) }

  func cancelAll() { transport.cancelAll() }

  func fetch(
    _ request: Request,
    into sink: any BodySink,
    completion: @escaping @Sendable (Result<Response, TransferFailure>) -> Void
  ) {
    let number = count.add(1, ordering: .relaxed).oldValue
    log.note(DocumentLine(exchange: number, asked: documentKey(request)))
    let tee = RecordingSink(sink, log, number)
    transport.fetch(request, into: tee) { [log, hide, now] result in
      log.note(
        DocumentLine(exchange: number, answer: DocumentAnswer(result, hiding: hide, at: now()))
      )
      completion(result)
    }
  }
}

/// Logs a body on its way to another sink.
private final class RecordingSink: BodySink {
  private let sink: any BodySink
  private let log: LineFile
  private let number: Int

  init(_ sink: any BodySink, _ log: LineFile, _ number: Int) {
    self.sink = sink
    self.log = log
    self.number = number
  }

  var resumePoint: ResumePoint? { sink.resumePoint }

  func begin(_ head: ResponseHead, at offset: ByteCount) -> BodyDecision {
    sink.begin(head, at: offset)
  }

  func receive(_ bytes: RawSpan) -> BodyDecision {
    let copy = bytes.withUnsafeBytes { Array($0) }
    log.note(DocumentLine(exchange: number, part: copy.count), copy)
    return sink.receive(bytes)
  }

  func restart() {
    log.note(DocumentLine(exchange: number, restarts: true))
    sink.restart()
  }
}

extension LineFile {
  /// Appends a line, and behind it the bytes that it announces, in one piece.
  fileprivate func note(_ line: DocumentLine, _ bytes: [UInt8]? = nil) {
    // Only numbers that are no numbers cannot be encoded, and there are none.
    guard let text = try? line.jsonLine() else { return }
    if let bytes { append(text, [10], bytes, [10]) } else { append(text, [10]) }
  }
}
