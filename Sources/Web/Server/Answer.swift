import Base
import Crypto
import Glibc
import HTTPServing
import NIOCore
import NIOHTTP1
import Pipeline
import Transport

/// An open file whose bytes an answer sends.
///
/// The file is closed when the last reference to this object is released.
final class SentFile: Sendable {
  let descriptor: Int32

  /// Takes ownership of the descriptor.
  init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}

/// The answer to a request: a head and a body.
///
/// The head is rendered when the answer is created, so an answer that is sent many times is rendered once.
struct Answer: Sendable {
  /// The body of an answer.
  enum Body: Sendable {
    case none
    case bytes(ByteBuffer)
    /// A part of a file, which the kernel copies from the disk to the socket (`sendfile`).
    case file(SentFile, Range<Int>)
    /// A part of a picture in an object store, which the server forwards piece by piece.
    case kept(SentPicture, Range<Int>)

    var count: Int {
      switch self {
      case .none: 0
      case .bytes(let bytes): bytes.readableBytes
      case .file(_, let range), .kept(_, let range): range.count
      }
    }
  }

  let status: Int
  /// The status line and the header fields, except `Date` and `Connection`, which the connection adds.
  let head: ByteBuffer
  var body: Body
  /// Whether the connection must be closed after this answer.
  var closes = false
  /// The cause of an internal failure, which is logged and never sent to the client.
  var cause: String?

  /// Creates an answer from a rendered head.
  init(status: Int, head: ByteBuffer, body: Body) {
    (self.status, self.head, self.body) = (status, head, body)
  }

  /// Renders an answer.
  ///
  /// - Parameters:
  ///   - status: The status code.
  ///   - fields: The header fields. `Content-Length` is added to every answer whose status allows a body.
  ///   - body: The body.
  init(_ status: Int, _ fields: [(name: String, value: String)], _ body: Body = .none) {
    self.status = status
    self.body = body
    head = Self.head(status, fields, length: status == 304 || status == 204 ? nil : body.count)
  }

  /// Renders a status line and header fields.
  static func head(
    _ status: Int,
    _ fields: [(name: String, value: String)],
    length: Int?
  ) -> ByteBuffer {
    var head = ByteBuffer()
    head.writeString(
      "HTTP/1.1 \(status) \(HTTPResponseStatus(statusCode: status).reasonPhrase)\r\n"
    )
    for field in fields where isFit(field.name) && isFit(field.value) {
      head.writeString("\(field.name): \(field.value)\r\n")
    }
    if let length { head.writeString("Content-Length: \(length)\r\n") }
    return head
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
  /// - Returns: The answer.
  static func problem(
    _ status: Int,
    _ detail: String,
    _ fields: [(name: String, value: String)] = []
  ) -> Answer {
    let problem = Problem(
      title: HTTPResponseStatus(statusCode: status).reasonPhrase,
      status: status,
      detail: detail
    )
    let bytes = (try? problem.jsonLine()) ?? []
    let own = [
      (name: "Content-Type", value: "application/problem+json"),
      (name: "Cache-Control", value: "no-store"),
    ]
    return Answer(status, own + fields + SafetyFields.data, .bytes(ByteBuffer(bytes: bytes)))
  }

  /// A page of the web store, or a file that such a page loads.
  ///
  /// The fields of ``SafetyFields/page`` are added, except those that `fields` already has.
  static func page(
    _ status: Int,
    _ fields: [(name: String, value: String)],
    _ body: String = ""
  ) -> Answer {
    let named = Set(fields.map { $0.name.lowercased() })
    let own = SafetyFields.page.filter { !named.contains($0.name.lowercased()) }
    return Answer(status, fields + own, .bytes(ByteBuffer(string: body)))
  }

  /// A copy of this answer with the cause of the failure, which is logged.
  func caused(by error: any Error) -> Answer {
    var answer = self
    answer.cause = "\(error)"
    return answer
  }

  private struct Problem: Encodable {
    var type = "about:blank"
    let title: String
    let status: Int
    let detail: String
  }
}

/// A JSON document with its entity tag, rendered once and sent until the catalog changes.
struct PreparedAnswer: Sendable {
  private let whole: Answer
  private let unmodified: ByteBuffer
  private let version: ServedVersion

  /// Renders the answers with status 200 and 304.
  ///
  /// - Parameters:
  ///   - type: The body's media type.
  ///   - fields: Additional header fields.
  ///   - body: The body.
  init(_ type: String, _ fields: [(name: String, value: String)] = [], _ body: [UInt8]) {
    let digest = Hexadecimal.text(SHA256.hash(data: body).prefix(16))
    version = ServedVersion(etag: "\"\(digest)\"", modified: nil)
    // `no-cache` makes clients revalidate each time: the next sync may change the answer.
    let all =
      [
        (name: "Content-Type", value: type), ("ETag", "\"\(digest)\""),
        ("Cache-Control", "no-cache"),
      ] + fields + SafetyFields.data
    whole = Answer(200, all, .bytes(ByteBuffer(bytes: body)))
    unmodified = Answer.head(304, all.filter { $0.name != "Content-Type" }, length: nil)
  }

  /// The size of this value in memory, in bytes.
  var cost: Int { whole.body.count + whole.head.readableBytes + unmodified.readableBytes }

  /// Evaluates the request's conditions, such as `If-None-Match`, and answers it.
  func answer(_ request: ServerRequest) -> Answer {
    switch version.verdict({ request.headers[$0] }) {
    case .passed: whole
    case .notModified: Answer(status: 304, head: unmodified, body: .none)
    case .failed: .problem(412, "the file has changed")
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
  /// A page is allowed to load only the server's own files, and must not be shown in a frame.
  static let page: [(name: String, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
        + "connect-src 'self'; font-src 'self'; manifest-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
    ("Referrer-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
  ]
}
