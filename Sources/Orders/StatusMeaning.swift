/// What a final status other than 2xx means for a message that was posted once.
///
/// A POST may be repeated only where the answer says that the first one was not carried out. (RFC
/// 9110, section 9.2.2) The answer may come from the receiver or from a gateway in front of it, which often
/// does not know what became of a request that it forwarded.
enum StatusMeaning: Hashable {
  /// The receiver will never take this message.
  case refused
  /// The receiver takes no message any more.
  case stopped
  /// This message was not taken, and may be later.
  case notTaken
  /// Whether it was taken, the answer does not say.
  case mayHaveArrived

  /// Reads a status.
  ///
  /// - Parameters:
  ///   - status: the final status, not a 2xx.
  ///   - body: the first bytes of what came with it.
  init(_ status: Int, body: [UInt8] = []) {
    self =
      switch status {
      // The message itself is wrong. (RFC 9110, sections 15.5.1, 15.5.14 and 15.5.21)
      case 400, 413, 422: .refused
      // The place or the right to it is gone. (Sections 15.5.2, 15.5.4, 15.5.5 and 15.5.11)
      case 401, 403, 404, 410: .stopped
      // The request is to be made elsewhere, as it is: nobody has acted on it. (Sections 15.4.2,
      // 15.4.8 and 15.4.9)
      case 301, 307, 308: .notTaken
      // nginx (499) and AWS (460) say that the client closed the connection. That client may be a gateway in front of
      // them, and the receiver may have carried the request out. Neither status is registered.
      case 499, 460: .mayHaveArrived
      // Every other 4xx says that the receiver will not act on the request. 408 says that it was
      // never complete; 409, 421, 425 and 429 that it was not carried out.
      case 402...498: .notTaken
      // Envoy writes 503 too when the receiver's connection broke after the request was passed on.
      case 503 where body.starts(with: "upstream connect error or disconnect/reset".utf8):
        .mayHaveArrived
      // The receiver's own word that it did not fulfil the request (sections 15.6.1, 15.6.2,
      // 15.6.4 and 15.6.6), and a gateway's that it has nobody to pass it to. 507, 508, 510 and
      // 511 are registered and say the same of what they need.
      case 500, 501, 503, 505, 506, 507, 508, 510, 511: .notTaken
      // A CDN did not reach the receiver: refused, no route, no TLS. (Cloudflare)
      case 521, 523, 525, 526: .notTaken
      // 502 and 504: a gateway passed the request on and got no answer, or none that it
      // understood. (Sections 15.6.3 and 15.6.5) 520, 522, 524 and their like say so of other
      // gateways. 302 and 303 are how a receiver that did act sends a browser to a page about it.
      // (Sections 15.4.3 and 15.4.4) An unregistered status proves nothing.
      default: .mayHaveArrived
      }
  }
}
