import Base
import Crypto
import FoundationEssentials
import Transport

/// The format of messages for a receiver.
package enum PayloadKind: String, Sendable, CaseIterable {
  /// Slack's incoming webhooks.
  case slack
  /// JSON messages as defined by Standard Webhooks 1.0.
  case json

  /// The default policy for a message that may have arrived.
  ///
  /// Hold for Slack, because people would see the message twice. Resend for JSON, because programs ignore a repeated
  /// id.
  package var defaultPolicy: AmbiguityPolicy { self == .slack ? .hold : .resend }
}

/// A receiver of messages: its URL, its message format, and the keys that sign its messages.
///
/// The URL is a secret and is never shown. Messages show ``host``, and the outbox stores ``digest``.
package struct Webhook: Sendable {
  /// The URL; never print it.
  let url: WebURL
  /// The format of messages.
  package let payload: PayloadKind
  /// The keys for signatures; empty if the user wants no signatures, and for Slack, whose URL is the secret.
  let secrets: [WebhookSecret]
  /// The template for Slack's messages.
  let template: MessageTemplate

  /// Parses the text of a secret file or an environment variable.
  ///
  /// - Parameters:
  ///   - text: The URL, which may have white space around it.
  ///   - payload: The format of messages.
  ///   - secrets: The keys for signatures.
  ///   - template: The template for Slack's messages.
  ///   - parser: The parser of URLs.
  /// - Throws: ``LarderError`` of code `usage`, which does not repeat the URL.
  package init(
    _ text: String,
    payload: PayloadKind,
    secrets: [WebhookSecret] = [],
    template: MessageTemplate = .standard,
    parser: any URLParsing
  ) throws(LarderError) {
    let parsed: WebURL
    do {
      parsed = try parser.parse(text, relativeTo: nil)
    } catch {
      throw LarderError(
        .usage,
        "cannot use the webhook's URL: it is not an https URL; its file or variable must contain only the URL"
      )
    }
    // Checked before the URL is parsed, because the parser would encode the line break between two URLs, and so make
    // one URL of them.
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1 else {
      throw LarderError(.usage, "cannot use the webhook's URL: it must be a single URL")
    }
    guard parsed.scheme == .https || parsed.isLoopback else {
      throw LarderError(
        .usage,
        "cannot use the webhook's URL: http would expose it to the network; use https"
      )
    }
    url = parsed
    self.payload = payload
    self.secrets = secrets
    self.template = template
  }

  /// The host, with the port unless it is the scheme's default.
  package var host: String {
    url.port == url.scheme.defaultPort ? url.host : url.hostPort.description
  }

  /// The key of the webhook in the outbox: the SHA-256 of the URL, 64 hexadecimal digits.
  var digest: String {
    Hexadecimal.text(SHA256.hash(data: Array(((url.userInfo ?? "") + "@" + url.text).utf8)))
  }
}

/// A key for the signature of messages. (Standard Webhooks 1.0, "Symmetric")
package struct WebhookSecret: Sendable {
  private let key: SymmetricKey

  /// The least length of a key. (Standard Webhooks 1.0, "Signature scheme": 24 to 64 bytes)
  private static let leastBytes = 24

  /// Parses the keys in a file or an environment variable: `whsec_` and base64, separated by white space.
  ///
  /// - Parameter text: One key or several. A message is signed with every key, so that a receiver can change its key.
  /// - Returns: The keys, at least one.
  /// - Throws: ``LarderError`` of code `usage`, for a malformed key or a key of fewer than 24 bytes; the error does not
  ///   repeat the text.
  package static func parse(_ text: String) throws(LarderError) -> [WebhookSecret] {
    var secrets: [WebhookSecret] = []
    for (index, word) in text.split(whereSeparator: \.isWhitespace).enumerated() {
      guard word.hasPrefix("whsec_"),
        let bytes = Data(base64Encoded: String(word.dropFirst("whsec_".count))), !bytes.isEmpty
      else {
        throw LarderError(
          .usage,
          "cannot sign: secret \(index + 1) is not whsec_ followed by base64; copy all of it"
        )
      }
      guard bytes.count >= leastBytes else {
        throw LarderError(
          .usage,
          "cannot sign: secret \(index + 1) has fewer than \(leastBytes) bytes, which can be guessed; "
            + "make a longer one with: echo whsec_$(head -c 32 /dev/urandom | base64)"
        )
      }
      secrets.append(WebhookSecret(key: SymmetricKey(data: bytes)))
    }
    guard !secrets.isEmpty else {
      throw LarderError(
        .usage,
        "cannot sign: the secret is empty",
        remedy: .secret
      )
    }
    return secrets
  }

  /// The value of `webhook-signature` for one key: `v1,` and the HMAC-SHA256 in base64.
  ///
  /// - Parameters:
  ///   - id: The value of `webhook-id`.
  ///   - timestamp: The value of `webhook-timestamp`, seconds since 1970.
  ///   - body: The bytes of the body.
  /// - Returns: The signature.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
    return "v1," + Data(code).base64EncodedString()
  }
}

/// The state of a webhook, which the outbox stores for all senders.
package struct WebhookState: Hashable, Sendable {
  /// The reason why the webhook no longer accepts messages; nil if it accepts them.
  package var stopped: String?
  /// The time at which the webhook was stopped.
  package var stoppedAt: OrderTime?
  /// The time before which nothing may be sent, because of a `Retry-After`.
  package var pausedUntil: OrderTime?
  /// The time of that `Retry-After`; nil when it was not recorded.
  package var pausedAt: OrderTime?
  /// The earliest moment for the next message.
  package var nextSlot: OrderTime?

  /// Makes the state of a new webhook.
  package init() {}

  /// The pause between two messages to Slack, in milliseconds. (Slack's limit for webhooks)
  static let slackSpacing: Int64 = 1000

  /// The earliest time for the next message; nil when it may be sent at once.
  func earliest(at now: OrderTime) -> OrderTime? {
    let state = trusted(at: now)
    let latest = [state.pausedUntil, state.nextSlot].compactMap { $0 }.max()
    return latest.flatMap { $0 > now ? $0 : nil }
  }

  /// The state with all times limited relative to `now`, for a clock that was set back.
  ///
  /// A pause that begins in the future begins now, with its intended length. No time is further from `now` than its
  /// rule allows. The caller must store the result: if it were computed again each time, a time would move on with
  /// `now` and never be reached.
  func trusted(at now: OrderTime) -> WebhookState {
    let longest = DeliveryPlan.longestRetryAfter * 1000
    var state = self
    if let until = pausedUntil {
      let begun = min(pausedAt ?? now, now)
      let meant = pausedAt.map { min(max(until - $0, 0), longest) }
      state.pausedUntil = meant.map { begun + $0 } ?? min(until, now + longest)
      if state.pausedUntil != until { state.pausedAt = begun }
    }
    state.nextSlot = nextSlot.map { min($0, now + Self.slackSpacing) }
    return state
  }

  /// The state after a message was sent at `now`.
  func spaced(_ payload: PayloadKind, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    state.nextSlot = payload == .slack ? now + Self.slackSpacing : nil
    return state
  }

  /// The state after an attempt.
  func after(_ outcome: AttemptOutcome, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    switch outcome {
    case .stopped(let reason):
      state.stopped = reason
      state.stoppedAt = now
    case .failed(let failure) where failure.pausesWebhook:
      let seconds = min(max(failure.retryAfter ?? 0, 0), DeliveryPlan.longestRetryAfter)
      let until = now + seconds * 1000
      guard until > state.pausedUntil ?? now else { break }
      state.pausedUntil = until
      state.pausedAt = now
    default:
      break
    }
    return state
  }
}
