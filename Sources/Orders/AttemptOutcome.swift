import Transport

/// The information that one attempt gives.
package enum AttemptOutcome: Hashable, Sendable {
  /// A failure after which the message has not been taken, and may be later.
  package struct Failure: Hashable, Sendable {
    /// The short word for it.
    package var reason: String
    /// Seconds that the webhook asked to be left alone.
    package var retryAfter: Int64?
    /// Whether it asked so for every message: its words with 429 and 503 are about itself.
    package var pausesWebhook = false
    /// Whether there was no connection: no byte of the request left.
    package var isUnreachable = false

    /// Makes a failure that concerns one message.
    package init(_ reason: String, retryAfter: Int64? = nil) {
      self.reason = reason
      self.retryAfter = retryAfter
    }
  }

  /// The webhook took it.
  case delivered
  /// The webhook will never take this message.
  case refused(String)
  /// The webhook takes nothing any more.
  case stopped(String)
  /// It was not taken now.
  case failed(Failure)
  /// It may have arrived; `retryAfter` is how many seconds the answer asked to wait.
  case unknown(String, retryAfter: Int64? = nil)
  /// The user ended the run before a byte left.
  case unsent
}

extension AttemptOutcome {
  /// The outcome as the outbox keeps it: never a URL, never the receiver's own text.
  package var words: String {
    switch self {
    case .delivered: "delivered"
    case .refused(let reason): "refused \(reason)"
    case .stopped(let reason): "stopped \(reason)"
    case .failed(let failure): "failed \(failure.reason)"
    case .unknown(let reason, _): "unknown \(reason)"
    case .unsent: "unsent"
    }
  }

  /// Judges the answers of the transport and the webhook.
  ///
  /// - Parameters:
  ///   - result: how the transfer ended.
  ///   - reply: the first bytes of a 2xx's body, as far as they came.
  ///   - payload: the kind of the webhook.
  /// - Returns: Its meaning for the message.
  package static func judge(
    _ result: Result<Response, TransferFailure>,
    reply: [UInt8],
    payload: PayloadKind
  ) -> AttemptOutcome {
    let word = payload == .slack ? SlackReply(reply) : .ok
    switch result {
    case .success:
      return outcome(of: word)
    case .failure(let failure):
      guard let status = failure.status else { return unanswered(failure) }
      if (200...299).contains(status) { return brokenOff(failure, word) }
      let word = payload == .slack ? SlackReply(failure.refusal) : .other
      switch word {
      case .refused, .stopped: return outcome(of: word, status: status)
      case .said(let word): return refusal(status, failure, saying: word)
      case .ok, .beginning, .other: return refusal(status, failure)
      }
    }
  }

  /// The outcome of a whole reply.
  private static func outcome(of word: SlackReply, status: Int = 200) -> AttemptOutcome {
    switch word {
    case .ok: .delivered
    case .refused(let word): .refused("http-\(status) \(word)")
    case .stopped(let word): .stopped("http-\(status) \(word)")
    // Perhaps a proxy's page instead of the answer; perhaps a receiver that is not Slack, and
    // accepted it.
    case .beginning, .said, .other: .unknown("reply-not-ok")
    }
  }

  /// A 2xx whose body never ended: its status is all that a plain receiver promises.
  private static func brokenOff(_ failure: TransferFailure, _ word: SlackReply) -> AttemptOutcome {
    switch word {
    case .ok where failure.reason != .tooLarge: .delivered
    case .beginning: .unknown(failure.reason.rawValue)
    default: outcome(of: word)
    }
  }

  private static func unanswered(_ failure: TransferFailure) -> AttemptOutcome {
    if failure.mayHaveBeenSent { return .unknown(failure.reason.rawValue) }
    if failure.reason == .cancelled { return .unsent }
    var unreachable = Failure(failure.reason.rawValue)
    unreachable.isUnreachable = true
    return .failed(unreachable)
  }

  private static func refusal(
    _ status: Int,
    _ failure: TransferFailure,
    saying word: String? = nil
  ) -> AttemptOutcome {
    let reason = "http-\(status)" + (word.map { " \($0)" } ?? "")
    switch StatusMeaning(status, body: failure.refusal) {
    case .refused: return .refused(reason)
    case .stopped: return .stopped(reason)
    case .mayHaveArrived: return .unknown(reason, retryAfter: failure.retryAfter)
    case .notTaken:
      var answer = Failure(reason, retryAfter: failure.retryAfter)
      answer.pausesWebhook = status == 429 || status == 503
      return .failed(answer)
    }
  }
}

/// The bodies of replies by Slack's incoming webhooks.
private enum SlackReply {
  /// Taken.
  case ok
  /// As far as it came, it may become `ok`.
  case beginning
  /// This message is never taken.
  case refused(String)
  /// No message is taken any more.
  case stopped(String)
  /// Another of Slack's codes, such as `invalid_blocks`; the status decides.
  case said(String)
  /// Not Slack's words.
  case other

  init(_ bytes: [UInt8]) {
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    let text = String(decoding: bytes.drop { blanks.contains($0) }, as: UTF8.self)
    let word = String(text.prefix { !$0.isWhitespace })
    switch word {
    case _ where text.contains { !$0.isWhitespace && !$0.isASCII }: self = .other
    case "ok" where text.dropFirst(2).allSatisfy(\.isWhitespace): self = .ok
    case "", "o": self = text.allSatisfy { $0 == "o" } ? .beginning : .other
    case "invalid_payload": self = .refused(word)
    case "no_service", "invalid_token", "channel_is_archived", "action_prohibited":
      self = .stopped(word)
    case _ where Self.words.contains(word):
      self = text.dropFirst(word.count).allSatisfy(\.isWhitespace) ? .said(word) : .other
    default: self = .other
    }
  }

  /// Further refusals in Slack's documentation.
  private static let words: Set<String> = [
    "channel_not_found", "invalid_attachments", "invalid_blocks", "invalid_blocks_format",
    "missing_text_or_fallback_or_attachments", "msg_too_long", "no_active_hooks", "no_service_id",
    "no_team", "no_text", "posting_to_general_channel_denied", "rollup_error", "team_disabled",
    "too_many_attachments", "user_not_found",
  ]
}

/// The meaning of a final status other than 2xx for a message that was posted once.
///
/// A POST may be repeated only where the answer says that the first one was not carried out. (RFC 9110,
/// section 9.2.2) The answer may come from the receiver or from a gateway in front of it, which often does
/// not know the outcome of a forwarded request.
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
  ///   - body: the first bytes of its body.
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
      // The receiver states that it did not fulfil the request (sections 15.6.1, 15.6.2, 15.6.4
      // and 15.6.6), or a gateway that it could not forward it. 507, 508, 510 and 511 are
      // registered with the same meaning.
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
