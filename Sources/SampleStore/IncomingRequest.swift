import HTTPServing
import NIOCore
import NIOHTTP1

/// A request as it was received: its head, and its body up to a limit.
struct IncomingRequest {
  /// The maximum length of a body in bytes, and therefore of an order.
  static let bodyLimit = 1 << 20

  let head: HTTPRequestHead
  private(set) var body = ByteBuffer()
  /// Whether the body was longer than the limit.
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

  /// Whether the request may have a header that changes the answer to a plain GET.
  ///
  /// The names of all such headers (`If-…`, `Range`) begin with I or R.
  var isConditional: Bool {
    head.headers.contains { field in
      switch field.name.utf8.first {
      case UInt8(ascii: "I"), UInt8(ascii: "i"), UInt8(ascii: "R"), UInt8(ascii: "r"): true
      default: false
      }
    }
  }

  /// The end of the answer's head: the `Connection` line, if it is needed, and the empty line. (RFC 9112, section 9.3)
  var connectionLine: ByteBuffer {
    if !head.isKeepAlive { return Self.closing }
    return head.version == .http1_0 ? Self.staying : Self.silent
  }

  private static let closing = ByteBuffer(string: "Connection: close\r\n\r\n")
  private static let staying = ByteBuffer(string: "Connection: keep-alive\r\n\r\n")
  private static let silent = ByteBuffer(string: "\r\n")
}

/// The path and query of a request, checked before they are used.
struct RequestTarget: Equatable {
  /// The decoded path, which begins with a slash; nil when the path could lead out of the store's folder.
  let path: String?
  /// The query as it was sent, without the question mark; nil when there is none.
  let query: String?
  /// The path as it was sent.
  let rawPath: String

  /// Splits and checks a request target.
  init(_ target: String) {
    let parts = TargetParts(target)
    rawPath = parts.map { String($0.path) } ?? target
    query = parts?.query.map(String.init)
    path = Self.safePath(rawPath)
  }

  /// Decodes `%XX`; nil for a path with dot segments, encoded slashes, backslashes, NUL or invalid UTF-8.
  private static func safePath(_ raw: String) -> String? {
    let plain = raw.utf8.allSatisfy { $0 != 0x25 && $0 != 0x5C && $0 != 0 }
    guard raw.utf8.first == 0x2F else { return nil }
    guard let path = plain ? raw : decoded(raw) else { return nil }
    var rest = path.utf8.dropFirst()
    while true {
      let segment = rest.prefix { $0 != 0x2F }
      if segment.elementsEqual(".".utf8) || segment.elementsEqual("..".utf8) { return nil }
      guard segment.endIndex < rest.endIndex else { return path }
      rest = rest[rest.index(after: segment.endIndex)...]
    }
  }

  private static func decoded(_ raw: String) -> String? {
    var bytes: [UInt8] = []
    var rest = raw.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == 0x25 else {
        if byte == 0x5C || byte == 0 { return nil }
        bytes.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(nibble), let low = rest.popFirst().flatMap(nibble)
      else { return nil }
      let value = high << 4 | low
      if value == 0x2F || value == 0x5C || value == 0 { return nil }
      bytes.append(value)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static func nibble(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x37
    case 0x61...0x66: byte - 0x57
    default: nil
    }
  }
}
