import Crypto
import NIOCore
import Transport

/// An answer that stays as it is while the catalog does, with its entity tag.
struct PreparedAnswer: Sendable {
  private let whole: Answer
  private let unmodified: ByteBuffer
  private let tag: EntityTag?

  /// Renders an answer.
  ///
  /// - Parameters:
  ///   - type: The body's media type.
  ///   - fields: Fields besides.
  ///   - body: The body.
  init(_ type: String, _ fields: [(name: String, value: String)] = [], _ body: [UInt8]) {
    let digest = Hexadecimal.text(SHA256.hash(data: body).prefix(16))
    tag = EntityTag("\"\(digest)\"")
    // Whoever keeps it asks each time whether it still holds: the next run may change it.
    let all =
      [
        (name: "Content-Type", value: type), ("ETag", "\"\(digest)\""),
        ("Cache-Control", "no-cache"),
      ] + fields + SafetyFields.data
    whole = Answer(200, all, .bytes(ByteBuffer(bytes: body)))
    unmodified = Answer.head(304, all.filter { $0.name != "Content-Type" }, length: nil)
  }

  /// What it takes in memory.
  var cost: Int { whole.body.count + whole.head.readableBytes + unmodified.readableBytes }

  /// Answers a request.
  func answer(_ request: ServerRequest) -> Answer {
    switch Precondition(request, tag: tag, modified: nil) {
    case .passed: whole
    case .notModified: Answer(status: 304, head: unmodified, body: .none)
    case .failed: .problem(412, "this is another version by now")
    }
  }
}
