import Transport

/// What one attempt taught.
package enum AttemptOutcome: Hashable, Sendable {
  /// A failure after which the message has not been taken, and may be later.
  package struct Failure: Hashable, Sendable {
    /// The short word for it.
    package var reason: String
    /// Seconds that the webhook asked to be left alone.
    package var retryAfter: Int64?
    /// Whether it asked so for every message: its words with 429 and 503 are about itself.
    package var pausesWebhook = false
    /// Whether nobody was there: no byte of the request left.
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

  /// Judges what the transport and the webhook said.
  ///
  /// - Parameters:
  ///   - result: how the transfer ended.
  ///   - reply: the first bytes of a 2xx's body, as far as they came.
  ///   - payload: whom the webhook belongs to.
  /// - Returns: What it means for the message.
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

  /// What a whole reply says.
  private static func outcome(of word: SlackReply, status: Int = 200) -> AttemptOutcome {
    switch word {
    case .ok: .delivered
    case .refused(let word): .refused("http-\(status) \(word)")
    case .stopped(let word): .stopped("http-\(status) \(word)")
    // A proxy's page in place of the answer, perhaps; perhaps a receiver that is not Slack, and
    // took it.
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

/// What Slack's incoming webhooks say in a body.
private enum SlackReply {
  /// Taken.
  case ok
  /// As far as it came, it may become `ok`.
  case beginning
  /// This message is never taken.
  case refused(String)
  /// No message is taken any more.
  case stopped(String)
  /// One of Slack's other words, such as `invalid_blocks`: what it means, the status says.
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

  /// What Slack documents of its refusals besides.
  private static let words: Set<String> = [
    "channel_not_found", "invalid_attachments", "invalid_blocks", "invalid_blocks_format",
    "missing_text_or_fallback_or_attachments", "msg_too_long", "no_active_hooks", "no_service_id",
    "no_team", "no_text", "posting_to_general_channel_denied", "rollup_error", "team_disabled",
    "too_many_attachments", "user_not_found",
  ]
}
