/// One thing that goes wrong with an answer; the effects of one answer combine.
package enum FaultEffect: Hashable, Sendable {
  /// How much of a body gets through.
  package enum Cut: Hashable, Sendable {
    /// So many bytes of it.
    case bytes(Int)
    /// A share of it, from 0 to 1.
    case fraction(Double)
  }

  /// The answer begins so much later.
  case delay(seconds: Double)
  /// Another status; from 300 on with a short body of its own.
  case status(Int, retryAfter: String? = nil)
  /// The whole length is promised, so much is sent, the connection closes.
  case truncate(after: Cut)
  /// The connection is reset after so many bytes of the body, or, if nil, before the answer.
  case reset(after: Int?)
  /// The body arrives at this rate.
  case drip(bytesPerSecond: Int)
  /// `Content-Length` is so much more, or less, than the body. More: the connection closes after
  /// the body. Less: it stays, and the surplus stands before the next answer.
  case wrongLength(Int)
  /// Another `Content-Type`, and with it another body if given.
  case wrongType(String, body: [UInt8]? = nil)
  /// The client is sent elsewhere.
  case redirect(to: String, status: Int = 302)
  /// No answer until the store stops or the client gives up.
  case hang
  /// Other bytes in place of the body, with a validator of their own.
  case body([UInt8])
  /// A header line in place of those of that name.
  case header(String, String)
  /// Neither `ETag` nor `Last-Modified`, and so no 304.
  case dropValidators
  /// Chunked framing without a length.
  case chunked
  /// The connection closes without an answer.
  case closeWithoutAnswer
  /// The body as gzip, asked for or not.
  case gzip
}
