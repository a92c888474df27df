import Transport

/// The outcome of one attempt to send a message to a webhook.
package enum AttemptOutcome: Hashable, Sendable {
  /// The reason for which the webhook did not accept a message.
  package struct Failure: Hashable, Sendable {
    /// The reason as a short word, for example `http-500`.
    package var reason: String
    /// The number of seconds in the response's `Retry-After` field.
    package var retryAfter: Int64?
    /// Whether `Retry-After` applies to all messages, because the status is 429 or 503.
    package var pausesWebhook = false
    /// Whether no byte was sent, because there was no connection.
    package var isUnreachable = false

    /// Makes a failure that applies to one message.
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
  /// The webhook did not accept the message, but may accept it later.
  case failed(Failure)
  /// It is not known whether the webhook accepted the message.
  ///
  /// `retryAfter` is the number of seconds in the response's `Retry-After` field.
  case unknown(String, retryAfter: Int64? = nil)
  /// The user ended the run before a byte was sent.
  case unsent
}

extension AttemptOutcome {
  /// The outcome as text, for example `failed http-500`.
  ///
  /// The outbox stores this text.
  ///
  /// It contains only words that larder knows, and never a URL or other text of the webhook.
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
  ///   - reply: The first received bytes of the body, if the status was from 200 to 299.
  ///   - payload: The format of the message.
  /// - Returns: The outcome.
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
    // The reply may be a page of a proxy. Or a service other than Slack sent it, and accepted the message.
    case .beginning, .said, .other: .unknown("reply-not-ok")
    }
  }

  /// The outcome for a successful status with an incomplete body.
  ///
  /// For JSON messages, the body does not matter, and `word` is `.ok`.
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

  /// The outcome for a status that is not from 200 to 299.
  ///
  /// A POST must not be repeated unless the response proves that the first request had no effect. (RFC 9110, section
  /// 9.2.2) The response may be from the webhook itself, or from a gateway in front of it. A gateway forwards requests,
  /// and often does not know whether a forwarded request had an effect.
  private static func refusal(
    _ status: Int,
    _ failure: TransferFailure,
    saying word: String? = nil
  ) -> AttemptOutcome {
    let reason = "http-\(status)" + (word.map { " \($0)" } ?? "")
    let mayHaveArrived = AttemptOutcome.unknown(reason, retryAfter: failure.retryAfter)
    var notTaken = Failure(reason, retryAfter: failure.retryAfter)
    notTaken.pausesWebhook = status == 429 || status == 503
    return switch status {
    // The message itself is wrong. (RFC 9110, sections 15.5.1, 15.5.14 and 15.5.21)
    case 400, 413, 422: .refused(reason)
    // The URL does not exist any more, or larder is no longer allowed to use it. (Sections 15.5.2, 15.5.4, 15.5.5 and
    // 15.5.11)
    case 401, 403, 404, 410: .stopped(reason)
    // The client should send the same request to another URL, so this request had no effect. (Sections 15.4.2, 15.4.8
    // and 15.4.9)
    case 301, 307, 308: .failed(notTaken)
    // nginx sends 499, and AWS sends 460, if its client closed the connection. This client may be another gateway,
    // and the request may have had an effect. These statuses are not registered.
    case 499, 460: mayHaveArrived
    // With all other statuses from 400 to 499, the request had no effect. For example, 408 means that the request was
    // incomplete, and 429 means that there were too many requests.
    case 402...498: .failed(notTaken)
    // Envoy also sends 503 if its connection to the webhook failed after it had forwarded the request.
    case 503
    where failure.refusal.starts(with: "upstream connect error or disconnect/reset".utf8):
      mayHaveArrived
    // The webhook could not carry out the request (sections 15.6.1, 15.6.2, 15.6.4 and 15.6.6), or a gateway could
    // not forward it. The registered statuses 507, 508, 510 and 511 have the same meaning.
    case 500, 501, 503, 505, 506, 507, 508, 510, 511: .failed(notTaken)
    // Cloudflare sends these statuses if it could not connect to the webhook.
    case 521, 523, 525, 526: .failed(notTaken)
    // With 502 and 504, a gateway forwarded the request and received no valid response. (Sections 15.6.3 and 15.6.5)
    // Other gateways use 520, 522, 524 and similar statuses for this. With 302 and 303, a webhook that accepted the
    // message may lead a browser to a page about the result. (Sections 15.4.3 and 15.4.4) The meaning of any other
    // status is not known.
    default: mayHaveArrived
    }
  }
}

/// The body of a response from Slack, which is a single word such as `ok`.
private enum SlackReply {
  /// Slack accepted the message.
  case ok
  /// The body is incomplete, and may be the beginning of `ok`.
  case beginning
  /// Slack will never accept this message.
  case refused(String)
  /// The webhook no longer accepts any message.
  case stopped(String)
  /// The body is another of Slack's error codes, for example `invalid_blocks`.
  ///
  /// The status decides about the outcome.
  case said(String)
  /// The body is not from Slack.
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

  /// The other error codes that Slack's documentation lists.
  private static let words: Set<String> = [
    "channel_not_found", "invalid_attachments", "invalid_blocks", "invalid_blocks_format",
    "missing_text_or_fallback_or_attachments", "msg_too_long", "no_active_hooks", "no_service_id",
    "no_team", "no_text", "posting_to_general_channel_denied", "rollup_error", "team_disabled",
    "too_many_attachments", "user_not_found",
  ]
}
