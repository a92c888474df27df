import NIOCore
import NIOHTTP1

/// The combined effects of all fault rules that apply to one request.
///
/// Delays are added up. If other effects conflict, the effect of the last rule counts.
struct Fault: Equatable {
  var delay = 0.0
  var status: Int?
  var cut: FaultEffect.Cut?
  var reset: Int?
  var drip: Int?
  var wrongLength: Int?
  var type: String?
  var body: [UInt8]?
  var headers: [HeaderField] = []
  var dropsValidators = false
  var chunked = false
  var gzip = false
  /// If this is not nil, the request gets no answer, and the connection ends in this way or hangs.
  var silence: WirePlan.Ending?

  init(_ effects: some Sequence<FaultEffect>) {
    for effect in effects {
      switch effect {
      case .delay(let seconds): delay += seconds
      case .status(let code, let retryAfter):
        status = code
        if let retryAfter { headers.set("Retry-After", retryAfter) }
      case .truncate(let cut): self.cut = cut
      case .reset(let bytes):
        reset = bytes
        if bytes == nil { silence = .reset }
      case .drip(let rate): drip = rate
      case .wrongLength(let delta): wrongLength = delta
      case .wrongType(let type, let body):
        self.type = type
        self.body = body ?? self.body
      case .redirect(let location, let code):
        status = code
        headers.set("Location", location)
      case .hang: silence = .hang
      case .body(let bytes): body = bytes
      case .header(let name, let value): headers.set(name, value)
      case .dropValidators: dropsValidators = true
      case .chunked: chunked = true
      case .closeWithoutAnswer: silence = .close
      case .gzip: gzip = true
      }
    }
  }
}

/// An effect of a fault rule on the answer to a request.
///
/// Several effects can apply to one answer.
package enum FaultEffect: Hashable, Sendable {
  /// The length of a truncated body.
  package enum Cut: Hashable, Sendable {
    /// A number of bytes.
    case bytes(Int)
    /// A fraction of the body, from 0 to 1.
    case fraction(Double)
  }

  /// The answer is sent after a delay.
  case delay(seconds: Double)
  /// The answer has this status instead of the usual one, and optionally the field `Retry-After`.
  ///
  /// If the status is 300 or more, a short body replaces the usual body, unless the fault sets a body.
  case status(Int, retryAfter: String? = nil)
  /// `Content-Length` has the full length, but only a part of the body is sent before the connection is closed.
  case truncate(after: Cut)
  /// The connection is reset after this number of body bytes, or before the answer if the number is nil.
  case reset(after: Int?)
  /// The body is sent at this rate, in bytes per second.
  case drip(bytesPerSecond: Int)
  /// `Content-Length` differs from the true length by this number of bytes.
  ///
  /// If the stated length is too large, the connection is closed after the body. If it is too small, the connection
  /// stays open, and the client takes the rest of the body for the beginning of the next answer.
  case wrongLength(Int)
  /// The answer has this `Content-Type` instead of the usual one, and optionally this body.
  case wrongType(String, body: [UInt8]? = nil)
  /// The answer is a redirect to a URL.
  case redirect(to: String, status: Int = 302)
  /// Nothing is sent, and the connection stays open until the store stops or the client closes it.
  case hang
  /// The answer has this body, with an `ETag` of its own.
  case body([UInt8])
  /// The answer has this header line, which replaces all lines with the same name.
  case header(String, String)
  /// The answer has neither `ETag` nor `Last-Modified`, so a conditional request never gets status 304.
  case dropValidators
  /// The body is sent with chunked transfer coding, without `Content-Length`.
  case chunked
  /// The connection is closed without an answer.
  case closeWithoutAnswer
  /// The body is encoded with gzip, even if the client does not accept that.
  case gzip
}

extension Resource {
  /// Applies the effects that change the resource: its bytes, its type and its validators.
  ///
  /// This is done before the conditions and ranges of the request are evaluated.
  mutating func apply(_ fault: Fault) {
    if let bytes = fault.body { replaceBody(bytes) }
    if let type = fault.type { self.type = type }
    if fault.gzip {
      replaceBody(Gzip.stored(bytes))
      encoding = "gzip"
    }
    if fault.dropsValidators { (etag, lastModified) = (nil, nil) }
  }

  private mutating func replaceBody(_ bytes: [UInt8]) {
    body = ByteBuffer(bytes: bytes)
    etag = Resource.etag(of: bytes)
  }
}

extension Reply {
  /// Applies the effects that change the status and the header lines.
  mutating func apply(_ fault: Fault) {
    if let code = fault.status {
      if code < 300 {
        status = code
      } else {
        let given = fault.body.map(ByteBuffer.init(bytes:))
        self = .problem(code, HTTPResponseStatus(statusCode: code).reasonPhrase.lowercased())
        if let given { body = given }
        if let type = fault.type { fields.set("Content-Type", type) }
      }
    }
    for field in fault.headers { fields.set(field.name, field.value) }
  }
}

/// Writes gzip files without compression.
enum Gzip {
  /// Encodes bytes as a gzip file, in blocks that are stored and not compressed. (RFC 1952, section 2.3; RFC 1951,
  /// 3.2.4)
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xFFFF)
      rest = rest.dropFirst(block.count)
      let count = UInt16(block.count)
      out.append(rest.isEmpty ? 1 : 0)
      out += littleEndian(count) + littleEndian(~count) + block
    } while !rest.isEmpty
    let size = UInt32(truncatingIfNeeded: bytes.count)
    return out + littleEndian(CRC32.of(bytes)) + littleEndian(size)
  }

  private static func littleEndian<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    (0..<Value.bitWidth / 8).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}
