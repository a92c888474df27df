import NIOCore
import NIOHTTP1

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
