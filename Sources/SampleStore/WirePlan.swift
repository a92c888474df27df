import Base
import NIOCore
import NIOHTTP1

/// The bytes to send for one request, the times at which they are sent, and the state of the connection afterwards.
struct WirePlan {
  /// The state of the connection after the answer.
  enum Ending {
    case keepAlive, close, reset, hang
  }

  var delay = 0.0
  var head = ByteBuffer()
  /// The body, including the framing if it is sent as a chunk.
  var body = ByteBuffer()
  var bytesPerSecond: Int?
  var ending: Ending
  /// The number of body bytes without the framing of chunks.
  var bodyBytes = 0
}

extension WirePlan {
  /// Plans the bytes of an answer, to which a fault can be applied.
  ///
  /// - Parameters:
  ///   - reply: The answer.
  ///   - fault: The fault to apply, for example a truncated body. Pass nil if the answer has no fault.
  ///   - request: The request. It decides whether a body is sent, and whether the connection stays open.
  ///   - seconds: The time for the header line `Date`, in seconds since 1970.
  init(_ reply: Reply, fault: Fault?, to request: HTTPRequestHead, at seconds: Double) {
    let length = reply.body.readableBytes
    let hasBody = reply.mayHaveBody && request.method != .HEAD
    self.init(ending: request.isKeepAlive ? .keepAlive : .close)
    body = hasBody ? reply.body : ByteBuffer()

    if let fault {
      delay = fault.delay
      bytesPerSecond = fault.drip
      if let cut = fault.cut, hasBody {
        body = body.getSlice(at: body.readerIndex, length: cut.count(of: length)) ?? body
        ending = .close
      }
      if let difference = fault.wrongLength, difference > 0 { ending = .close }
      if let bytes = fault.reset {
        body = body.getSlice(at: body.readerIndex, length: min(bytes, body.readableBytes)) ?? body
        ending = .reset
      }
    }
    bodyBytes = body.readableBytes

    if fault?.chunked == true, reply.mayHaveBody {
      head = reply.rendered(length: nil)
      head.writeStaticString("Transfer-Encoding: chunked\r\n")
      if hasBody { body = Self.chunk(body, whole: bodyBytes == length) }
    } else {
      let promised = max(0, length + (fault?.wrongLength ?? 0))
      head = reply.rendered(length: reply.mayHaveBody ? promised : nil)
    }
    head.writeString("Date: \(UnixTime(Int64(seconds)).httpDate)\r\n")
    if !request.isKeepAlive {
      head.writeStaticString("Connection: close\r\n")
    } else if request.version == .http1_0 {
      head.writeStaticString("Connection: keep-alive\r\n")
    }
    head.writeStaticString("\r\n")
  }

  /// Encodes a body as one chunk. (RFC 9112, section 7.1)
  ///
  /// If the body is truncated, the empty chunk that ends a complete body is left out.
  private static func chunk(_ body: ByteBuffer, whole: Bool) -> ByteBuffer {
    var framed = ByteBuffer()
    if body.readableBytes > 0 {
      framed.writeString(String(body.readableBytes, radix: 16) + "\r\n")
      framed.writeImmutableBuffer(body)
      framed.writeStaticString("\r\n")
    }
    if whole { framed.writeStaticString("0\r\n\r\n") }
    return framed
  }
}

extension FaultEffect.Cut {
  func count(of length: Int) -> Int {
    switch self {
    case .bytes(let count): min(count, length)
    case .fraction(let share): min(length, Int(Double(length) * share))
    }
  }
}
