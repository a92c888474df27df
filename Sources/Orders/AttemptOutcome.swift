import Transport

/// The outcome of one attempt to send a message.
package enum AttemptOutcome: Hashable, Sendable {
  /// A failed attempt: the message was not accepted, but may be accepted later.
  package struct Failure: Hashable, Sendable {
    /// The reason code, such as `http-500`.
    package var reason: String
    /// The seconds of the response's `Retry-After`.
    package var retryAfter: Int64?
    /// Whether `Retry-After` applies to all messages, as for the statuses 429 and 503.
    package var pausesWebhook = false
    /// Whether no connection was made, so that no byte of the request was sent.
    package var isUnreachable = false

    /// Makes a failure that concerns one message.
    package init(_ reason: String, retryAfter: Int64? = nil) {
      self.reason = reason
      self.retryAfter = retryAfter
    }
  }

  /// The webhook accepted the message.
  case delivered
  /// The webhook will never accept this message.
  case refused(String)
  /// The webhook no longer accepts any message.
  case stopped(String)
  /// The message was not accepted, but may be accepted later.
  case failed(Failure)
  /// The message may have arrived; `retryAfter` has the seconds of the response's `Retry-After`.
  case unknown(String, retryAfter: Int64? = nil)
  /// The user ended the run before a byte was sent.
  case unsent
}

extension AttemptOutcome {
  /// The outcome as the outbox stores it, such as `failed http-500`; never contains a URL or free text of the receiver.
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

  /// Determines the outcome from the result of the transfer and the webhook's reply.
  ///
  /// - Parameters:
  ///   - result: The result of the transfer.
  ///   - reply: The first bytes of the body of a 2xx response, as far as they arrived.
  ///   - payload: The kind of payload.
  /// - Returns: The outcome for the message.
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

  /// The outcome for a complete reply.
  private static func outcome(of word: SlackReply, status: Int = 200) -> AttemptOutcome {
    switch word {
    case .ok: .delivered
    case .refused(let word): .refused("http-\(status) \(word)")
    case .stopped(let word): .stopped("http-\(status) \(word)")
    // The reply may be a proxy's page, or the page of a receiver other than Slack that accepted the message.
    case .beginning, .said, .other: .unknown("reply-not-ok")
    }
  }

  /// The outcome for a 2xx with an incomplete body; for receivers other than Slack, the status is sufficient.
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

/// The reply body of Slack's incoming webhooks.
private enum SlackReply {
  /// The message was accepted.
  case ok
  /// An incomplete body that may be the beginning of `ok`.
  case beginning
  /// Slack will never accept this message.
  case refused(String)
  /// The webhook no longer accepts any message.
  case stopped(String)
  /// Another of Slack's codes, such as `invalid_blocks`; the HTTP status decides the outcome.
  case said(String)
  /// Not a reply of Slack.
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

  /// The other error codes in Slack's documentation.
  private static let words: Set<String> = [
    "channel_not_found", "invalid_attachments", "invalid_blocks", "invalid_blocks_format",
    "missing_text_or_fallback_or_attachments", "msg_too_long", "no_active_hooks", "no_service_id",
    "no_team", "no_text", "posting_to_general_channel_denied", "rollup_error", "team_disabled",
    "too_many_attachments", "user_not_found",
  ]
}

/// The meaning of a final HTTP status, other than 2xx, for a message that was sent by POST.
///
/// A POST may be repeated only if the answer proves that the first request was not carried out. (RFC 9110, section
/// 9.2.2) The answer may be from the receiver, or from a gateway in front of it. A gateway often does not know the
/// outcome of a forwarded request.
enum StatusMeaning: Hashable {
  /// The receiver will never accept this message.
  case refused
  /// The receiver no longer accepts any message.
  case stopped
  /// This message was not accepted, but may be accepted later.
  case notTaken
  /// The answer does not prove whether the message was accepted.
  case mayHaveArrived

  /// Interprets a status.
  ///
  /// - Parameters:
  ///   - status: The final status, not a 2xx.
  ///   - body: The first bytes of the response's body.
  init(_ status: Int, body: [UInt8] = []) {
    self =
      switch status {
      // The message itself is wrong. (RFC 9110, sections 15.5.1, 15.5.14 and 15.5.21)
      case 400, 413, 422: .refused
      // The URL or the permission no longer exists. (Sections 15.5.2, 15.5.4, 15.5.5 and 15.5.11)
      case 401, 403, 404, 410: .stopped
      // The same request should be sent to another URL, so nobody has acted on it. (Sections 15.4.2, 15.4.8 and 15.4.9)
      case 301, 307, 308: .notTaken
      // nginx (499) and AWS (460) say that the client closed the connection. That client may be a gateway in front of
      // them, and the receiver may have carried the request out. Neither status is registered.
      case 499, 460: .mayHaveArrived
      // Every other 4xx means that the receiver did not act on the request. With 408 the request was incomplete, and
      // with 409, 421, 425 and 429 the request was not carried out.
      case 402...498: .notTaken
      // Envoy also sends 503 when its connection to the receiver broke after the request was forwarded.
      case 503 where body.starts(with: "upstream connect error or disconnect/reset".utf8):
        .mayHaveArrived
      // The receiver did not fulfil the request (sections 15.6.1, 15.6.2, 15.6.4 and 15.6.6), or a gateway could not
      // forward it. 507, 508, 510 and 511 are registered with the same meaning.
      case 500, 501, 503, 505, 506, 507, 508, 510, 511: .notTaken
      // A CDN could not reach the receiver: refused connection, no route, or failed TLS. (Cloudflare)
      case 521, 523, 525, 526: .notTaken
      // 502 and 504: a gateway forwarded the request and got no answer, or an invalid answer. (Sections 15.6.3 and
      // 15.6.5) Other gateways use 520, 522, 524 and similar codes for that. With 302 and 303, a receiver that did act
      // sends a browser to a page about the result. (Sections 15.4.3 and 15.4.4) An unregistered status proves nothing.
      default: .mayHaveArrived
      }
  }
}
