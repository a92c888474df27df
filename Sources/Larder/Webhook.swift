import Base
import CurlTransport
import Orders

/// A receiver of orders: a Slack webhook, or a server that accepts JSON.
///
/// The URL is a secret: no message or report contains it.
public struct Webhook: Sendable {
  let inner: Orders.Webhook
  /// Whether a message that may have arrived is sent again under the same id, instead of being held until you decide.
  public var resendsAmbiguous: Bool

  /// A Slack incoming webhook; a message that may have arrived is held until you decide.
  ///
  /// - Parameters:
  ///   - url: The webhook's URL, https or loopback.
  ///   - template: The text, with `{by}`, `{total}`, `{what}` and others in it, for example `{by}
  ///     – {total} – {what}`, which is the default.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`; its message does not repeat the URL.
  public static func slack(_ url: String, template: String? = nil) throws(LarderError) -> Webhook {
    let inner = try LarderError.translating {
      try Orders.Webhook(
        url,
        payload: .slack,
        template: try template.map { try MessageTemplate($0) } ?? .standard,
        parser: CurlURLParser()
      )
    }
    return Webhook(inner: inner, resendsAmbiguous: false)
  }

  /// A receiver of JSON messages as in Standard Webhooks 1.0; a message that may have arrived is sent again with the
  /// same id.
  ///
  /// - Parameters:
  ///   - url: The receiver's URL, https or loopback.
  ///   - secrets: `whsec_…` secrets, separated by white space. Every secret signs every message; nil sends unsigned
  ///     messages.
  /// - Returns: The webhook.
  /// - Throws: ``LarderError`` with the code `argument`; its message repeats neither URL nor secret.
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
