import Base
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
    let slash = UInt8(ascii: "/")
    guard raw.utf8.first == slash, !raw.lowercased().utf8.contains("%2f".utf8),
      let path = PercentEncoding.text(raw),
      !path.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == 0 })
    else { return nil }
    let segments = path.utf8.split(separator: slash)
    let isSafe = segments.allSatisfy {
      !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8)
    }
    return isSafe ? path : nil
  }
}
