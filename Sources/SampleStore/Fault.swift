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
  var body: [UInt8]?
  var headers = HTTPHeaders()
  var dropsValidators = false
  var chunked = false
  /// If this is not nil, the request gets no answer, and the connection ends in this way or hangs.
  var silence: WirePlan.Ending?

  init(_ effects: some Sequence<FaultEffect>) {
    for effect in effects {
      switch effect {
      case .delay(let seconds): delay += seconds
      case .status(let code, let retryAfter):
        status = code
        if let retryAfter { headers.replaceOrAdd(name: "Retry-After", value: retryAfter) }
      case .truncate(let cut): self.cut = cut
      case .reset(let bytes):
        reset = bytes
        if bytes == nil { silence = .reset }
      case .drip(let rate): drip = rate
      case .wrongLength(let delta): wrongLength = delta
      case .hang: silence = .hang
      case .body(let bytes): body = bytes
      case .header(let name, let value): headers.replaceOrAdd(name: name, value: value)
      case .dropValidators: dropsValidators = true
      case .chunked: chunked = true
      case .closeWithoutAnswer: silence = .close
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
}

extension Resource {
  /// Applies the effects that change the resource: its bytes and its validators.
  ///
  /// This is done before the conditions and ranges of the request are evaluated.
  mutating func apply(_ fault: Fault) {
    if let bytes = fault.body {
      body = ByteBuffer(bytes: bytes)
      etag = Resource.etag(of: bytes)
    }
    if fault.dropsValidators { (etag, lastModified) = (nil, nil) }
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
      }
    }
    for (name, value) in fault.headers { fields.replaceOrAdd(name: name, value: value) }
  }
}
