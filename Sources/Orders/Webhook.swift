import Crypto
import Transport

/// How a message is written for its receiver.
package enum PayloadKind: String, Sendable, CaseIterable {
  /// Slack's incoming webhooks.
  case slack
  /// JSON by Standard Webhooks 1.0.
  case json

  /// What to do after an attempt that may have arrived: people would see a repeated message, programs drop it.
  package var defaultPolicy: AmbiguityPolicy { self == .slack ? .hold : .resend }
}

/// Where messages go, and how they are written there.
///
/// The URL is a secret: it is sent to and never shown. ``host`` is what people see of it, and
/// ``digest`` what the outbox keeps.
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
  /// - Throws: ``OrdersError`` of code `usage`, which does not repeat the URL.
  package init(
    _ text: String,
    payload: PayloadKind,
    secrets: [WebhookSecret] = [],
    template: MessageTemplate = .standard,
    parser: any URLParsing
  ) throws(OrdersError) {
    let parsed: WebURL
    do {
      parsed = try parser.parse(text, relativeTo: nil)
    } catch {
      throw OrdersError(
        .usage,
        "cannot use the webhook's URL: it is no https URL; it must be alone in its file or variable"
      )
    }
    // The parser would encode it, and post to what two lines of a file make together.
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1 else {
      throw OrdersError(.usage, "cannot use the webhook's URL: there is more than one; keep one")
    }
    guard parsed.scheme == .https || parsed.isLoopback else {
      throw OrdersError(
        .usage,
        "cannot use the webhook's URL: http would show it to the network; give one with https"
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

  /// What the outbox knows the webhook by: SHA-256 of the URL, 64 hexadecimal digits.
  var digest: String {
    Hexadecimal.text(SHA256.hash(data: Array(((url.userInfo ?? "") + "@" + url.text).utf8)))
  }
}
