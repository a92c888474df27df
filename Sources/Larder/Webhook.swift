import Base
import CurlTransport
import Orders

/// A receiver of orders: a Slack webhook, or a server that accepts JSON.
///
/// The URL is a secret, so no message and no report contains it.
public struct Webhook: Sendable {
  let inner: Orders.Webhook
  /// Whether a message is sent again under the same id if it is unknown whether the message arrived.
  ///
  /// If false, the message is held until you decide.
  public var resendsAmbiguous: Bool

  /// A Slack incoming webhook.
  ///
  /// If it is unknown whether a message arrived, it is held until you decide.
  ///
  /// - Parameter url: The URL of the webhook. It must be https, or http to this machine.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`. Its message does not repeat the URL.
  public static func slack(_ url: String) throws(LarderError) -> Webhook {
    let inner = try LarderError.translating {
      try Orders.Webhook(url, payload: .slack, parser: CurlURLParser())
    }
    return Webhook(inner: inner, resendsAmbiguous: false)
  }

  /// A receiver of JSON messages, as in Standard Webhooks 1.0.
  ///
  /// If it is unknown whether a message arrived, it is sent again with the same id.
  ///
  /// - Parameters:
  ///   - url: The URL of the receiver. It must be https, or http to this machine.
  ///   - secrets: The secrets, such as `whsec_…`, separated by white space. Every secret signs every message. With nil,
  ///     messages are not signed.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`. Its message does not repeat the URL or a secret.
  public static func json(_ url: String, secrets: String?) throws(LarderError) -> Webhook {
    let inner = try LarderError.translating {
      try Orders.Webhook(
        url,
        payload: .json,
        secrets: try secrets.map { try WebhookSecret.parse($0) } ?? [],
        parser: CurlURLParser()
      )
    }
    return Webhook(inner: inner, resendsAmbiguous: true)
  }
}
