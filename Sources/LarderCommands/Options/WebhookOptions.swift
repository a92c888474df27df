import ArgumentParser
import CurlTransport
import Orders

/// The webhook options of every command that sends orders or notices.
struct WebhookOptions: ParsableArguments {
  @Option(
    path: "Read the webhook's URL from this file (default: the variable LARDER_WEBHOOK_URL).",
    value: "file"
  )
  var webhookUrlFile: String?

  @Option(
    "Send messages for Slack, or as signed JSON (default: LARDER_WEBHOOK_PAYLOAD, else slack).",
    value: "slack|json"
  )
  var payload: PayloadKind?

  @Option(
    "Hold or resend an order that may have arrived (default: hold for slack, resend for json).",
    value: "hold|resend"
  )
  var onAmbiguous: AmbiguityPolicy?

  @Option(
    path: "Read the signing secrets, whsec_…, from this file (default: LARDER_WEBHOOK_SECRET).",
    value: "file"
  )
  var webhookSecretFile: String?

  @Flag(help: "Send JSON without a signature.")
  var unsigned = false

  @Option("Give up if no answer comes within this time. (default: 30s)", value: "time")
  var timeout = DurationArgument(seconds: 30)

  @Option("Wait this long for orders that are not due yet. (default: 10s)", value: "time")
  var wait = DurationArgument(seconds: 10)

  @OptionGroup var route: RouteOptions

  /// The webhook that the options describe, or else the environment variables.
  ///
  /// - Throws: A usage error when no webhook is given, or when a secret is needed and not given.
  func webhook() throws -> Webhook {
    guard
      let url = try FileReading.secret(
        in: webhookUrlFile,
        "webhook URL file",
        content: "the URL",
        or: "LARDER_WEBHOOK_URL"
      )
    else {
      throw CommandFailure(
        "cannot send: there is no webhook; put its URL into a file for --webhook-url-file, or into "
          + "LARDER_WEBHOOK_URL"
      )
    }
    let named = OutboxOptions.variable("LARDER_WEBHOOK_PAYLOAD") ?? "slack"
    guard let kind = payload ?? PayloadKind(rawValue: named) else {
      throw CommandFailure("cannot send: LARDER_WEBHOOK_PAYLOAD is slack or json")
    }
    return try Webhook(
      url,
      payload: kind,
      secrets: kind == .json ? secrets() : [],
      parser: CurlURLParser()
    )
  }

  private func secrets() throws -> [WebhookSecret] {
    if unsigned { return [] }
    guard
      let text = try FileReading.secret(
        in: webhookSecretFile,
        "secret file",
        content: "the secret",
        or: "LARDER_WEBHOOK_SECRET"
      )
    else {
      throw CommandFailure(
        "cannot send: there is no secret to sign with; put whsec_… into a file for "
          + "--webhook-secret-file or into LARDER_WEBHOOK_SECRET, or give --unsigned"
      )
    }
    return try WebhookSecret.parse(text)
  }
}

extension PayloadKind: ExpressibleByArgument {}
extension AmbiguityPolicy: ExpressibleByArgument {}
extension OrderState: ExpressibleByArgument {}
extension Delivery.State: ExpressibleByArgument {}
