import Base
import FoundationEssentials
import Hashing
import Transport

/// The format of the messages to a webhook.
package enum PayloadKind: String, Sendable, CaseIterable {
  /// The format of Slack's incoming webhooks.
  case slack
  /// The JSON format of Standard Webhooks 1.0.
  case json

  /// The default policy for a message that may have arrived.
  ///
  /// A message to Slack is not sent again, because people would see it twice. A JSON message is sent again, because a
  /// program can ignore a message whose id it knows.
  package var defaultPolicy: AmbiguityPolicy { self == .slack ? .hold : .resend }
}

/// A webhook: the URL that messages are sent to, and their format.
///
/// The URL is a secret, and is never printed. Texts for the user contain ``host`` instead, and the outbox stores
/// ``digest`` instead.
package struct Webhook: Sendable {
  /// The URL.
  ///
  /// It must not be printed.
  let url: WebURL
  /// The format of the messages.
  package let payload: PayloadKind
  /// The keys with which messages are signed.
  ///
  /// It is empty if the user wants no signatures. Slack needs none, because its URL is secret.
  let secrets: [WebhookSecret]

  /// Makes a webhook from the URL in a file or in an environment variable.
  ///
  /// - Parameters:
  ///   - text: The URL. It can have white space around it.
  ///   - payload: The format of the messages.
  ///   - secrets: The keys with which messages are signed.
  ///   - parser: A parser for the URL.
  /// - Throws: ``LarderError`` with the code `usage`. The message does not contain the URL.
  package init(
    _ text: String,
    payload: PayloadKind,
    secrets: [WebhookSecret] = [],
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
    // The parser accepts two URLs with a line break between them, because it percent-encodes the line break.
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
  }

  /// The host of the URL, with the port if it is not the default port of the scheme.
  package var host: String { url.shownHost }

  /// The SHA-256 of the URL as 64 hexadecimal digits.
  ///
  /// It identifies the webhook in the outbox.
  var digest: String {
    Hexadecimal.text(SHA256.digest(of: Array(((url.userInfo ?? "") + "@" + url.text).utf8)))
  }
}

/// A key with which messages are signed. (Standard Webhooks 1.0, "Symmetric")
package struct WebhookSecret: Sendable {
  private let key: [UInt8]

  /// The minimum length of a key in bytes. (Standard Webhooks 1.0, "Signature scheme")
  private static let leastBytes = 24

  /// Parses the keys in a file or in an environment variable.
  ///
  /// Each key is `whsec_` followed by base64. A message is signed with all keys. So a webhook can change its key while
  /// larder knows both the old and the new one.
  ///
  /// - Parameter text: One or more keys, separated by white space.
  /// - Returns: The keys. There is at least one.
  /// - Throws: ``LarderError`` with the code `usage` if a key is malformed or too short. The message does not contain
  ///   the key.
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
      secrets.append(WebhookSecret(key: Array(bytes)))
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

  /// The signature of a message for the field `webhook-signature`.
  ///
  /// It is `v1,` and the HMAC-SHA256 in base64.
  ///
  /// - Parameters:
  ///   - id: The value of the field `webhook-id`.
  ///   - timestamp: The value of the field `webhook-timestamp`, in seconds since 1970.
  ///   - body: The body of the request.
  /// - Returns: The signature.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = SHA256.code(of: signed, key: key)
    return "v1," + Data(code).base64EncodedString()
  }
}

/// The state of a webhook.
///
/// It is stored in the outbox, so all processes that send messages share it.
package struct WebhookState: Hashable, Sendable, Decodable {
  /// The reason for which the webhook no longer accepts messages, for example `http-404`.
  ///
  /// Nil if it accepts them.
  package var stopped: String?
  /// The time until which no message is sent, because the webhook sent `Retry-After`.
  package var pausedUntil: OrderTime?
  /// The time at which this `Retry-After` was received.
  ///
  /// Nil if the time is not known.
  package var pausedAt: OrderTime?
  /// The earliest time of the next message, because messages to Slack need pauses between them.
  package var nextSlot: OrderTime?

  /// Makes the state of a new webhook.
  package init() {}

  /// The pause between two messages to Slack in milliseconds.
  ///
  /// Slack allows one message per second.
  static let slackSpacing: Int64 = 1000

  /// The earliest time of the next message; nil if the message can be sent at once.
  func earliest(at now: OrderTime) -> OrderTime? {
    let state = trusted(at: now)
    let latest = [state.pausedUntil, state.nextSlot].compactMap { $0 }.max()
    return latest.flatMap { $0 > now ? $0 : nil }
  }

  /// A copy in which all times are plausible, even if the clock was set back since they were stored.
  ///
  /// If a pause starts in the future, it starts now instead, and has the same length. No pause is longer than allowed.
  ///
  /// The caller must store the result. If it were computed again each time, a pause would never end, because it would
  /// start again each time.
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

  /// The state after an attempt has started at `now`.
  func spaced(_ payload: PayloadKind, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    state.nextSlot = payload == .slack ? now + Self.slackSpacing : nil
    return state
  }

  /// The state after an attempt has ended with the given outcome.
  func after(_ outcome: AttemptOutcome, at now: OrderTime) -> WebhookState {
    var state = trusted(at: now)
    switch outcome {
    case .stopped(let reason):
      state.stopped = reason
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
