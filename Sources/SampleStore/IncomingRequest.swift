import NIOCore
import NIOHTTP1

/// A request as it came in, with as much of its body as the store keeps.
struct IncomingRequest {
  /// The longest body that is kept, and so the longest order.
  static let bodyLimit = 1 << 20

  let head: HTTPRequestHead
  private(set) var body = ByteBuffer()
  /// Whether the body was longer than the store keeps.
  private(set) var isTooLong = false

  init(_ head: HTTPRequestHead) {
    self.head = head
  }

  mutating func append(_ piece: inout ByteBuffer) {
    if body.readableBytes + piece.readableBytes > Self.bodyLimit {
      isTooLong = true
      body.clear()
    } else if !isTooLong {
      body.writeBuffer(&piece)
    }
  }

  var fields: [HeaderField] {
    head.headers.map { HeaderField($0.name, $0.value) }
  }

  /// Whether a header might change what a plain GET gets; all that do begin with I or R.
  var isConditional: Bool {
    head.headers.contains { field in
      switch field.name.utf8.first {
      case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "R"), UInt8(ascii: "r"): true
      default: false
      }
    }
  }

  /// What the head of the answer says of the connection, and the empty line. (RFC 9112, section 9.3)
  var connectionLine: ByteBuffer {
    if !head.isKeepAlive { return Self.closing }
    return head.version == .http1_0 ? Self.staying : Self.silent
  }

  private static let closing = ByteBuffer(string: "Connection: close\r\n\r\n")
  private static let staying = ByteBuffer(string: "Connection: keep-alive\r\n\r\n")
  private static let silent = ByteBuffer(string: "\r\n")
}
