import Base
import Crypto
import FoundationEssentials
import Transport

/// How a message is written for its receiver.
package enum PayloadKind: String, Sendable, CaseIterable {
  /// Slack's incoming webhooks.
  case slack
  /// JSON by Standard Webhooks 1.0.
  case json

  /// The policy for an attempt that may have arrived: people would see a repeated message, programs drop it.
  package var defaultPolicy: AmbiguityPolicy { self == .slack ? .hold : .resend }
}

/// Where messages go, and how they are written there.
///
/// The URL is a secret: it is sent to and never shown. ``host`` is the part shown to people, and
/// ``digest`` the part that the outbox stores.
package struct Webhook: Sendable {
  /// The URL; never print it.
  let url: WebURL
  /// How messages are written.
  package let payload: PayloadKind
  /// The keys that sign; none for Slack, whose URL is the key, and where the user wants none.
  let secrets: [WebhookSecret]
  /// The words of Slack's messages.
  let template: MessageTemplate

  /// Judges a URL as a secret file or the environment has it.
  ///
  /// - Parameters:
  ///   - text: the URL, with white space around it at most.
  ///   - payload: how messages are written.
  ///   - secrets: the keys that sign.
  ///   - template: the words of Slack's messages.
  ///   - parser: how URLs are read.
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
    // The parser would encode a line break, and post to a URL made of two lines of a file.
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1 else {
      throw LarderError(.usage, "cannot use the webhook's URL: there is more than one; keep one")
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

  /// The host, and its port where that is not the scheme's own.
  package var host: String {
    url.port == url.scheme.defaultPort ? url.host : url.hostPort.description
  }

  /// The outbox's key of the webhook: SHA-256 of the URL, 64 hexadecimal digits.
  var digest: String {
    Hexadecimal.text(SHA256.hash(data: Array(((url.userInfo ?? "") + "@" + url.text).utf8)))
  }
}

/// A key that signs messages. (Standard Webhooks 1.0, "Symmetric")
package struct WebhookSecret: Sendable {
  private let key: SymmetricKey

  /// The least length of a key. (Standard Webhooks 1.0, "Signature scheme": 24 to 64 bytes)
  private static let leastBytes = 24

  /// Reads keys as a file or the environment has them: `whsec_` and base64, white space between.
  ///
  /// - Parameter text: one key or several; all of them sign, so that a receiver can change over.
  /// - Returns: The keys, at least one.
  /// - Throws: ``LarderError`` of code `usage`, which repeats nothing of the text; also for a key of fewer than 24 bytes.
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
  ///   - id: the value of `webhook-id`.
  ///   - timestamp: the value of `webhook-timestamp`, seconds since 1970.
  ///   - body: the body's bytes.
  /// - Returns: The signature.
  package func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
    let signed = Array("\(id).\(timestamp).".utf8) + body
    let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
    return "v1," + Data(code).base64EncodedString()
  }
}

/// The stored state of a webhook between runs, shared by all senders.
package struct WebhookState: Hashable, Sendable {
  /// Why it takes nothing any more; nil while it does.
  package var stopped: String?
  /// When it was stopped.
  package var stoppedAt: OrderTime?
  /// It asked to be left alone until then.
  package var pausedUntil: OrderTime?
  /// When it asked so; nil when that was not kept.
  package var pausedAt: OrderTime?
  /// The earliest moment for the next message.
  package var nextSlot: OrderTime?

  /// A webhook without a stored state.
  package init() {}

  /// The distance between two messages to Slack, in milliseconds. (Slack's limit for webhooks)
  static let slackSpacing: Int64 = 1000

  /// When a message may leave, seen from `now`; nil when at once.
  func earliest(at now: OrderTime) -> OrderTime? {
    let state = trusted(at: now)
    let latest = [state.pausedUntil, state.nextSlot].compactMap { $0 }.max()
    return latest.flatMap { $0 > now ? $0 : nil }
  }

  /// The state with every moment brought within reach of `now`, for a clock that went back.
  ///
  /// A pause that begins in the future begins now and lasts as long as it was meant to. No moment lies
  /// further ahead than its rule ever sets it. The caller must store a result that it acts on:
  /// computed again with every look, a moment would move on with `now` and never come.
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

  /// The state once a message left at `now`.
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
