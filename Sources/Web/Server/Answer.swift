import Base
import HTTPServing
import Hashing
import NIOCore
import NIOHTTP1

/// An open file whose bytes an answer sends.
///
/// The file is closed when the last reference to this object is released.
final class SentFile: Sendable {
  let handle: NIOFileHandle

  /// Takes ownership of the descriptor.
  init(descriptor: Int32) {
    handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
  }

  deinit { try? handle.close() }
}

/// The answer to a request: a head and a body.
///
/// A function that refuses a request can throw the answer.
struct Answer: Error {
  /// The body of an answer.
  enum Body: Sendable {
    case bytes(ByteBuffer)
    /// A part of a file, which the kernel copies from the disk to the socket (`sendfile`).
    case file(SentFile, Range<Int>)
    /// A part of a picture in an object store, which the server forwards piece by piece.
    case kept(SentPicture, Range<Int>)

    var count: Int {
      switch self {
      case .bytes(let bytes): bytes.readableBytes
      case .file(_, let range), .kept(_, let range): range.count
      }
    }
  }

  /// The status and the header fields, except `Date` and `Connection`, which the connection adds.
  let head: HTTPResponseHead
  var body: Body
  /// Whether the connection must be closed after this answer.
  var closes = false
  /// The cause of an internal failure, which is logged and never sent to the client.
  var cause: String?

  var status: Int { Int(head.status.code) }

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - fields: The header fields. `Content-Length` is added to every answer whose status allows a body.
  ///   - body: The body.
  init(
    _ status: Int,
    _ fields: [(name: String, value: String)],
    _ body: Body = .bytes(ByteBuffer())
  ) {
    self.init(status, Self.headers(fields), body)
  }

  /// Creates an answer with header fields that ``headers(_:)`` has checked.
  fileprivate init(
    _ status: Int,
    _ headers: HTTPHeaders,
    _ body: Body = .bytes(ByteBuffer())
  ) {
    self.body = body
    let status = HTTPResponseStatus(statusCode: status)
    var headers = headers
    if status.mayHaveResponseBody { headers.add(name: "Content-Length", value: "\(body.count)") }
    head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
  }

  /// Those of the header fields that are allowed in a head.
  fileprivate static func headers(_ fields: [(name: String, value: String)]) -> HTTPHeaders {
    HTTPHeaders(fields.filter { isFit($0.name) && isFit($0.value) })
  }

  /// Whether a text is allowed in a head.
  ///
  /// A text with a line break is refused, because the rest of the text would become another header field.
  private static func isFit(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
  }
}

extension Answer {
  /// A failure as a problem document. (RFC 9457)
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - detail: One sentence that names the fault and its remedy.
  ///   - fields: Additional header fields.
  ///   - closes: Whether the connection must be closed after the answer.
  /// - Returns: The answer.
  static func problem(
    _ status: Int,
    _ detail: String,
    _ fields: [(name: String, value: String)] = [],
    closes: Bool = false
  ) -> Answer {
    let title = HTTPResponseStatus(statusCode: status).reasonPhrase
    let problem = JSONMembers([
      "type": "about:blank", "title": title, "status": status, "detail": detail,
    ])
    let bytes = ByteBuffer(bytes: (try? problem.jsonLine()) ?? [])
    var answer = unstored(status, "application/problem+json", fields, bytes)
    answer.closes = closes
    return answer
  }

  /// A text as of this moment, for monitoring.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - text: The text.
  ///   - version: A parameter of the media type, such as ` version=0.0.4;`.
  /// - Returns: The answer.
  static func text(_ status: Int, _ text: String, version: String = "") -> Answer {
    unstored(status, "text/plain;\(version) charset=utf-8", [], ByteBuffer(string: text))
  }

  private static func unstored(
    _ status: Int,
    _ type: String,
    _ fields: [(name: String, value: String)],
    _ body: ByteBuffer
  ) -> Answer {
    let own = [(name: "Content-Type", value: type), (name: "Cache-Control", value: "no-store")]
    return Answer(status, own + fields + SafetyFields.data, .bytes(body))
  }

  /// A page of the web store, or a file that such a page loads.
  ///
  /// The fields of ``SafetyFields/page`` are added.
  static func page(
    _ status: Int,
    _ fields: [(name: String, value: String)],
    _ body: String = ""
  ) -> Answer {
    Answer(status, fields + SafetyFields.page, .bytes(ByteBuffer(string: body)))
  }

  /// A copy of this answer with the cause of the failure, which is logged.
  func caused(by error: any Error) -> Answer {
    var answer = self
    answer.cause = "\(error)"
    return answer
  }
}

/// The answers with one version of a document or a picture: whole, in part, or without a body if the client has it.
struct PreparedAnswer: Sendable {
  private let version: ServedVersion
  private let headers: HTTPHeaders
  /// The body; empty if it is not in memory.
  let body: ByteBuffer

  /// Prepares the answers.
  ///
  /// - Parameters:
  ///   - type: The body's media type.
  ///   - version: The validators.
  ///   - caching: The value of `Cache-Control`.
  ///   - fields: Additional header fields.
  ///   - body: The body, if it is in memory.
  init(
    _ type: String,
    _ version: ServedVersion,
    caching: String,
    _ fields: [(name: String, value: String)] = [],
    body: ByteBuffer = ByteBuffer()
  ) {
    (self.version, self.body) = (version, body)
    var own = [(name: "Content-Type", value: type)]
    if let tag = version.etag { own.append(("ETag", tag)) }
    if let time = version.modified { own.append(("Last-Modified", time.httpDate)) }
    headers = Answer.headers(
      own + [("Cache-Control", caching)] + fields + SafetyFields.data
    )
  }

  /// Prepares the answers with a document, which clients ask for again each time, because the next sync may change it.
  init(
    document bytes: [UInt8],
    _ type: String = "application/json",
    _ fields: [(name: String, value: String)] = []
  ) {
    let digest = Hexadecimal.text(SHA256.digest(of: bytes).prefix(16))
    let version = ServedVersion(etag: "\"\(digest)\"", modified: nil)
    self.init(type, version, caching: "no-cache", fields, body: ByteBuffer(bytes: bytes))
  }

  /// Evaluates the request's conditions, such as `If-None-Match`, and answers with status 200, 304 or 412.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - body: The whole body. Pass nil to send the body in memory.
  /// - Returns: The answer.
  func answer(
    _ request: ServerRequest,
    _ body: @autoclosure () -> Answer.Body? = nil
  ) -> Answer {
    switch version.verdict({ request.headers[$0] }) {
    case .passed: return Answer(200, headers, body() ?? .bytes(self.body))
    case .notModified:
      var headers = headers
      headers.remove(name: "Content-Type")
      return Answer(304, headers)
    case .failed: return .problem(412, "the file has changed")
    }
  }

  /// Answers a request that may ask for a part of the body: with status 200, 206, 304, 412 or 416.
  ///
  /// - Parameters:
  ///   - request: The request.
  ///   - size: The size of the whole body in bytes.
  ///   - body: Makes the body for a range of the bytes.
  /// - Returns: The answer.
  func answer(
    _ request: ServerRequest,
    size: Int,
    _ body: (Range<Int>) -> Answer.Body
  ) -> Answer {
    let whole = answer(request, body(0..<size))
    guard whole.status == 200, request.method == .get else { return whole }
    switch version.range(of: size, { request.headers[$0] }) {
    case .whole: return whole
    case .unsatisfiable:
      let place = (name: "Content-Range", value: "bytes */\(size)")
      return .problem(416, "the picture has \(size) bytes", [place])
    case .part(let part):
      let place = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(size)"
      var partial = HTTPHeaders([("Content-Range", place)])
      partial.add(contentsOf: headers)
      return Answer(206, partial, body(part))
    }
  }
}

/// The header fields that tell browsers how to treat an answer safely; every answer has one of these two sets.
enum SafetyFields {
  /// The fields for data and pictures, which no browser should show as a page.
  static let data: [(name: String, value: String)] = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "same-origin"),
  ]

  /// The fields for pages.
  ///
  /// A page is allowed to load only the server's own files, and must not be shown in a frame. (W3C, CSP level 3)
  static let page: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
  ]
}
